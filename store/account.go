package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/store/internal/row"
)

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
const MaxShares = 1 << 31

// Accounts are the accounts of the cluster in a transaction. A job may name one that is not
// among them: then it is one without a parent, in which nobody has shares.
type Accounts struct{ tx *Tx }

// Accounts are the accounts that somebody has set.
func (tx *Tx) Accounts() Accounts { return Accounts{tx} }

// Each goes through the accounts by name, until fn fails.
func (as Accounts) Each(fn func(Account) error) error {
	return as.tx.file.Each(row.Accounts, nil, func(key, payload []byte) (bool, error) {
		a, err := row.DecodeAccount(key, payload)
		if err == nil {
			err = fn(Account(*a))
		}
		return true, err
	})
}

// Get finds an account, ErrNotFound where there is none.
func (as Accounts) Get(name string) (Account, error) {
	payload, err := as.tx.file.Get(row.Accounts, []byte(name))
	if err != nil {
		return Account{}, err
	}
	if payload == nil {
		var names []string
		err := as.Each(func(a Account) error { names = append(names, a.Name); return nil })
		if err == nil {
			err = fmt.Errorf("no account %q%s: %w", name, index.DidYouMean(name, names), ErrNotFound)
		}
		return Account{}, err
	}
	a, err := row.DecodeAccount([]byte(name), payload)
	if err != nil {
		return Account{}, err
	}
	return Account(*a), nil
}

// Set makes an account, or changes it. It fails with ErrNotFound where there is no such
// parent, and ErrInvalid.
func (as Accounts) Set(a Account) error {
	if !as.tx.Writable() {
		return ErrReadOnly
	}
	if err := RolesOf(as.tx).Operates("accounts"); err != nil {
		return err
	}
	if err := limits.ValidName(a.Name); err != nil || a.Name == limits.Each {
		return fmt.Errorf("%w account name %q: use letters, digits and signs, no blanks, commas or quotes", ErrInvalid, a.Name)
	}
	if err := as.valid(&a); err != nil {
		return err
	}
	for up := a.Parent; up != ""; {
		parent, err := as.Get(up)
		if err != nil {
			return err
		}
		if up == a.Name {
			return fmt.Errorf("%w: account %s would be part of itself, by %s", ErrInvalid, a.Name, a.Parent)
		}
		up = parent.Parent
	}
	r := row.Account(a)
	if err := as.tx.file.Put(row.Accounts, []byte(a.Name), row.EncodeAccount(&r)); err != nil {
		return err
	}
	return as.tx.counters().recountedFor(limits.Account)
}

// valid verifies what is said of an account, and brings it into its order.
func (as Accounts) valid(a *Account) error {
	shares := func(who string, n int64) error {
		if n < 0 || n > MaxShares {
			return fmt.Errorf("%w: %d shares of %s; it must be from 0 to %d", ErrInvalid, n, who, int64(MaxShares))
		}
		return nil
	}
	if err := shares("account "+a.Name, a.Shares); err != nil {
		return err
	}
	a.Members = slices.Clone(a.Members)
	slices.SortFunc(a.Members, func(x, y AccountMember) int { return strings.Compare(x.User, y.User) })
	for i, m := range a.Members {
		if err := shares("member "+m.User, m.Shares); err != nil {
			return err
		}
		if err := limits.ValidName(m.User); err != nil || m.User == limits.Each {
			return fmt.Errorf("%w: member %q of account %s is no user's name", ErrInvalid, m.User, a.Name)
		}
		if i > 0 && a.Members[i-1].User == m.User {
			return fmt.Errorf("%w: member %s of account %s is named twice", ErrInvalid, m.User, a.Name)
		}
	}
	return validAllow(&a.Allow)
}

// Remove forgets an account. It fails with a Conflict that says who needs it: an account that
// is part of it, or a job that has not ended.
func (as Accounts) Remove(name string) error {
	if !as.tx.Writable() {
		return ErrReadOnly
	}
	if err := RolesOf(as.tx).Operates("accounts"); err != nil {
		return err
	}
	if _, err := as.Get(name); err != nil {
		return err
	}
	err := as.Each(func(a Account) error {
		if a.Parent == name {
			return &Conflict{"account " + name, "account " + a.Name + " is part of it"}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = as.tx.eachJob(func(j *row.Job) error {
		if j.Account == name {
			return &Conflict{"account " + name, fmt.Sprintf("job %d is for it, %s", j.ID, j.State)}
		}
		return nil
	}, JobRunning, JobReserved, JobQueued, JobHeld)
	if err != nil {
		return err
	}
	if err := as.tx.file.Remove(row.Accounts, []byte(name)); err != nil {
		return err
	}
	return as.tx.counters().recountedFor(limits.Account)
}

// validAllow verifies who may ask for something: users and groups, as user:ann. It brings
// them into their order.
func validAllow(list *[]string) error {
	var out []string
	for _, text := range *list {
		kind, name, _ := strings.Cut(text, ":")
		if err := limits.ValidName(name); err != nil || kind != "user" && kind != "group" || name == limits.Each {
			return fmt.Errorf("%w: %q is nobody who could be allowed: write user:NAME or group:NAME", ErrInvalid, text)
		}
		out = append(out, text)
	}
	slices.Sort(out)
	*list = slices.Compact(out)
	return nil
}
