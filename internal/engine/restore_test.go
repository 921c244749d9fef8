package engine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
)

// TestRestoreHolds restores a backup after which jobs of each kind may or may not have run:
// jobs that waited, or whose launch was not announced, are held.
func TestRestoreHolds(t *testing.T) {
	db, clock := newDB(t)
	addNodes(t, db, "n", 6, 1)
	one := placer.Request{Select: "1:ncpus=1", Place: "excl", Walltime: time.Hour}
	var names []string
	submit := func(tx *Tx, name string, s Submission) uint64 {
		s.Request = one
		jobs, err := tx.Jobs().Submit(s)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
		return jobs[0].ID
	}
	update := func(fn func(tx *Tx)) {
		t.Helper()
		if err := db.Update(func(tx *Tx) error { fn(tx); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	cycle := func(tx *Tx) {
		if _, err := tx.Cycle().Run(CycleSpec{Backfill: Conservative}); err != nil {
			t.Fatal(err)
		}
	}
	update(func(tx *Tx) {
		submit(tx, "told", Submission{})
		submit(tx, "waits by itself", Submission{Begin: tx.Now().Add(10 * time.Hour)})
		submit(tx, "held by hand", Submission{Hold: true})
		names = append(names, "placed")
		if _, err := tx.Jobs().Place(one); err != nil {
			t.Fatal(err)
		}
		cycle(tx)
	})
	update(func(tx *Tx) {
		submit(tx, "planned, begins by the clock", Submission{Begin: tx.Now().Add(time.Minute)})
		cycle(tx)
	})
	clock.t += 120
	update(func(*Tx) {}) // it has begun, and its launch is not announced
	identity := func(t *testing.T, db *DB) (id row.Identity) {
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
	before := identity(t, db)
	backup := filepath.Join(t.TempDir(), "backup.db")
	if _, err := db.Backup(backup, nil); err != nil {
		t.Fatal(err)
	}
	update(func(tx *Tx) { submit(tx, "later", Submission{}) })

	out, err := Restore(db.Path(), backup, &RestoreOptions{Options: Options{Now: clock.now}})
	if err != nil {
		t.Fatal(err)
	}
	states := make(map[string]string)
	if err := db.View(func(tx *Tx) error {
		return tx.Jobs().Each(func(j *Job) error {
			states[names[j.ID-1]] = j.State.String() + " " + j.Reason.String()
			return nil
		})
	}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"told": "running restored", "waits by itself": "held restored", "held by hand": "held ",
		"placed":                       "running ",
		"planned, begins by the clock": "held restored"}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("(-want +is)\n%s", diff)
	}
	if len(out.Held) != 2 || out.Kept == "" || out.Jobs != 5 {
		t.Errorf("%+v", out)
	}
	if after := identity(t, db); after.ID != before.ID || after.Epoch == before.Epoch {
		t.Errorf("id and epoch were %v, and are %v", before, after)
	}
	if list := findings(t, db); len(list) > 0 {
		t.Errorf("%q", list)
	}
	kept, err := Open(out.Kept, &Options{Now: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	if list := findings(t, kept); len(list) > 0 {
		t.Errorf("kept: %q", list)
	}
}

// TestRestoreRefuses: a file that is no backup changes nothing.
func TestRestoreRefuses(t *testing.T) {
	db, _ := lively(t)
	was, err := os.ReadFile(db.Path())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	dented := append([]byte(nil), was...)
	clear(dented[4*4096:]) // one page could be a free one
	if err := os.Link(db.Path(), filepath.Join(dir, "same.db")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		backup string
		want   error
	}{
		"not there": {filepath.Join(dir, "none.db"), ErrNotFound},
		"notes":     {write("notes.txt", make([]byte, 5000)), ErrNotOurs},
		"cut":       {write("cut.db", was[:3*4096]), ErrDamaged},
		"dented":    {write("dented.db", dented), ErrDamaged},
		"the same":  {db.Path(), ErrConflict},
		"a link":    {filepath.Join(dir, "same.db"), ErrConflict},
	} {
		if _, err := Restore(db.Path(), c.backup, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, not %v", name, err, c.want)
		}
		if is, err := os.ReadFile(db.Path()); err != nil || string(is) != string(was) {
			t.Errorf("%s: the database has changed: %v", name, err)
		}
	}
}

// What is kept in a restored database is there from the moment at which it takes its place: an
// answer for a key cannot be missing from it. If it cannot be kept, nothing is restored.
func TestRestoreLast(t *testing.T) {
	db, _ := newDB(t)
	addNodes(t, db, "n", 2, 1)
	backup := filepath.Join(t.TempDir(), "b.db")
	if _, err := db.Backup(backup, nil); err != nil {
		t.Fatal(err)
	}
	addNodes(t, db, "later", 1, 1)
	path := db.Path()
	nodes := func(path string) (n int, answer string) {
		t.Helper()
		db, err := Open(path, &Options{Now: db.opt.Now})
		if err != nil {
			t.Fatal(err)
		}
		o := &Once{Key: "k", Request: []byte("restore")}
		err = db.DryRun(func(tx *Tx) error {
			n = 0
			if err := tx.Nodes().Each(func(*index.Node) error { n++; return nil }); err != nil {
				return err
			}
			return tx.Once(o, func() error { return nil })
		})
		if err != nil {
			t.Fatal(err)
		}
		return n, string(o.Answer)
	}
	refused := errors.New("no room for an answer")
	opt := &RestoreOptions{Options: Options{Now: db.opt.Now}, Last: func(*Tx, *Restored) error { return refused }}
	if _, err := Restore(path, backup, opt); !errors.Is(err, refused) {
		t.Fatal(err)
	}
	if n, _ := nodes(path); n != 3 {
		t.Errorf("%d nodes after a restore that was refused", n)
	}
	opt.Last = func(tx *Tx, done *Restored) error {
		o := &Once{Key: "k", Request: []byte("restore")}
		return tx.Once(o, func() error {
			o.Answer = []byte(done.Kept)
			return nil
		})
	}
	done, err := Restore(path, backup, opt)
	if err != nil {
		t.Fatal(err)
	}
	if n, answer := nodes(path); n != 2 || answer != done.Kept || answer == "" {
		t.Errorf("%d nodes, the answer %q, and the database before is %q", n, answer, done.Kept)
	}
	if n, _ := nodes(done.Kept); n != 3 {
		t.Errorf("%d nodes in the database before", n)
	}
}

// TestLastInANewDatabase: what Last keeps is in a database that Load or Salvage makes before
// the database has its name. If Last fails, there is no database.
func TestLastInANewDatabase(t *testing.T) {
	db, _ := newDB(t)
	addNodes(t, db, "n", 2, 4)
	var dump bytes.Buffer
	if _, err := db.Dump(&dump, nil); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	verbs := map[string]func(to string, last func(*Tx) error) error{
		"load": func(to string, last func(*Tx) error) error {
			_, err := Load(to, bytes.NewReader(dump.Bytes()), &LoadOptions{Options: Options{Now: db.opt.Now},
				Last: func(tx *Tx, c Content) error { return errors.Join(expectRows(c), last(tx)) }})
			return err
		},
		"salvage": func(to string, last func(*Tx) error) error {
			_, err := Salvage(db.Path(), to, &SalvageOptions{Options: Options{Now: db.opt.Now},
				Last: func(tx *Tx, s *Salvaged) error { return errors.Join(expectRows(s.Content), last(tx)) }})
			return err
		},
	}
	for verb, make := range verbs {
		t.Run(verb, func(t *testing.T) {
			to := filepath.Join(t.TempDir(), "new.db")
			refused := errors.New("no room for an answer")
			if err := make(to, func(*Tx) error { return refused }); !errors.Is(err, refused) {
				t.Fatal(err)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(to), "*")); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
			once := func(answer string) func(*Tx) error {
				return func(tx *Tx) error {
					o := &Once{Key: "k", Request: []byte(verb)}
					err := tx.Once(o, func() error { o.Answer = []byte(answer); return nil })
					if string(o.Answer) != "made" {
						err = fmt.Errorf("the answer is %q", o.Answer)
					}
					return err
				}
			}
			if err := make(to, once("made")); err != nil {
				t.Fatal(err)
			}
			made, err := Open(to, &Options{Now: db.opt.Now})
			if err != nil {
				t.Fatal(err)
			}
			defer made.Close()
			if err := made.Update(once("")); err != nil {
				t.Error(err)
			}
			if err := made.Check(func(finding string) { t.Error(finding) }); err != nil {
				t.Error(err)
			}
		})
	}
}

// expectRows fails for a database without nodes.
func expectRows(c Content) error {
	if c.Rows == 0 || c.Bytes == 0 {
		return fmt.Errorf("no rows: %+v", c)
	}
	return nil
}
