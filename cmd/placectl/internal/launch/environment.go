package launch

import (
	"os"
	"slices"
	"strings"
)

// A program named by the site gets the variables that describe the system and the user, and ours.
// It does not get the rest of our environment, which may contain secrets. The command of a job that
// runs here is the caller's own, and gets everything.

// passed are the names of the variables that are handed on, and the beginnings of names.
var (
	passed     = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "SSH_AUTH_SOCK", "KRB5CCNAME"}
	passedFrom = []string{"LC_", "PLACECTL_"}
)

// environment is the part of our environment that is handed on.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains(passed, name) && !slices.ContainsFunc(passedFrom, func(p string) bool { return strings.HasPrefix(name, p) })
	})
}
