package engine

import (
	"testing"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// TestIdentity: files that are made separately have their own ids; a new epoch does not change
// the id.
func TestIdentity(t *testing.T) {
	identity := func(db *DB) (id row.Identity) {
		t.Helper()
		err := db.file.View(func(r *file.Recorder) error {
			i, err := r.Identity()
			id = *i
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	one, _ := newDB(t)
	two, _ := newDB(t)
	a, b := identity(one), identity(two)
	if a.ID == b.ID || a.Epoch == b.Epoch || a.Epoch == 0 || a.ID == [16]byte{} || len(a.String()) != 32 {
		t.Errorf("%v %v", a, b)
	}
	if err := one.file.Update(func(r *file.Recorder) (bool, error) { return true, r.DrawEpoch() }); err != nil {
		t.Fatal(err)
	}
	if now := identity(one); now.ID != a.ID || now.Epoch == a.Epoch || now.Epoch == 0 {
		t.Errorf("%v, and it was %v", now, a)
	}
}
