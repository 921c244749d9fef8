package sharing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// NumberKinds lists the kinds of subjects that have numbers for priorities.
var NumberKinds = []string{"user", "group", "account", "class", "queue"}

// Rows reads rows of the file.
type Rows interface {
	Each(t row.Table, prefix []byte, fn func(key, payload []byte) (more bool, err error)) error
}

// EachNumber calls fn for the numbers by kind and name, until fn fails.
func EachNumber(rows Rows, fn func(kind, name string, n int64) error) error {
	return rows.Each(row.Numbers, nil, func(key, payload []byte) (bool, error) {
		n, err := row.NumberRow.Decode(key, payload)
		if err != nil {
			return false, err
		}
		kind, name, _ := strings.Cut(string(key), ":")
		return true, fn(kind, name, *n)
	})
}

// SetNumber sets a number, from -most to most. The default is 0.
func SetNumber(rows *file.Recorder, kind, name string, n, most int64) error {
	if !slices.Contains(NumberKinds, kind) || limits.ValidName(name) != nil || name == limits.Each {
		return fmt.Errorf("%w: a priority of %q: write KIND:NAME, where the kind is user, group, account, "+
			"class or queue", row.ErrInvalid, kind+":"+name)
	}
	if n < -most || n > most {
		return fmt.Errorf("%w: a priority of %d; it must be from %d to %d", row.ErrInvalid, n, -most, most)
	}
	key := row.NumberKey(kind, name)
	if n == 0 {
		return rows.Remove(row.Numbers, key)
	}
	return rows.Put(row.Numbers, key, row.NumberRow.Encode(&n))
}
