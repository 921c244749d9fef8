package file

import (
	"testing"

	"github.com/placectl/placectl/store/internal/row"
)

// TestLastOfNone: a transaction that has removed every row of a table of many pages finds
// no last one, and goes on.
func TestLastOfNone(t *testing.T) {
	t.Parallel()
	const rows = 2000
	for name, look := range map[string]func(r *Recorder) error{
		"last": func(r *Recorder) error {
			if key := r.Last(row.Jobs); key != nil {
				t.Errorf("the last row of none is %x", key)
			}
			return nil
		},
		"before": func(r *Recorder) error {
			key, _, err := r.Before(row.Jobs, row.Key64(rows))
			if key != nil {
				t.Errorf("the row before is %x", key)
			}
			return err
		},
		"put": func(r *Recorder) error { return r.Put(row.Jobs, row.Key64(7), []byte{1}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFile(t)
			stamp(t, f, rows, 1)
			if err := f.Update(func(r *Recorder) (bool, error) {
				for i := range uint64(rows) {
					if err := r.Remove(row.Jobs, row.Key64(i)); err != nil {
						return false, err
					}
				}
				return true, look(r)
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}
