package store

import (
	"fmt"
	"os"
	"syscall"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/sharing"
)

// Who may do what, who pays, and who makes way for whom: what is kept of that is package
// sharing's; here is who may change it, and what follows for jobs.

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
const Operator = sharing.Operator

// Roles are who may do what in a database.
type Roles struct{ tx *Tx }

// RolesOf are the roles of a transaction's database.
func RolesOf(tx *Tx) Roles { return Roles{tx} }

// Each goes through the users who have a role, by name, until fn fails.
func (rs Roles) Each(fn func(user, role string) error) error { return sharing.EachRole(rs.tx.file, fn) }

// Add gives a user a role.
func (rs Roles) Add(user, role string) error {
	if err := rs.mayChange("roles"); err != nil {
		return err
	}
	return sharing.AddRole(rs.tx.file, user, role)
}

// Remove takes a role from a user. It fails with ErrNotFound where the user has none.
func (rs Roles) Remove(user string) error {
	if err := rs.mayChange("roles"); err != nil {
		return err
	}
	return sharing.RemoveRole(rs.tx.file, user)
}

// mayChange fails in a reader, and for who is neither an operator nor the owner.
func (rs Roles) mayChange(what string) error {
	if !rs.tx.Writable() {
		return ErrReadOnly
	}
	return rs.Operates(what)
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
	return sharing.IsOperator(rs.tx.file, a.User)
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
	not, err := sharing.Allowed(rs.tx.file, r, queue, rs.tx.Shares)
	if err == nil && not != "" {
		err = fmt.Errorf("%w: %s", ErrNotPermitted, not)
	}
	return err
}

// Account is an account: who pays for jobs, or owns a project. Accounts make trees.
type Account struct {
	Name    string
	Parent  string // the account that it is part of, "" for none
	Shares  int64  // of what its parent has, against those of its siblings
	Members []AccountMember
	Allow   []string // who may ask for it, as user:ann or group:lab; empty: anybody
}

// AccountMember is a user of an account, and how much of what the account has is hers,
// against the shares of the other members.
type AccountMember = row.AccountMember

// MaxShares is the most shares that an account or a member has.
const MaxShares = sharing.MaxShares

// Accounts are the accounts of the cluster in a transaction. A job may name one that is not
// among them: then it is one without a parent, in which nobody has shares.
type Accounts struct{ tx *Tx }

// Accounts are the accounts that somebody has set.
func (tx *Tx) Accounts() Accounts { return Accounts{tx} }

// Each goes through the accounts by name, until fn fails.
func (as Accounts) Each(fn func(Account) error) error {
	return sharing.EachAccount(as.tx.file, func(a *row.Account) error { return fn(Account(*a)) })
}

// Get finds an account, ErrNotFound where there is none.
func (as Accounts) Get(name string) (Account, error) {
	a, err := sharing.Account(as.tx.file, name)
	if err != nil {
		return Account{}, err
	}
	return Account(*a), nil
}

// Set makes an account, or changes it. It fails with ErrNotFound where there is no such
// parent, and ErrInvalid.
func (as Accounts) Set(a Account) error {
	if err := RolesOf(as.tx).mayChange("accounts"); err != nil {
		return err
	}
	r := row.Account(a)
	if err := sharing.SetAccount(as.tx.file, &r); err != nil {
		return err
	}
	return as.tx.counters().recountedFor(limits.Account)
}

// Remove forgets an account. It fails with a Conflict that says who needs it: an account that
// is part of it, or a job that has not ended.
func (as Accounts) Remove(name string) error {
	if err := RolesOf(as.tx).mayChange("accounts"); err != nil {
		return err
	}
	if _, err := as.Get(name); err != nil {
		return err
	}
	err := as.tx.eachJob(func(j *row.Job) error {
		if j.Account == name {
			return row.Clash("account "+name, fmt.Sprintf("job %d is for it, %s", j.ID, j.State))
		}
		return nil
	}, JobRunning, JobReserved, JobQueued, JobHeld)
	if err == nil {
		err = sharing.RemoveAccount(as.tx.file, name)
	}
	if err != nil {
		return err
	}
	return as.tx.counters().recountedFor(limits.Account)
}

// Preemption is the rules in a transaction by which jobs make way for others. Cycles carry
// them out: see Tx.Cycle.
type Preemption struct{ tx *Tx }

// Preemption is the rules about whose jobs make way for whose.
func (tx *Tx) Preemption() Preemption { return Preemption{tx} }

// Each goes through the rules in the order of their texts, until fn fails.
func (ps Preemption) Each(fn func(*preempt.Rule) error) error {
	return sharing.EachRule(ps.tx.file, fn)
}

// Get finds a rule by its text, ErrNotFound where nobody has set it.
func (ps Preemption) Get(text string) (*preempt.Rule, error) { return sharing.Rule(ps.tx.file, text) }

// Set makes a rule, or replaces the one of the same text. It fails with ErrInvalid where
// the rules would lead in a circle.
func (ps Preemption) Set(r *preempt.Rule) error {
	if err := RolesOf(ps.tx).mayChange("rules of preemption"); err != nil {
		return err
	}
	return sharing.SetRule(ps.tx.file, r, maxWalltime)
}

// Remove forgets a rule. It fails with ErrNotFound where there is none.
func (ps Preemption) Remove(text string) error {
	if err := RolesOf(ps.tx).mayChange("rules of preemption"); err != nil {
		return err
	}
	r, err := ps.Get(text)
	if err != nil {
		return err
	}
	return ps.tx.file.Remove(row.Preempts, []byte(r.String()))
}
