package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOpenedStays: a handle means the database that it was opened on, whatever the working directory becomes, and
// refuses another one under that name.
func TestOpenedStays(t *testing.T) {
	here, there := t.TempDir(), t.TempDir()
	for _, dir := range []string{here, there} {
		if err := Create(filepath.Join(dir, "a.db"), nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(here)
	for name, opt := range map[string]*Options{"nil": nil, "zero": {}} {
		db, err := Open("a.db", opt)
		if err != nil {
			t.Fatal(err)
		}
		if db.Path() != "a.db" {
			t.Errorf("%s: its name is %s, want that given", name, db.Path())
		}
		t.Chdir(there)
		submitted(t, db, 1)
		if count := jobCount(t, filepath.Join(there, "a.db")); count != 0 {
			t.Errorf("%s: %d jobs are in another database", name, count)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		t.Chdir(here)
	}
	if count := jobCount(t, "a.db"); count != 2 {
		t.Errorf("the database has %d jobs, want 2", count)
	}

	db, err := Open("a.db", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Compact(nil); err != nil {
		t.Fatal(err)
	}
	submitted(t, db, 1) // the same database in another file
	if err := os.Rename(filepath.Join(there, "a.db"), "a.db"); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"a change": db.Update(func(*Tx) error { return nil }),
		"a read": db.View(func(*Tx) error { return nil })} {
		if !errors.Is(err, ErrNoDatabase) || !strings.Contains(err.Error(), "a.db is another database now") {
			t.Errorf("%s in another database: %v, want none", what, err)
		}
	}
}

func jobCount(t *testing.T, path string) (n int) {
	t.Helper()
	db, err := Open(path, nil)
	if err == nil {
		err = errors.Join(db.View(func(tx *Tx) error {
			return tx.Jobs().Each(func(*Job) error { n++; return nil })
		}), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}
