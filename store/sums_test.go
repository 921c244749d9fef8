package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// TestIdentity: files that are made separately have their own ids; a new epoch does not change
// the id; files of older formats get both when they are migrated.
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
	content, err := os.ReadFile(filepath.Join("..", "testdata", "db", "v3.db"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "old.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	old, err := Open(path, &Options{Now: (&clock{t: 1_000_500}).now})
	if err != nil {
		t.Fatal(err)
	}
	if id := identity(old); id != (row.Identity{}) {
		t.Errorf("format 3 has %v", id)
	}
	if err := old.Update(func(tx *Tx) error { return tx.Config().Set("default_walltime", "60") }); err != nil {
		t.Fatal(err)
	}
	if id := identity(old); id.ID == [16]byte{} || id.Epoch == 0 || id.AnyTime {
		t.Errorf("a migrated file has %v", id)
	}
}

// TestMigrationOverDamage: a file of an older format is not migrated if one of its rows does
// not match its checksum.
func TestMigrationOverDamage(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("..", "testdata", "db", "v3.db"))
	if err != nil {
		t.Fatal(err)
	}
	bad := []byte(strings.ReplaceAll(string(content), "course", "coursf"))
	if string(bad) == string(content) {
		t.Fatal("the file knows no course")
	}
	path := filepath.Join(t.TempDir(), "old.db")
	if err := os.WriteFile(path, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := Open(path, &Options{Now: (&clock{t: 1_000_500}).now})
	if err == nil {
		err = db.Update(func(tx *Tx) error { return tx.Config().Set("default_walltime", "60") })
	}
	if err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Error(err)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(bad) {
		t.Errorf("the file was changed: %v", err)
	}
}
