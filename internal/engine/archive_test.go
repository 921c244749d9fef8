package engine

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// TestArchiveCutOff interrupts an archive after each row that is written and each commit that
// removes rows. Each job is in the file or in the database, and the same call again continues.
func TestArchiveCutOff(t *testing.T) {
	t.Parallel()
	errCut := errors.New("cut off")
	for _, name := range []string{"old.jsonl"} {
		for at := 1; ; at++ {
			db, clock := newDB(t)
			err := db.Update(func(tx *Tx) error {
				n := &index.Node{Name: "n1"}
				n.Set(index.NCPUs, index.Value{Num: 1})
				_, err := tx.Nodes().Put(n)
				for range 7 {
					var j *Job
					if err == nil {
						j, err = tx.Jobs().Place(placer.Request{Select: "1:ncpus=1", Walltime: time.Hour})
					}
					if err == nil {
						_, err = tx.Jobs().Release(j.ID)
					}
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			clock.t += 3600
			to, steps := filepath.Join(t.TempDir(), name), 0
			_, err = db.Archive(to, clock.now(), &ArchiveOptions{rows: 2, Watch: func(int64) error {
				if steps++; steps == at {
					return errCut
				}
				return nil
			}})
			if err != nil && !errors.Is(err, errCut) {
				t.Fatal(err)
			}
			whole := err == nil
			list := append(archivedJobs(t, to), jobsLeft(t, db)...)
			slices.Sort(list)
			if list = slices.Compact(list); len(list) != 7 {
				t.Fatalf("%s: cut off at step %d, jobs %v are there", name, at, list)
			}
			if _, err := db.Archive(to, clock.now(), &ArchiveOptions{rows: 2}); err != nil {
				t.Fatal(err)
			}
			list = archivedJobs(t, to)
			slices.Sort(list)
			if left := jobsLeft(t, db); len(left) > 0 || len(slices.Compact(list)) != 7 {
				t.Fatalf("%s: cut off at step %d and done again: %v are archived, %v left", name, at, list, left)
			}
			db.Close()
			if whole {
				break
			}
		}
	}
}

func jobsLeft(t *testing.T, db *DB) (list []string) {
	t.Helper()
	return strings.Fields(answered(t, db, "SELECT job FROM jobs"))
}

// archivedJobs returns the jobs in an archive, by number, or none if there is no file.
func archivedJobs(t *testing.T, path string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if _, rest, is := strings.Cut(line, `"table":"jobs","key":`); is {
			number, _, _ := strings.Cut(rest, ",")
			list = append(list, number)
		}
	}
	return list
}

// TestArchivesAtOnce: of two archives at once, the second waits for the first, and no job gets into both files.
func TestArchivesAtOnce(t *testing.T) {
	t.Parallel()
	db, clock := newDB(t)
	err := db.Update(func(tx *Tx) error {
		n := &index.Node{Name: "n1"}
		n.Set(index.NCPUs, index.Value{Num: 1})
		_, err := tx.Nodes().Put(n)
		for range 7 {
			var j *Job
			if err == nil {
				j, err = tx.Jobs().Place(placer.Request{Select: "1:ncpus=1", Walltime: time.Hour})
			}
			if err == nil {
				_, err = tx.Jobs().Release(j.ID)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	clock.t += 3600
	dir, before := t.TempDir(), clock.now()
	second := make(chan error, 1)
	begun := false
	_, err = db.Archive(filepath.Join(dir, "a.jsonl"), before, &ArchiveOptions{Watch: func(int64) error {
		if !begun {
			begun = true
			go func() {
				_, err := db.Archive(filepath.Join(dir, "b.jsonl"), before, nil)
				second <- err
			}()
			time.Sleep(100 * time.Millisecond)
		}
		return nil
	}})
	if err := errors.Join(err, <-second); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "b.jsonl")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the second archive wrote a file, too: %v", err)
	}
	if list := archivedJobs(t, filepath.Join(dir, "a.jsonl")); len(list) != 7 {
		t.Errorf("the jobs %v are archived, want 7", list)
	}
}
