package launch

import (
	"os"
	"slices"
	"strings"

	"github.com/placectl/placectl/internal/environ"
)

// A program that the site names gets the variables that describe the system and the user, and ours.
// It does not get the rest of our environment, which may contain secrets. A job's command that runs
// here is the caller's own, and gets everything.

// passed are the variables that are passed on besides those that describe the user.
var passed = []string{"TMPDIR", "SSH_AUTH_SOCK", "KRB5CCNAME"}

// environment returns the part of our environment that is passed on.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !environ.IsUsers(name) && !slices.Contains(passed, name) && !strings.HasPrefix(name, "PLACECTL_")
	})
}
