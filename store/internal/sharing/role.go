package sharing

import (
	"fmt"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// Operator is the role of those who may do what the owner of the file may.
const Operator = "operator"

// EachRole goes through the users who have a role, by name, until fn fails.
func EachRole(rows *file.Recorder, fn func(user, role string) error) error {
	return rows.Each(row.Roles, nil, func(key, payload []byte) (bool, error) {
		return true, fn(string(key), row.DecodeText(payload))
	})
}

// AddRole gives a user a role.
func AddRole(rows *file.Recorder, user, role string) error {
	if err := limits.ValidName(user); err != nil || user == limits.Each {
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

// Allowed says what of a request's queue, class or account is not for its user, "" if all
// of it is. queue is who may ask for the queue, where anybody may not. What an account says
// holds for those below it that say nothing.
func Allowed(rows *file.Recorder, r placer.Request, queue []string, shares func() (*fairshare.Settings, error)) (not string, err error) {
	lets := func(what, name string, allow []string) string {
		for _, one := range allow {
			if one == "user:"+r.User || one == "group:"+r.Group {
				return ""
			}
		}
		if len(allow) == 0 {
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
		a, err := row.DecodeAccount([]byte(name), payload)
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
