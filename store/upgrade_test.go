package store

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/store/internal/row"
)

var update = flag.Bool("update", false, "write the database file of this format, and what it holds")

// TestOldFiles opens a file of every past format: it must be sound and hold what it held.
func TestOldFiles(t *testing.T) {
	dir := filepath.Join("..", "testdata", "db")
	if *update {
		writeOldFile(t, dir)
	}
	files, err := filepath.Glob(filepath.Join(dir, "v*.db"))
	released := Format
	if row.Stage != 0 {
		released-- // a format gets its file when it is released
	}
	if err != nil || len(files) < released {
		t.Fatalf("%d files for %d formats: %v", len(files), released, err)
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
		if err := db.Update(func(tx *Tx) error { return tx.Config().Set("default_walltime", "3600") }); err != nil {
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
	shareSome(t, db)
	clock.t = 1_000_500
	if err := db.Update(func(tx *Tx) error { return tx.Config().Set("default_walltime", "3600") }); err != nil {
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

// shareSome sets what a shared cluster needs: accounts, limits, numbers, roles, preemption
// rules, and a view. It also submits a job that an expression puts before others.
func shareSome(t *testing.T, db *DB) {
	t.Helper()
	rule, err := preempt.Parse("queue:q over all")
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *Tx) error {
		return errors.Join(
			tx.Accounts().Set(Account{Name: "physics", Shares: 60, Allow: []string{"group:lab"}}),
			tx.Accounts().Set(Account{Name: "optics", Parent: "physics", Shares: 2,
				Members: []AccountMember{{User: "ann", Shares: 3}}}),
			tx.Limits().Set(Limit{Key: "user:*", Measure: "running", Max: 20},
				Limit{Key: "queue:q,user:ann", Measure: "ncpus", Soft: true, Max: 4}),
			tx.Preemption().Set(rule),
			tx.Priorities().Set(Number{Kind: "user", Name: "ann", Number: 100}),
			tx.Roles().Add("olga", Operator),
			tx.Views().Set(SQLView{Name: "mine", Select: "SELECT job FROM jobs WHERE user = 'ann'"}),
			tx.Config().Set("job_priority", "PRIORITY + FAIRSHARE"))
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *Tx) error {
		_,
			err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: "1:ncpus=1", Walltime: time.Hour,
			User: "ann", Account: "optics", Group: "lab", Queue: "q"}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// rowsOnly returns a dump without the derived tables, and without what cycles pass on, which
// begins anew.
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
