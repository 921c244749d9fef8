package store

import (
	"fmt"
	"os"
	"syscall"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/store/internal/row"
)

// Actor is who makes transactions. What somebody may do follows from the real uid: the owner of
// the file, and root, may do everything; an operator, too; all others change their own jobs.
// On a file that its group may write this stops mistakes, not malice.
type Actor struct {
	UID  uint32 // it is written down with each event
	User string // the name of that uid, whose jobs are its own
	// Pass says that a pass over the queue is made, or attempts are executed: whoever does that
	// ends jobs of others, too.
	Pass bool
}

// Operator is the role of those who may do what the owner of the file may.
const Operator = "operator"

// Roles are who may do what in a database.
type Roles struct{ tx *Tx }

// RolesOf are the roles of a transaction's database.
func RolesOf(tx *Tx) Roles { return Roles{tx} }

// Each goes through the users who have a role, by name, until fn fails.
func (rs Roles) Each(fn func(user, role string) error) error {
	return rs.tx.file.Each(row.Roles, nil, func(key, payload []byte) (bool, error) {
		return true, fn(string(key), row.DecodeText(payload))
	})
}

// Add gives a user a role.
func (rs Roles) Add(user, role string) error {
	if !rs.tx.Writable() {
		return ErrReadOnly
	}
	if err := limits.ValidName(user); err != nil || user == limits.Each {
		return fmt.Errorf("%w: %q is no user's name", ErrInvalid, user)
	}
	if role != Operator {
		return fmt.Errorf("%w: no role %q: the only one to be given is %s", ErrInvalid, role, Operator)
	}
	if err := rs.Operates("roles"); err != nil {
		return err
	}
	return rs.tx.file.Put(row.Roles, []byte(user), row.EncodeText(role))
}

// Remove takes a role from a user. It fails with ErrNotFound where the user has none.
func (rs Roles) Remove(user string) error {
	if !rs.tx.Writable() {
		return ErrReadOnly
	}
	if err := rs.Operates("roles"); err != nil {
		return err
	}
	payload, err := rs.tx.file.Get(row.Roles, []byte(user))
	if err != nil {
		return err
	}
	if payload == nil {
		return row.Missing("user with a role", user)
	}
	return rs.tx.file.Remove(row.Roles, []byte(user))
}

// Operates fails with ErrNotPermitted where who makes the transaction is neither an operator nor
// the owner; what is that it takes one.
func (rs Roles) Operates(what string) error {
	is, err := rs.operator()
	if is || err != nil {
		return err
	}
	return fmt.Errorf("%w: %s: that is for operators, and %s is none", ErrNotPermitted, what, rs.tx.db.opt.Actor.User)
}

func (rs Roles) operator() (bool, error) {
	a := rs.tx.db.opt.Actor
	if a == nil || a.UID == 0 || rs.tx.db.ownedBy(a.UID) {
		return true, nil
	}
	payload, err := rs.tx.file.Get(row.Roles, []byte(a.User))
	return payload != nil && row.DecodeText(payload) == Operator, err
}

// ownedBy reports whether a file is a user's. What is kept in a log is nobody's: whoever reaches
// the log may do everything.
func (db *DB) ownedBy(uid uint32) bool {
	if db.log != nil {
		return true
	}
	info, err := os.Stat(db.Path())
	if err != nil { // it is being made
		return true
	}
	is, ok := info.Sys().(*syscall.Stat_t)
	return !ok || is.Uid == uid
}

// owns fails with ErrNotPermitted where who makes the transaction may not change a job.
func (rs Roles) owns(j *row.Job) error {
	a := rs.tx.db.opt.Actor
	if a == nil || a.Pass || j.User == a.User {
		return nil
	}
	is, err := rs.operator()
	if is || err != nil {
		return err
	}
	return fmt.Errorf("%w: job %d is %s's, and %s is no operator", ErrNotPermitted, j.ID, j.User, a.User)
}

// asks fails with ErrNotPermitted for a request that who makes the transaction may not make: for
// somebody else, over limits, or of a queue, class or account that not everybody may ask for.
func (rs Roles) asks(r placer.Request) error {
	if a := rs.tx.db.opt.Actor; a != nil && (r.User != a.User || r.OverLimits) {
		what := "a job of " + r.User
		if r.OverLimits {
			what = "to go over limits"
		}
		if err := rs.Operates(what); err != nil {
			return err
		}
	}
	return rs.allowed(r)
}

// allowed fails with ErrNotPermitted where a request names a queue, class or account that its
// user may not ask for. What an account says holds for those below it that say nothing.
func (rs Roles) allowed(r placer.Request) error {
	lets := func(what, name string, allow []string) error {
		for _, one := range allow {
			if one == "user:"+r.User || one == "group:"+r.Group {
				return nil
			}
		}
		if len(allow) == 0 {
			return nil
		}
		return fmt.Errorf("%w: %s %s is not for %s: it is for %v", ErrNotPermitted, what, name, r.User, allow)
	}
	if r.Queue != "" {
		q, err := rs.tx.Queue(r.Queue)
		if err == nil {
			err = lets("queue", q.Name, q.Allow)
		}
		if err != nil {
			return err
		}
	}
	if r.Class != "" {
		s, err := rs.tx.Shares()
		if err != nil {
			return err
		}
		if err := lets("class", r.Class, s.Allowed(r.Class)); err != nil {
			return err
		}
	}
	for name := r.Account; name != ""; {
		payload, err := rs.tx.file.Get(row.Accounts, []byte(name))
		if payload == nil || err != nil {
			return err
		}
		a, err := row.DecodeAccount([]byte(name), payload)
		if err != nil {
			return err
		}
		if len(a.Allow) > 0 {
			return lets("account", name, a.Allow)
		}
		name = a.Parent
	}
	return nil
}
