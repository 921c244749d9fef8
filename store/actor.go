package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/sharing"
)

// Rights compare uids: names are for people, and two machines may give one name to two users. The
// owner is a row of the file, written when it is made, and root counts as the owner. The owner of
// the file on disk matters only while no group and no others may write it. On a file that a group
// may write, rights prevent mistakes, not malice: another program can write anything into it.

// Actor makes transactions, and may do no more than its role allows.
type Actor struct {
	UID        uint32                  // the real one; events keep it
	User       string                  // its name
	Member     func(group string) bool // reports whether it is in a group; nil: it is in none
	Namespaced bool                    // it is in a user namespace, whose maker chose the uid
}

// Right is who may do something.
type Right int

// The rights. The zero value grants nothing.
const (
	Anybody   Right = 1 + iota // each user, as far as it is about that user's own jobs and batches
	Operators                  // operators and the owner
	Owners                     // the owner and root
)

// Operator is the role of users who may change what all users share.
const Operator = sharing.Operator

// Roles gives access to the roles of users in a database.
type Roles struct{ tx *Tx }

// RolesOf are the roles of a transaction's database.
func RolesOf(tx *Tx) Roles { return Roles{tx} }

// Each calls fn for the users with a role, by name, until fn fails.
func (rs Roles) Each(fn func(user, role string) error) error { return sharing.EachRole(rs.tx.file, fn) }

// Add gives a user a role.
func (rs Roles) Add(user, role string) error {
	if err := rs.mayChange(Owners, "roles"); err != nil {
		return err
	}
	return sharing.AddRole(rs.tx.file, user, role)
}

// Remove takes a role from a user. It fails with ErrNotFound if the user has none.
func (rs Roles) Remove(user string) error {
	if err := rs.mayChange(Owners, "roles"); err != nil {
		return err
	}
	return sharing.RemoveRole(rs.tx.file, user)
}

// mayChange fails in a reader, and with ErrNotPermitted if the actor lacks a right.
func (rs Roles) mayChange(right Right, what string) error {
	if !rs.tx.Writable() {
		return ErrReadOnly
	}
	return rs.Permit(right, what)
}

// operates fails in a reader, and if the actor may not change what all users share.
func (tx *Tx) operates(what string) error { return RolesOf(tx).mayChange(Operators, what) }

// Permit fails with ErrNotPermitted if the actor lacks a right, which what takes.
func (rs Roles) Permit(right Right, what string) error {
	a := rs.tx.opt.Actor
	if right == Anybody || a == nil {
		return nil
	}
	if is, err := rs.owner(); is || err != nil {
		return err
	}
	if right == Operators {
		if is, err := rs.operator(); is || err != nil {
			return err
		}
		return fmt.Errorf("%w: %s: that is for operators, and %s is none", ErrNotPermitted, what, a.User)
	}
	return fmt.Errorf("%w: %s: that is for the owner of the database, and %s is not", ErrNotPermitted, what, a.User)
}

// Owner is the uid with all rights. A database in a log has no owner.
func (rs Roles) Owner() (uid uint32, known bool, err error) {
	if rs.tx.logged {
		return 0, false, nil
	}
	id, err := rs.tx.file.Identity()
	if err != nil {
		return 0, false, err
	}
	if id.Owner != nil {
		return *id.Owner, true, nil
	}
	_, uid, err = onDisk(rs.tx.path)
	return uid, err == nil, nil
}

// owner reports whether the actor has all rights. Everyone who can reach a log has, and so has the
// owner on disk of a file that no one else may write.
func (rs Roles) owner() (bool, error) {
	a := rs.tx.opt.Actor
	if a == nil || a.UID == 0 || rs.tx.logged {
		return true, nil
	}
	if shared, uid, err := onDisk(rs.tx.path); err != nil || !shared && uid == a.UID { // it is being made
		return true, nil
	}
	uid, known, err := rs.Owner()
	return known && uid == a.UID, err
}

func (rs Roles) operator() (is bool, err error) {
	a := rs.tx.opt.Actor
	err = rs.Each(func(user, role string) error {
		is = is || role == Operator && rs.isActor(user)
		return nil
	})
	return is && a != nil, err
}

// isActor reports whether a name is the actor's.
func (rs Roles) isActor(user string) bool {
	a := rs.tx.opt.Actor
	if a == nil || user == a.User {
		return true
	}
	uid := rs.uid(user)
	return uid != nil && *uid == a.UID
}

// uid is that of a user, nil if it is unknown.
func (rs Roles) uid(user string) *uint32 {
	opt := rs.tx.opt
	if a := opt.Actor; a != nil && user == a.User && user != "" {
		return &a.UID
	}
	if opt.UIDOf == nil {
		return nil
	}
	uid, ok := opt.UIDOf(user)
	if !ok {
		return nil
	}
	return &uid
}

// onDisk reports whether a group or others may write a file, and whose it is.
func onDisk(path string) (shared bool, uid uint32, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return false, 0, err
	}
	is, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false, 0, errors.ErrUnsupported
	}
	return info.Mode().Perm()&0o022 != 0, is.Uid, nil
}

// mayOpen refuses an actor in a user namespace a file that a group or others may write: the
// uid may be anybody's.
func (a *Actor) mayOpen(path string) error {
	if a == nil || !a.Namespaced || IsLog(path) {
		return nil
	}
	if shared, _, err := onDisk(path); err != nil || !shared {
		return nil
	}
	return fmt.Errorf("%w: %s is shared, and from a user namespace (unshare, a rootless container) placectl cannot tell which user is asking: run it outside", ErrNotPermitted, path)
}

