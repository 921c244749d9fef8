package store

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/store/internal/row"
)

var update = flag.Bool("update", false, "write the database file of this format, and what it holds")

// TestOldFiles opens a file of every format there has been: it must be sound and
// hold what it held.
func TestOldFiles(t *testing.T) {
	dir := filepath.Join("..", "testdata", "db")
	if *update {
		writeOldFile(t, dir)
	}
	files, err := filepath.Glob(filepath.Join(dir, "v*.db"))
	if err != nil || len(files) < Format {
		t.Fatalf("%d files for %d formats: %v", len(files), Format, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "old.db")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := Open(path, &Options{Now: (&clock{t: 1_000_500}).now})
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if list := findings(t, db); len(list) > 0 {
			t.Errorf("%s, as it is: %q", file, list)
		}
		if err := db.Update(func(tx *Tx) error { return tx.Configure("default_walltime", "3600") }); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if list := findings(t, db); len(list) > 0 {
			t.Errorf("%s: %q", file, list)
		}
		want, err := os.ReadFile(strings.TrimSuffix(file, ".db") + ".dump")
		if err != nil {
			t.Fatal(err)
		}
		then, now := string(want), dumpAll(t, db)
		if !strings.HasSuffix(file, fmt.Sprintf("v%d.db", Format)) {
			then, now = rowsOnly(then), rowsOnly(now) // what is derived may be derived otherwise by now
		}
		if diff := cmp.Diff(then, now); diff != "" {
			t.Errorf("%s (-then +now)\n%s", file, diff)
		}
	}
}

func writeOldFile(t *testing.T, dir string) {
	db, clock := lively(t)
	clock.t = 1_000_500
	if err := db.Update(func(tx *Tx) error { return tx.Configure("default_walltime", "3600") }); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(db.Path())
	if err != nil {
		t.Fatal(err)
	}
	version := fmt.Sprintf("v%d", Format)
	for name, b := range map[string][]byte{version + ".db": content, version + ".dump": []byte(dumpAll(t, db))} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// rowsOnly is a dump without the tables that are derived, and without what cycles hand
// on: they begin anew.
func rowsOnly(dump string) string {
	var out strings.Builder
	for line := range strings.Lines(dump) {
		name, _, _ := strings.Cut(line, " ")
		for t := range row.TableCount {
			if t.String() == name && !t.Derived() && t != row.Meta && t != row.Invalidations && t != row.Decided {
				out.WriteString(line)
			}
		}
	}
	return out.String()
}
