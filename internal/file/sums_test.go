package file

import (
	"testing"

	"github.com/placectl/placectl/internal/row"
	"pgregory.net/rapid"
)

// TestSums: whatever a transaction puts and removes, in whatever order, the table's stored sum
// is that of its rows.
func TestSums(t *testing.T) {
	t.Parallel()
	f := newFile(t)
	rapid.Check(t, func(t *rapid.T) {
		err := f.Update(func(r *Recorder) (bool, error) {
			next := uint64(0)
			for range rapid.IntRange(1, 300).Draw(t, "changes") {
				key := row.Key64(next)
				next++
				if rapid.IntRange(0, 3).Draw(t, "elsewhere") == 0 {
					next = rapid.Uint64Range(0, 400).Draw(t, "key")
				}
				if rapid.IntRange(0, 4).Draw(t, "remove") == 0 {
					if err := r.Remove(row.Jobs, key); err != nil {
						return false, err
					}
					continue
				}
				payload := []byte{1, byte(rapid.IntRange(0, 3).Draw(t, "value"))}
				if err := r.Put(row.Jobs, key, payload); err != nil {
					return false, err
				}
			}
			sum, err := r.checkTable(row.Jobs, func(_ row.Table, format string, args ...any) {})
			if kept := r.sums.Tables[row.Jobs]; err == nil && sum != kept {
				t.Fatalf("the sum of the rows is %v, that kept %v", sum, kept)
			}
			return true, err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