// Permit fails with ErrNotPermitted if the actor of opt lacks a right to a database, by its
// name. If the file is damaged, the owner on disk counts as its owner; a file that is missing
// permits everything.
func Permit(path string, opt *Options, right Right, what string) error {
	a := opt.Actor
	if right == Anybody || a == nil || IsLog(path) {
		return nil
	}
	shared, uid, err := onDisk(path)
	if errors.Is(err, fs.ErrNotExist) || a.UID == 0 && !a.Namespaced || err == nil && !shared && uid == a.UID {
		return nil
	}
	db, err := Open(path, opt)
	if err != nil {
		return permittedOnDisk(path, a, what, err)
	}
	return errors.Join(db.permit(right, what), db.Close())
}

// permit is Permit of an open database.
func (db *DB) permit(right Right, what string) error {
	a := db.opt.Actor
	if a == nil || db.log != nil {
		return nil
	}
	err := db.View(func(tx *Tx) error { return RolesOf(tx).Permit(right, what) })
	if err == nil || errors.Is(err, ErrNotPermitted) {
		return err
	}
	return permittedOnDisk(db.Path(), a, what, err)
}

// permittedOnDisk goes by the owner on disk of a database that cannot be read.
func permittedOnDisk(path string, a *Actor, what string, why error) error {
	if errors.Is(why, ErrNotPermitted) || errors.Is(why, ErrLocked) {
		return why
	}
	if _, uid, err := onDisk(path); err == nil && (a.UID == 0 || a.UID == uid) {
		return nil
	}
	return fmt.Errorf("%w: %s: that is for the owner of the database, which cannot be read: %w", ErrNotPermitted, what, why)
}

// ownsJob reports whether a job is the actor's.
func (rs Roles) ownsJob(j *row.Job) bool {
	a := rs.tx.opt.Actor
	if a == nil {
		return true
	}
	if j.UID != nil {
		return *j.UID == a.UID
	}
	return rs.isActor(j.User)
}

// Mine reports whether a job is the actor's.
func (rs Roles) Mine(j *Job) bool {
	r := j.row()
	return rs.ownsJob(&r)
}

// owns fails with ErrNotPermitted if the actor may not change a job.
func (rs Roles) owns(j *row.Job) error {
	if rs.ownsJob(j) {
		return nil
	}
	if is, err := rs.owner(); is || err != nil {
		return err
	}
	if is, err := rs.operator(); is || err != nil {
		return err
	}
	return fmt.Errorf("%w: job %d is %s's, and %s is no operator", ErrNotPermitted, j.ID, j.User, rs.tx.opt.Actor.User)
}

// executes returns ErrNotPermitted if the actor's processes may not execute a job. The job's
// waiting run may, else its submitter, else its user or the owner of the database. Only root may
// act for others.
func (rs Roles) executes(j *row.Job) error {
	a := rs.tx.opt.Actor
	if a == nil || a.UID == 0 {
		return nil
	}
	p, err := rs.tx.payloads().of(j)
	if err != nil {
		return err
	}
	switch {
	case j.Attendant != nil:
		if j.Attendant.UID == a.UID {
			return nil
		}
	case p != nil && p.Owner != nil:
		if p.Owner.UID == a.UID {
			return nil
		}
	default:
		if is, err := rs.owner(); err != nil || is || rs.ownsJob(j) {
			return err
		}
	}
	return fmt.Errorf("%w: job %d is executed by processes of its submitter, and %s is another user", ErrNotPermitted, j.ID, a.User)
}

// Sees reports whether the actor may see a job's script and environment: its submitter, its user
// and the owner of the database may.
func (rs Roles) Sees(j *Job) (bool, error) {
	r := j.row()
	return rs.sees(&r)
}

func (rs Roles) sees(j *row.Job) (bool, error) {
	if rs.ownsJob(j) {
		return true, nil
	}
	if is, err := rs.owner(); is || err != nil {
		return is, err
	}
	err := rs.executes(j)
	if errors.Is(err, ErrNotPermitted) {
		return false, nil
	}
	return err == nil, err
}

// ownsBatch fails with ErrNotPermitted if the actor may not work in a batch.
func (rs Roles) ownsBatch(name string) error {
	a := rs.tx.opt.Actor
	if a == nil {
		return nil
	}
	b, err := rs.tx.batches().Find(name)
	if err != nil || b.UID != nil && *b.UID == a.UID {
		return err
	}
	return rs.Permit(Operators, "the batch "+name+" of another user")
}

// asks fails with ErrNotPermitted for a request that the actor may not make: for another user,
// over limits, in a group that the actor is not in, or of a queue, class or account that is for
// others.
func (rs Roles) asks(r placer.Request) error {
	if a := rs.tx.opt.Actor; a != nil {
		what := ""
		switch {
		case r.OverLimits:
			what = "to go over limits"
		case !rs.isActor(r.User):
			what = "a job of " + r.User
		case r.Group != "" && (a.Member == nil || !a.Member(r.Group)):
			what = "group " + r.Group + ", and " + a.User + " is not a member"
		}
		if what != "" {
			if err := rs.Permit(Operators, what); err != nil {
				return err
			}
		}
	}
	return rs.allowed(r)
}
