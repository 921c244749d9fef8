package launch

import (
	"os"
	"slices"
	"strings"
)

// A program that a site has named gets the variables that say where things are and who
// is at work, and ours: what else is in our environment, secrets among it, is not its
// business. The command of a job that runs here is the caller's own, and gets all.

// passed are the names of the variables that are handed on, and the beginnings of names.
var (
	passed     = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "SSH_AUTH_SOCK", "KRB5CCNAME"}
	passedFrom = []string{"LC_", "PLACECTL_"}
)

// environment is what is handed on of ours.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains(passed, name) && !slices.ContainsFunc(passedFrom, func(p string) bool { return strings.HasPrefix(name, p) })
	})
}
