package users

import (
	"fmt"
	"slices"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/placer/subject"
)

// Operator is the role of users who may change what all users share.
const Operator = "operator"

// EachRole calls fn for the users with a role, by name, until fn fails.
func EachRole(rows *file.Recorder, fn func(user, role string) error) error {
	return rows.Each(row.Roles, nil, func(key, payload []byte) (bool, error) {
		return true, fn(string(key), row.DecodeText(payload))
	})
}

// AddRole gives a user a role.
func AddRole(rows *file.Recorder, user, role string) error {
	if subject.ValidName(user) != nil {
		return fmt.Errorf("%w: %q is not a user name", row.ErrInvalid, user)
	}
	if role != Operator {
		return fmt.Errorf("%w: no role %q: the only role is %s", row.ErrInvalid, role, Operator)
	}
	return rows.Put(row.Roles, []byte(user), row.EncodeText(role))
}

// RemoveRole takes a role from a user. It fails with row.ErrNotFound if the user has none.
func RemoveRole(rows *file.Recorder, user string) error {
	payload, err := rows.Get(row.Roles, []byte(user))
	if err != nil {
		return err
	}
	if payload == nil {
		return row.Missing("user with a role", user)
	}
	return rows.Remove(row.Roles, []byte(user))
}

// Allowed says which of a request's queue, class and account its user may not ask for, or
// returns "". queue lists who may ask for the queue; empty means all users. An account's list
// also applies to the accounts below it that have none.
func Allowed(rows *file.Recorder, r placer.Request, queue []string, shares func() (*fairshare.Settings, error)) (
	not string, err error) {
	user := subject.User.Of(r.User).String()
	group := subject.Group.Of(r.Group).String()
	lets := func(what, name string, allow []string) string {
		if len(allow) == 0 || slices.Contains(allow, user) || slices.Contains(allow, group) {
			return ""
		}
		return fmt.Sprintf("%s %s is not for %s: it is for %v", what, name, r.User, allow)
	}
	if not := lets("queue", r.Queue, queue); not != "" {
		return not, nil
	}
	if r.Class != "" {
		s, err := shares()
		if err != nil {
			return "", err
		}
		if not := lets("class", r.Class, s.Allowed(r.Class)); not != "" {
			return not, nil
		}
	}
	for name := r.Account; name != ""; {
		payload, err := rows.Get(row.Accounts, []byte(name))
		if payload == nil || err != nil {
			return "", err
		}
		a, err := row.AccountRow.Decode([]byte(name), payload)
		if err != nil {
			return "", err
		}
		if len(a.Allow) > 0 {
			return lets("account", name, a.Allow), nil
		}
		name = a.Parent
	}
	return "", nil
}
