package cluster

import (
	"fmt"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/placer/subject"
)

// Account pays for jobs, or stands for a project. Accounts form trees.
type Account struct {
	Name    string
	Parent  string // the account that it is part of, "" for none
	Shares  int64  // of its parent's share, relative to its siblings
	Members []row.AccountMember
	Allow   []string // its permitted users, as user=ann or group=lab; empty: all
}

// Accounts gives access to the accounts of the cluster in a transaction. A job may name an account
// that is not among them: it then has no parent and no shares.
type Accounts struct{ tx *kernel.Tx }

// AccountsOf returns the accounts of a transaction.
func AccountsOf(tx *kernel.Tx) Accounts { return Accounts{tx} }

// Each calls fn for the accounts by name, until fn fails.
func (as Accounts) Each(fn func(Account) error) error {
	return users.EachAccount(as.tx.File, func(a *row.Account) error { return fn(Account(*a)) })
}

// Get returns an account, or ErrNotFound.
func (as Accounts) Get(name string) (Account, error) {
	a, err := users.Account(as.tx.File, name)
	if err != nil {
		return Account{}, err
	}
	return Account(*a), nil
}

// Set makes or changes an account. It fails with ErrNotFound if the parent does not exist, and with
// ErrInvalid.
func (as Accounts) Set(a Account) error {
	if err := users.Operates(as.tx, "accounts"); err != nil {
		return err
	}
	r := row.Account(a)
	if err := users.SetAccount(as.tx.File, &r); err != nil {
		return err
	}
	return recountedFor(as.tx, subject.Account)
}

// Remove deletes an account. It fails with a Conflict that names a part of the account, or a
// job that has not ended and needs it.
func (as Accounts) Remove(name string) error {
	if err := users.Operates(as.tx, "accounts"); err != nil {
		return err
	}
	if _, err := as.Get(name); err != nil {
		return err
	}
	err := as.tx.EachJob(func(j *row.Job) error {
		if j.Account == name {
			return row.Clash("account "+name, fmt.Sprintf("job %d is for it, %s", j.ID, j.State))
		}
		return nil
	}, row.JobRunning, row.JobReserved, row.JobQueued, row.JobHeld)
	if err == nil {
		err = users.RemoveAccount(as.tx.File, name)
	}
	if err != nil {
		return err
	}
	return recountedFor(as.tx, subject.Account)
}

// Preemption gives access to a transaction's rules for preempting jobs. Cycles apply them: see
// Cycle.Run.
type Preemption struct{ tx *kernel.Tx }

// PreemptionOf returns the preemption rules of a transaction.
func PreemptionOf(tx *kernel.Tx) Preemption { return Preemption{tx} }

// Each calls fn for the rules in the order of their texts, until fn fails.
func (ps Preemption) Each(fn func(*preempt.Rule) error) error {
	return users.EachRule(ps.tx.File, fn)
}

// Get returns a rule by its text, or ErrNotFound.
func (ps Preemption) Get(text string) (*preempt.Rule, error) { return users.Rule(ps.tx.File, text) }

// Set makes a rule, or replaces the one with the same text. It fails with ErrInvalid if the rules
// would form a circle.
func (ps Preemption) Set(r *preempt.Rule) error {
	if err := users.Operates(ps.tx, "rules of preemption"); err != nil {
		return err
	}
	return users.SetRule(ps.tx.File, r, kernel.MaxWalltime)
}

// Remove deletes a rule. It fails with ErrNotFound if there is none.
func (ps Preemption) Remove(text string) error {
	if err := users.Operates(ps.tx, "rules of preemption"); err != nil {
		return err
	}
	r, err := ps.Get(text)
	if err != nil {
		return err
	}
	return ps.tx.File.Remove(row.Preempts, []byte(r.String()))
}
