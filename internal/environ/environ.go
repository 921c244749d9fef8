// Package environ names the variables of an environment that have a meaning of their own, each in
// one list.
package environ

import (
	"cmp"
	"slices"
	"strings"
)

// users are the variables that describe a user, which hardly any program runs without.
var users = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ"}

// ofAccount are those of them that the directory of users knows, or that have a default.
var ofAccount = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL"}

// DefaultPath is the PATH of processes and jobs that have none.
const DefaultPath = "/usr/local/bin:/usr/bin:/bin"

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

// Account returns the variables that describe a user in the directory of users: those of which it knows
// nothing are left out.
func Account(name, home, shell string) []string {
	env := []string{"PATH=" + DefaultPath, "SHELL=" + cmp.Or(shell, "/bin/sh")}
	if home != "" {
		env = append(env, "HOME="+home)
	}
	if name != "" {
		env = append(env, "USER="+name, "LOGNAME="+name)
	}
	return env
}

// Missing returns the variables of an account that an environment has none of. It asks for the account
// only if one is missing, because directory services are slow.
func Missing(environ []string, account func() []string) []string {
	lacks := func(name string) bool {
		return !slices.ContainsFunc(environ, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	}
	if !slices.ContainsFunc(ofAccount, lacks) {
		return nil
	}
	return slices.DeleteFunc(account(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !lacks(name)
	})
}
