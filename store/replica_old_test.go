package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/replica"
	"github.com/placectl/placectl/store/internal/row"
)

// firstLog is the oldest format that is tried. There have been logs since format 8; files of
// earlier formats stand for what is upgraded from now on.
const firstLog = 5

// TestOldLog: a log of every format that can be in one is read as it is, takes nothing until
// it is upgraded, and is then what a file of that format becomes: for who was there before,
// for who catches up, and for who comes anew.
func TestOldLog(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "testdata", "db", "v*.db"))
	if err != nil || len(files) < Format {
		t.Fatalf("%d files for %d formats: %v", len(files), Format, err)
	}
	for _, path := range files {
		name, format := strings.TrimSuffix(filepath.Base(path), ".db"), 0
		if _, err := fmt.Sscanf(name, "v%d", &format); err != nil {
			t.Fatal(err)
		}
		if format < firstLog {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			oldLog(t, path, format == Format)
		})
	}
}

func oldLog(t *testing.T, path string, newest bool) {
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Now: (&clock{t: 1_000_500}).now}
	plain := filepath.Join(t.TempDir(), "old.db")
	if err := os.WriteFile(plain, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := file.Open(plain, file.Options{LockTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	m := replica.NewMemory()
	if err := replica.Create(m, time.Minute, f); err != nil {
		t.Fatal(err)
	}
	logsMu.Lock()
	logs[t.Name()] = m
	logsMu.Unlock()
	machine := func() *DB {
		opt := opt
		opt.Replica.Folder = t.TempDir()
		db, err := Open("memory://x/"+t.Name(), &opt)
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	one, two := machine(), machine()
	change := func(tx *Tx) error { return tx.Configure("default_walltime", "3600") }
	if list := findings(t, one); len(list) > 0 {
		t.Errorf("as it is: %q", list)
	}
	if !newest {
		err := one.Update(change)
		if !errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), "placectl upgrade") {
			t.Errorf("a change before it is upgraded: %v", err)
		}
		if m.Head().N != 0 {
			t.Errorf("refused, and the log has %d entries", m.Head().N)
		}
	}
	for range 2 { // the second time there is nothing to do
		if _, err := one.Upgrade(); err != nil {
			t.Fatal(err)
		}
	}
	if n := m.Head().N; newest != (n == 0) || n > 1 {
		t.Errorf("it was upgraded by %d entries", n)
	}
	if err := two.Update(change); err != nil {
		t.Fatal(err)
	}
	db, err := Open(plain, &opt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Upgrade(); err != nil {
		t.Fatal(err)
	}
	if err := db.Update(change); err != nil {
		t.Fatal(err)
	}
	want := ofNoFile(lastingRows(t, db))
	for i, there := range []*DB{one, two, machine()} {
		if diff := cmp.Diff(want, ofNoFile(lastingRows(t, there))); diff != "" {
			t.Errorf("machine %d (-file +log)\n%s", i, diff)
		}
		if list := findings(t, there); len(list) > 0 {
			t.Errorf("machine %d: %q", i, list)
		}
	}
}

// ofNoFile leaves out who a database is: that is drawn when it is migrated.
func ofNoFile(rows map[string]string) map[string]string {
	for key := range rows {
		if strings.HasPrefix(key, row.Meta.String()+" ") {
			delete(rows, key)
		}
	}
	return rows
}
