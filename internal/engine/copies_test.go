package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/placer"
)

// copyAt copies a file.
func copyAt(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// submitted starts n jobs with a command.
func submitted(t *testing.T, db *DB, n int) {
	t.Helper()
	err := db.Update(func(tx *Tx) error {
		for range n {
			if _, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: "1:ncpus=1", Walltime: time.Hour},
				Command: []string{"true"}}); err != nil {
				return err
			}
		}
		_, err := tx.Cycle().Run(CycleSpec{Silent: true})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func claimAttempt(db *DB, job uint64) error {
	return db.Update(func(tx *Tx) error {
		_, err := tx.Attempts().Claim(Claim{Job: job, Attempt: 1, By: BySupervisor, Nonce: Nonce{byte(job)},
			Process: Process{Host: "h", PID: 7}})
		return err
	})
}

// TestCopiesClaimNothing: no claim, report, beat or run of the hook is accepted in a copy, however it was
// made, until it is adopted. Nothing of that changes a byte.
func TestCopiesClaimNothing(t *testing.T) {
	t.Parallel()
	for name, copied := range map[string]func(t *testing.T, db *DB, to string) error{
		"cp":     func(t *testing.T, db *DB, to string) error { copyAt(t, db.Path(), to); return nil },
		"backup": func(_ *testing.T, db *DB, to string) error { _, err := db.Backup(to, nil); return err },
		"salvage": func(_ *testing.T, db *DB, to string) error {
			_, err := Salvage(db.Path(), to, nil)
			return err
		},
		"load": func(_ *testing.T, db *DB, to string) error {
			var text strings.Builder
			if _, err := db.Dump(&text, nil); err != nil {
				return err
			}
			_, err := Load(to, strings.NewReader(text.String()), nil)
			return err
		},
		"compacted copy": func(t *testing.T, db *DB, to string) error {
			copyAt(t, db.Path(), to)
			c, err := Open(to, &db.opt)
			if err == nil {
				_, err = c.Compact(nil)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, clock := newDB(t)
			addNodes(t, db, "n", 2, 4)
			submitted(t, db, 3)
			if err := claimAttempt(db, 1); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "copy.db")
			if err := copied(t, db, path); err != nil {
				t.Fatal(err)
			}
			said := 0
			c, err := Open(path, &Options{Now: clock.now, Copied: func(error) { said++ }})
			if err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(path)
			refused := map[string]func(tx *Tx) error{
				"Claim": func(tx *Tx) error {
					_, err := tx.Attempts().Claim(Claim{Job: 2, Attempt: 1, By: BySupervisor, Nonce: Nonce{2},
						Process: Process{Host: "h", PID: 7}})
					return err
				},
				"Report": func(tx *Tx) error {
					_, err := tx.Attempts().Report(Result{Job: 1, Attempt: 1, Nonce: Nonce{1}, Outcome: OutcomeExited})
					return err
				},
				"Beat": func(tx *Tx) error { return tx.Hosts().Beat("h", "ann", "boot") },
				"Attend": func(tx *Tx) error {
					return tx.Attempts().Attend(3, Attendant{Nonce: Nonce{5}, Process: Process{Host: "h"}})
				},
				"Hook": func(tx *Tx) error { _, err := tx.Hook().Begin(Nonce{1}); return err },
				"Cycle by a launcher": func(tx *Tx) error {
					_, err := tx.Cycle().Run(CycleSpec{By: ByLauncher, Nonce: Nonce{1}})
					return err
				},
				"Cycle by passes": func(tx *Tx) error {
					_, err := tx.Cycle().Run(CycleSpec{By: BySupervisor})
					return err
				},
			}
			for what, fn := range refused {
				if err := c.Update(fn); !errors.Is(err, ErrCopy) || !errors.Is(err, ErrConflict) {
					t.Errorf("%s of a copy = %v, want ErrCopy and ErrConflict", what, err)
				}
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the copy has changed")
			}
			if said != 1 {
				t.Errorf("Copied was called %d times, want once", said)
			}
			if err := c.Update(func(tx *Tx) error { _, err := tx.Adopt(true); return err }); err != nil {
				t.Fatal(err)
			}
			if err := claimAttempt(c, 2); err != nil {
				t.Errorf("Claim after Adopt: %v", err)
			}
			if err := claimAttempt(db, 3); err != nil {
				t.Errorf("Claim in the database itself: %v", err)
			}
			sound(t, c)
		})
	}
}

// TestCopiesMoved: a database goes on under another name, which its next commit keeps, and after Compact. It is
// a copy while another file of it is at its former name.
func TestCopiesMoved(t *testing.T) {
	t.Parallel()
	db, clock := newDB(t)
	addNodes(t, db, "n", 2, 4)
	submitted(t, db, 4)
	is := func(path, want string) *DB {
		t.Helper()
		at, err := Open(path, &Options{Now: clock.now})
		if err != nil {
			t.Fatal(err)
		}
		err = at.View(func(tx *Tx) error {
			why, err := tx.Copy()
			if !strings.Contains(why, want) || (want == "") != (why == "") {
				t.Errorf("%s: Copy = %q, want %q", path, why, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	first, second := db.Path(), db.Path()+".second"
	if err := os.Rename(first, second); err != nil {
		t.Fatal(err)
	}
	if err := claimAttempt(is(second, ""), 1); err != nil {
		t.Fatal(err)
	}
	copyAt(t, second, first) // its row says second by now
	is(second, "")
	is(first, "it is a copy of "+second)
	if _, err := is(second, "").Compact(nil); err != nil {
		t.Fatal(err)
	}
	if err := claimAttempt(is(second, ""), 2); err != nil {
		t.Fatal(err)
	}
	third := db.Path() + ".third"
	if err := errors.Join(os.Rename(second, third), os.Rename(first, second)); err != nil {
		t.Fatal(err)
	}
	is(third, "another file of this database is at "+second)
	if err := os.Remove(second); err != nil {
		t.Fatal(err)
	}
	if err := claimAttempt(is(third, ""), 3); err != nil {
		t.Fatal(err)
	}
}

// TestCopiesOverIt: an older state that is written into the file is a copy if something was executed since, and
// stays one, however often it is changed. Readers of a private copy are judged by the original.
func TestCopiesOverIt(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t)
	addNodes(t, db, "n", 2, 4)
	submitted(t, db, 4)
	state := t.TempDir()
	if err := db.Update(func(tx *Tx) error { return tx.Config().Set("state_dir", state) }); err != nil {
		t.Fatal(err)
	}
	older := db.Path() + ".older"
	copyAt(t, db.Path(), older)
	copyAt(t, older, db.Path())
	if err := claimAttempt(db, 1); err != nil {
		t.Fatalf("nothing was executed since: %v", err)
	}
	reader, err := db.Copy()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	copyAt(t, older, db.Path())
	for range 5 {
		if err := claimAttempt(db, 2); !errors.Is(err, ErrCopy) {
			t.Fatalf("Claim in an older state = %v, want ErrCopy", err)
		}
		submitted(t, db, 1)
	}
	err = reader.View(func(tx *Tx) error {
		if why, err := tx.Copy(); why != "" || err != nil {
			t.Errorf("the private copy of the database itself: %q, %v", why, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *Tx) error {
		held, err := tx.Adopt(false)
		if len(held) == 0 {
			t.Error("Adopt holds nothing, though jobs wait")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sound(t, db)
}
