// Package environ names the variables of an environment that have a meaning of their own, each in
// one list.
package environ

import (
	"slices"
	"strings"
)

// users are the variables that describe a user, which hardly any program runs without.
var users = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ"}

// PBSOrigin are the variables of the submitting process that a job of PBS finds with PBS_O_ before
// their names, in the order in which OpenPBS lists them.
var PBSOrigin = []string{"HOME", "LANG", "LOGNAME", "PATH", "MAIL", "SHELL", "TZ"}

// IsUsers reports whether a variable describes a user. Those of LC_ do, too.
func IsUsers(name string) bool { return slices.Contains(users, name) || strings.HasPrefix(name, "LC_") }

// Users returns the variables of an environment that describe a user.
func Users(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !IsUsers(name)
	})
}
