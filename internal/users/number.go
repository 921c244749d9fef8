package users

import (
	"fmt"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/subject"
)

// Rows reads rows of the file.
type Rows interface {
	Each(t row.Table, prefix []byte, fn func(key, payload []byte) (more bool, err error)) error
}

// Number is a number set for a user, group, account, class or queue. The terms USER, GROUP,
// ACCOUNT, CLASS and QUEUE of job_priority read it.
type Number struct {
	subject.Subject
	Number int64
}

// EachNumber calls fn for the numbers by subject, until fn fails.
func EachNumber(rows Rows, fn func(Number) error) error {
	return rows.Each(row.Numbers, nil, func(key, payload []byte) (bool, error) {
		n, err := row.NumberRow.Decode(key, payload)
		if err != nil {
			return false, err
		}
		s, err := subject.Shared.Parse(string(key))
		if err != nil {
			return false, fmt.Errorf("%w: number of %q", row.ErrDamaged, key)
		}
		return true, fn(Number{s, *n})
	})
}

// SetNumber sets a number, from -most to most. The default is 0.
func SetNumber(rows *file.Recorder, n Number, most int64) error {
	if _, err := subject.Shared.Parse(n.Subject.String()); err != nil {
		return fmt.Errorf("%w: a priority: %w", row.ErrInvalid, err)
	}
	if n.Number < -most || n.Number > most {
		return fmt.Errorf("%w: a priority of %d; it must be from %d to %d", row.ErrInvalid, n.Number, -most, most)
	}
	key := row.NumberKey(n.Subject)
	if n.Number == 0 {
		return rows.Remove(row.Numbers, key)
	}
	return rows.Put(row.Numbers, key, row.NumberRow.Encode(&n.Number))
}
