package users

import (
	"errors"
	"fmt"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
)

// Right is a level of permission.
type Right int

// The rights. The zero value grants nothing.
const (
	Anybody   Right = 1 + iota // each user, as far as it is about that user's own jobs and batches
	Operators                  // operators and the owner
	Owners                     // the owner and root
)

// Roles gives access to the roles of users in a database.
type Roles struct{ tx *kernel.Tx }

// RolesOf returns the roles in a transaction's database.
func RolesOf(tx *kernel.Tx) Roles { return Roles{tx} }

// Each calls fn for the users with a role, by name, until fn fails.
func (rs Roles) Each(fn func(user, role string) error) error { return EachRole(rs.tx.File, fn) }

// Add gives a user a role.
func (rs Roles) Add(user, role string) error {
	if err := rs.MayChange(Owners, "roles"); err != nil {
		return err
	}
	return AddRole(rs.tx.File, user, role)
}

// Remove takes a role from a user. It fails with ErrNotFound if the user has none.
func (rs Roles) Remove(user string) error {
	if err := rs.MayChange(Owners, "roles"); err != nil {
		return err
	}
	return RemoveRole(rs.tx.File, user)
}

// MayChange fails in a reader, and with ErrNotPermitted if the actor lacks a right.
func (rs Roles) MayChange(right Right, what string) error {
	if !rs.tx.Writable() {
		return file.ErrReadOnly
	}
	return rs.Permit(right, what)
}

// Operates fails in a reader, and if the actor may not change what all users share.
func Operates(tx *kernel.Tx, what string) error { return RolesOf(tx).MayChange(Operators, what) }

// Permit fails with ErrNotPermitted if the actor lacks the right for the action what.
func (rs Roles) Permit(right Right, what string) error {
	a := rs.tx.Opt.Actor
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
		return fmt.Errorf("%w: %s: only operators may do that, not %s", kernel.ErrNotPermitted, what, a.User)
	}
	return fmt.Errorf("%w: %s: only the owner of the database may do that, not %s", kernel.ErrNotPermitted, what,
		a.User)
}

// Owner returns the uid with all rights. A database in a log has no owner.
func (rs Roles) Owner() (uid uint32, known bool, err error) {
	if rs.tx.Logged {
		return 0, false, nil
	}
	id, err := rs.tx.File.Identity()
	if err != nil {
		return 0, false, err
	}
	if id.Owner != nil {
		return *id.Owner, true, nil
	}
	_, uid, err = kernel.OnDisk(rs.tx.Path)
	return uid, err == nil, nil
}

// owner reports whether the actor has all rights. All who can reach a log have them, and so
// does the owner on disk of a file that no one else may write.
func (rs Roles) owner() (bool, error) {
	a := rs.tx.Opt.Actor
	if a == nil || a.UID == 0 || rs.tx.Logged {
		return true, nil
	}
	// the database is being made
	if shared, uid, err := kernel.OnDisk(rs.tx.Path); err != nil || !shared && uid == a.UID {
		return true, nil
	}
	uid, known, err := rs.Owner()
	return known && uid == a.UID, err
}

func (rs Roles) operator() (is bool, err error) {
	a := rs.tx.Opt.Actor
	err = rs.Each(func(user, role string) error {
		is = is || role == Operator && rs.IsActor(user)
		return nil
	})
	return is && a != nil, err
}

// IsActor reports whether a name is the actor's.
func (rs Roles) IsActor(user string) bool {
	a := rs.tx.Opt.Actor
	if a == nil || user == a.User {
		return true
	}
	uid := rs.Uid(user)
	return uid != nil && *uid == a.UID
}

// Uid returns the uid of a user, or nil if it is unknown.
func (rs Roles) Uid(user string) *uint32 {
	opt := rs.tx.Opt
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

// ownsJob reports whether a job is the actor's.
func (rs Roles) ownsJob(j *row.Job) bool {
	a := rs.tx.Opt.Actor
	if a == nil {
		return true
	}
	if j.UID != nil {
		return *j.UID == a.UID
	}
	return rs.IsActor(j.User)
}

// Mine reports whether a job is the actor's.
func (rs Roles) Mine(j *kernel.Job) bool {
	r := j.Row()
	return rs.ownsJob(&r)
}

// Owns fails with ErrNotPermitted if the actor may not change a job.
func (rs Roles) Owns(j *row.Job) error {
	if rs.ownsJob(j) {
		return nil
	}
	if is, err := rs.owner(); is || err != nil {
		return err
	}
	if is, err := rs.operator(); is || err != nil {
		return err
	}
	return fmt.Errorf("%w: job %d belongs to %s, and %s is not an operator", kernel.ErrNotPermitted, j.ID, j.User,
		rs.tx.Opt.Actor.User)
}

// Executes returns ErrNotPermitted if the actor's processes may not execute a job. If a run
// waits for the job, only its process may. Otherwise its submitter may, or if that is unknown,
// its user or the owner of the database. Only root may act for others.
func (rs Roles) Executes(j *row.Job) error {
	a := rs.tx.Opt.Actor
	if a == nil || a.UID == 0 {
		return nil
	}
	p, err := rs.tx.Payloads().Of(j)
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
	return fmt.Errorf("%w: job %d is executed by its submitter's processes, and %s is another user",
		kernel.ErrNotPermitted, j.ID, a.User)
}

// Sees reports whether the actor may see a job's script and environment. Its submitter, its
// user and the owner of the database may.
func (rs Roles) Sees(j *kernel.Job) (bool, error) {
	r := j.Row()
	return rs.SeesRow(&r)
}

func (rs Roles) SeesRow(j *row.Job) (bool, error) {
	if rs.ownsJob(j) {
		return true, nil
	}
	if is, err := rs.owner(); is || err != nil {
		return is, err
	}
	err := rs.Executes(j)
	if errors.Is(err, kernel.ErrNotPermitted) {
		return false, nil
	}
	return err == nil, err
}

// OwnsBatch fails with ErrNotPermitted if the actor may not work in a batch.
func (rs Roles) OwnsBatch(name string) error {
	a := rs.tx.Opt.Actor
	if a == nil {
		return nil
	}
	b, err := rs.tx.Batches().Find(name)
	if err != nil || b.UID != nil && *b.UID == a.UID {
		return err
	}
	return rs.Permit(Operators, "the batch "+name+" of another user")
}

// Asks fails with ErrNotPermitted for a request that the actor may not make: for another user,
// over limits, for a group that the actor is not in, or for a queue, class or account of
// others.
func (rs Roles) Asks(r placer.Request) error {
	if a := rs.tx.Opt.Actor; a != nil {
		what := ""
		switch {
		case r.OverLimits:
			what = "to go over limits"
		case !rs.IsActor(r.User):
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

// Package sharing stores permissions, accounts and preemption rules. This file decides who may
// change them, and what follows for jobs.

// allowed fails with ErrNotPermitted if a request names a queue, class or account that its
// user may not ask for.
func (rs Roles) allowed(r placer.Request) error {
	var queue []string
	if r.Queue != "" {
		q, err := rs.tx.Queue(r.Queue)
		if err != nil {
			return err
		}
		queue = q.Allow
	}
	not, err := Allowed(rs.tx.File, r, queue, rs.tx.Shares)
	if err == nil && not != "" {
		err = fmt.Errorf("%w: %s", kernel.ErrNotPermitted, not)
	}
	return err
}
