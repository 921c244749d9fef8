package directives

import (
	"fmt"
	"github.com/placectl/placectl/internal/outname"
	"strings"
)

// slurmFile maps an option to a flag whose value is the name of a file.
func slurmFile(flag string) func(*reader, string) error {
	return func(r *reader, v string) error {
		pattern, err := slurmPattern(v)
		if err != nil {
			return err
		}
		return to(flag)(r, pattern)
	}
}

// slurmPattern translates the % of a name into ours: %j job, %A array, %a index, %x name, %u user, %N
// first node, %%. Numbers may have a width (%5j). %J is the job and its step, so for a script the job.
// %s, %t and %n identify steps and tasks, and are the same for every script.
func slurmPattern(v string) (string, error) {
	return outname.Replace(v, func(width string, c byte) (string, error) {
		switch {
		case c == 0:
			return "", fmt.Errorf("%q ends with a %%: write %%%% for the character", v)
		case c == 'J':
			return "%" + width + "j", nil
		case strings.IndexByte("jAa", c) >= 0:
			return "%" + width + string(c), nil
		case strings.IndexByte("xuN", c) >= 0: // these are no numbers: sbatch ignores their width
			return "%" + string(c), nil
		case c == '%' && width == "":
			return "%%", nil
		case c == 's' && width == "":
			return "batch", nil
		case c == 't' || c == 'n':
			return outname.Padded("0", width, 10), nil
		}
		return "", fmt.Errorf("%%%s in %q: there are %%j %%A %%a %%x %%u %%N and %%%%", width+string(c), v)
	})
}
