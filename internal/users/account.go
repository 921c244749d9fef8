package users

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/subject"
)

// MaxShares is the most shares that an account or a member can have.
const MaxShares = 1 << 31

// EachAccount calls fn for the accounts by name, until fn fails.
func EachAccount(rows *file.Recorder, fn func(*row.Account) error) error {
	return rows.Each(row.Accounts, nil, func(key, payload []byte) (bool, error) {
		a, err := row.AccountRow.Decode(key, payload)
		if err == nil {
			err = fn(a)
		}
		return true, err
	})
}

// Account returns an account, or row.ErrNotFound.
func Account(rows *file.Recorder, name string) (*row.Account, error) {
	payload, err := rows.Get(row.Accounts, []byte(name))
	if err != nil {
		return nil, err
	}
	if payload == nil {
		var names []string
		err := EachAccount(rows, func(a *row.Account) error { names = append(names, a.Name); return nil })
		if err == nil {
			err = fmt.Errorf("no account %q%s: %w", name, index.DidYouMean(name, names), row.ErrNotFound)
		}
		return nil, err
	}
	return row.AccountRow.Decode([]byte(name), payload)
}

// SetAccount creates or changes an account, and sorts its lists. It fails with row.ErrNotFound
// if the parent does not exist, and with row.ErrInvalid.
func SetAccount(rows *file.Recorder, a *row.Account) error {
	if subject.ValidName(a.Name) != nil {
		return fmt.Errorf("%w account name %q: use letters, digits and signs, no blanks, commas or quotes",
			row.ErrInvalid, a.Name)
	}
	if err := validAccount(a); err != nil {
		return err
	}
	for up := a.Parent; up != ""; {
		parent, err := Account(rows, up)
		if err != nil {
			return err
		}
		if up == a.Name {
			return fmt.Errorf("%w: account %s would be part of itself, by %s", row.ErrInvalid, a.Name, a.Parent)
		}
		up = parent.Parent
	}
	return rows.Put(row.Accounts, []byte(a.Name), row.AccountRow.Encode(a))
}

// validAccount verifies an account, and sorts its lists.
func validAccount(a *row.Account) error {
	shares := func(who string, n int64) error {
		if n < 0 || n > MaxShares {
			return fmt.Errorf("%w: %d shares of %s; it must be from 0 to %d", row.ErrInvalid, n, who, int64(MaxShares))
		}
		return nil
	}
	if err := shares("account "+a.Name, a.Shares); err != nil {
		return err
	}
	a.Members = slices.Clone(a.Members)
	slices.SortFunc(a.Members, func(x, y row.AccountMember) int { return strings.Compare(x.User, y.User) })
	for i, m := range a.Members {
		if err := shares("member "+m.User, m.Shares); err != nil {
			return err
		}
		if subject.ValidName(m.User) != nil {
			return fmt.Errorf("%w: member %q of account %s is not a user name", row.ErrInvalid, m.User, a.Name)
		}
		if i > 0 && a.Members[i-1].User == m.User {
			return fmt.Errorf("%w: member %s of account %s is named twice", row.ErrInvalid, m.User, a.Name)
		}
	}
	return ValidAllow(&a.Allow)
}

// RemoveAccount deletes an account that no job names. It fails with a row.Conflict while another
// account is part of it.
func RemoveAccount(rows *file.Recorder, name string) error {
	err := EachAccount(rows, func(a *row.Account) error {
		if a.Parent == name {
			return row.Clash("account "+name, "account "+a.Name+" is part of it")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return rows.Remove(row.Accounts, []byte(name))
}

// ValidAllow verifies a list of permitted users and groups, such as user=ann, and sorts it.
func ValidAllow(list *[]string) error {
	var out []string
	for _, text := range *list {
		s, err := subject.People.Parse(text)
		if err != nil {
			return fmt.Errorf("%w: %w", row.ErrInvalid, err)
		}
		out = append(out, s.String())
	}
	slices.Sort(out)
	*list = slices.Compact(out)
	return nil
}
