package store

import (
	"fmt"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/sharing"
)

// Permissions, accounts and preemption rules: package sharing stores them. This file decides who
// may change them, and what follows for jobs.

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
	not, err := sharing.Allowed(rs.tx.file, r, queue, rs.tx.Shares)
	if err == nil && not != "" {
		err = fmt.Errorf("%w: %s", ErrNotPermitted, not)
	}
	return err
}

// Account pays for jobs, or stands for a project. Accounts form trees.
type Account struct {
	Name    string
	Parent  string // the account that it is part of, "" for none
	Shares  int64  // of what its parent has, against those of its siblings
	Members []AccountMember
	Allow   []string // its permitted users, as user:ann or group:lab; empty: all
}

// AccountMember is a user of an account, with shares against those of the other members.
type AccountMember = row.AccountMember

// MaxShares is the most shares that an account or a member has.
const MaxShares = sharing.MaxShares

// Accounts gives access to the accounts of the cluster in a transaction. A job may name an account
// that is not among them: it then has no parent and no shares.
type Accounts struct{ tx *Tx }

// Accounts returns the accounts that were set.
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

// Set makes an account, or changes it. It fails with ErrNotFound if there is no such
// parent, and ErrInvalid.
func (as Accounts) Set(a Account) error {
	if err := as.tx.operates("accounts"); err != nil {
		return err
	}
	r := row.Account(a)
	if err := sharing.SetAccount(as.tx.file, &r); err != nil {
		return err
	}
	return as.tx.counters().recountedFor(limits.Account)
}

// Remove deletes an account. It fails with a Conflict naming a part of it, or a job that has not
// ended, that needs it.
func (as Accounts) Remove(name string) error {
	if err := as.tx.operates("accounts"); err != nil {
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

// Get finds a rule by its text. It fails with ErrNotFound if the rule is not set.
func (ps Preemption) Get(text string) (*preempt.Rule, error) { return sharing.Rule(ps.tx.file, text) }

// Set makes a rule, or replaces the one of the same text. It fails with ErrInvalid if
// the rules would lead in a circle.
func (ps Preemption) Set(r *preempt.Rule) error {
	if err := ps.tx.operates("rules of preemption"); err != nil {
		return err
	}
	return sharing.SetRule(ps.tx.file, r, maxWalltime)
}

// Remove forgets a rule. It fails with ErrNotFound if there is none.
func (ps Preemption) Remove(text string) error {
	if err := ps.tx.operates("rules of preemption"); err != nil {
		return err
	}
	r, err := ps.Get(text)
	if err != nil {
		return err
	}
	return ps.tx.file.Remove(row.Preempts, []byte(r.String()))
}
