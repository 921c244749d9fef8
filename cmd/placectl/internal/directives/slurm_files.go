package directives

import (
	"fmt"
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
	var b strings.Builder
	for i := 0; i < len(v); i++ {
		if v[i] != '%' {
			b.WriteByte(v[i])
			continue
		}
		digits := len(v[i+1:]) - len(strings.TrimLeft(v[i+1:], "0123456789"))
		width := v[i+1 : i+1+digits]
		if i += 1 + digits; i == len(v) {
			return "", fmt.Errorf("%q ends with a %%: write %%%% for the character", v)
		}
		switch c := v[i]; {
		case c == 'J':
			b.WriteString("%" + width + "j")
		case strings.IndexByte("jAa", c) >= 0:
			b.WriteString("%" + width + string(c))
		case strings.IndexByte("xuN", c) >= 0: // these are no numbers: sbatch ignores their width
			b.WriteString("%" + string(c))
		case c == '%' && width == "":
			b.WriteString("%%")
		case c == 's' && width == "":
			b.WriteString("batch")
		case c == 't' || c == 'n':
			b.WriteString(strings.Repeat("0", zeros(width)))
		default:
			return "", fmt.Errorf("%%%s in %q: there are %%j %%A %%a %%x %%u %%N and %%%%", width+string(c), v)
		}
	}
	return b.String(), nil
}

// zeros returns the number of digits of a 0 with that width. sbatch allows up to 10.
func zeros(width string) int {
	n := 0
	for _, c := range width {
		n = min(10*n+int(c-'0'), 10)
	}
	return max(n, 1)
}
