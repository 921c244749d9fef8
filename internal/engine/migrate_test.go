package engine

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// TestMigration makes up a format 12, which has a table that format 11 lacks and keeps a setting in other words. A
// dump of format 11 becomes a file with what the original has. One that cannot be changed is left as it was, and a
// program of format 11 refuses files of format 12.
func TestMigration(t *testing.T) {
	db, clock := lively(t)
	clock.t = 1_000_500
	if err := db.Update(func(tx *Tx) error { return tx.Config().Set("default_walltime", "3600") }); err != nil {
		t.Fatal(err)
	}
	dump := dumpOf(t, db)
	old := filepath.Join(t.TempDir(), "old.db")
	if _, err := db.Backup(old, nil); err != nil {
		t.Fatal(err)
	}
	opt := &Options{Now: clock.now}

	failed := errors.New("no")
	change := func(r *file.Recorder) error {
		return r.Put(row.Config, []byte("default_walltime"), row.EncodeText("7200"))
	}
	file.Newest = row.Format + 1
	t.Cleanup(func() {
		file.Newest = row.Format
		clear(file.Migrations)
		clear(file.Introduced)
	})

	file.Migrations[row.Format] = func(r *file.Recorder) error { return errors.Join(change(r), failed) }
	was, err := os.ReadFile(old)
	if err != nil {
		t.Fatal(err)
	}
	cut, err := Open(old, opt)
	if err == nil {
		err = cut.Update(func(tx *Tx) error { return tx.Config().Set("keep_jobs", "5d") })
	}
	now, err2 := os.ReadFile(old)
	if !errors.Is(err, failed) || err2 != nil || !bytes.Equal(was, now) {
		t.Errorf("a migration that fails: %v, %v; the file is the same: %v", err, err2, bytes.Equal(was, now))
	}

	file.Migrations[row.Format], file.Introduced[row.Format+1] = change, []row.Table{row.Lots, row.PastRuns}
	path := filepath.Join(t.TempDir(), "new.db")
	if _, err := Load(path, strings.NewReader(dump), &LoadOptions{Options: *opt}); err != nil {
		t.Fatal(err)
	}
	loaded, err := Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	if list := findings(t, loaded); len(list) > 0 {
		t.Errorf("after the migration: %q", list)
	}
	want := strings.Replace(dump, `"key":"default_walltime","row":"3600"`, `"key":"default_walltime","row":"7200"`, 1)
	if diff := cmp.Diff(want, dumpOf(t, loaded)); want == dump || diff != "" {
		t.Errorf("(-original +migrated)\n%s", diff)
	}
	file.Newest = row.Format
	later, err := Open(path, opt)
	if err == nil {
		err = later.View(func(*Tx) error { return nil })
	}
	if !errors.Is(err, ErrNewer) {
		t.Errorf("a file of a later format: %v", err)
	}
}

// TestUnreleasedFormats: files and dumps from before the first release are refused by the number of their format.
func TestUnreleasedFormats(t *testing.T) {
	db, _ := newDB(t)
	for _, format := range []uint32{1, 9, 10, 10 | 25<<16} {
		err := db.file.Update(func(r *file.Recorder) (bool, error) {
			return true, r.PutStored(row.Meta, row.KeyFormat, row.EncodeFormat(format))
		})
		if want := row.FormatName(format); !errors.Is(err, ErrNotOurs) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	dump := `{"placectl":"dump","format":10}` + "\n" + `{"rows":0}` + "\n"
	_, err := Load(filepath.Join(t.TempDir(), "new.db"), strings.NewReader(dump), nil)
	if !errors.Is(err, ErrNotOurs) || !strings.Contains(err.Error(), "format 10") {
		t.Errorf("a dump: %v", err)
	}
}

// dumpOf is a dump of a database.
func dumpOf(t *testing.T, db *DB) string {
	t.Helper()
	var dump strings.Builder
	if _, err := db.Dump(&dump, nil); err != nil {
		t.Fatal(err)
	}
	return dump.String()
}
