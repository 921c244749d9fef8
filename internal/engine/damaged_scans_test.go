package engine

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
)

// A scan reads some rows of a table in one of the ways that the store uses.
type scan struct {
	what  string
	table row.Table
	run   func(r *file.Recorder, add func(key, payload []byte)) error
	want  string
}

// scansOf returns ways to read the rows of a table: all of it, each prefix by which an index
// is scanned, and some ranges and neighbours.
func scansOf(t row.Table, rows []storedRow, random *rand.Rand) (list []scan) {
	say := func(what string, run func(*file.Recorder, func(key, payload []byte)) error, rows ...storedRow) {
		want := new(bytes.Buffer)
		for _, one := range rows {
			fmt.Fprintf(want, "%x %x\n", one.key, one.payload)
		}
		list = append(list, scan{what, t, run, want.String()})
	}
	each := func(from, prefix []byte) func(*file.Recorder, func(key, payload []byte)) error {
		return func(r *file.Recorder, add func(key, payload []byte)) error {
			return r.EachFrom(t, from, prefix, func(key, payload []byte) (bool, error) {
				add(key, payload)
				return true, nil
			})
		}
	}
	say("all", each(nil, nil), rows...)
	for i := 0; i < len(rows); {
		n := t.Part(rows[i].key)
		if n < 0 {
			break
		}
		prefix := rows[i].key[:n]
		end := i
		for end < len(rows) && bytes.HasPrefix(rows[end].key, prefix) {
			end++
		}
		say(fmt.Sprintf("prefix %x", prefix), each(prefix, prefix), rows[i:end]...)
		at := i + random.IntN(end-i)
		say(fmt.Sprintf("prefix %x from %x", prefix, rows[at].key), each(rows[at].key, prefix), rows[at:end]...)
		i = end
	}
	for range min(2, len(rows)) {
		i := random.IntN(len(rows))
		j := i + random.IntN(len(rows)-i)
		first, last := rows[i].key, rows[j].key
		say(fmt.Sprintf("%x to %x", first, last), func(r *file.Recorder, add func(key, payload []byte)) error {
			c := r.Range(t, first, last)
			for c.Next() {
				add(c.Key, c.Payload)
			}
			return c.Err
		}, rows[i:j+1]...)
		if i > 0 {
			say(fmt.Sprintf("before %x", first), func(r *file.Recorder, add func(key, payload []byte)) error {
				key, payload, err := r.Before(t, first)
				add(key, payload)
				return err
			}, rows[i-1])
		}
		say(fmt.Sprintf("a leap to %x", last), func(r *file.Recorder, add func(key, payload []byte)) error {
			c := r.Cursor(t)
			if c.Next() && (i == 0 || c.Seek(first)) && (i == j || c.Seek(last)) {
				add(c.Key, c.Payload)
			}
			return c.Err
		}, rows[j])
		say(fmt.Sprintf("a finder at %x", first), func(r *file.Recorder, add func(key, payload []byte)) error {
			f := r.Finder(t)
			for _, one := range rows[i : j+1] {
				payload, err := f.Find(one.key)
				if err != nil {
					return err
				}
				add(one.key, payload)
			}
			return nil
		}, rows[i:j+1]...)
	}
	if len(rows) > 0 && t != row.Meta {
		say("the last one", func(r *file.Recorder, add func(key, payload []byte)) error {
			key, err := r.Last(t)
			add(key, rows[len(rows)-1].payload)
			return err
		}, rows[len(rows)-1])
	}
	return list
}

// silent runs a scan of a damaged file, and reports whether it reads wrong rows without an
// error.
func (s *scan) silent(v *damagedFile, r *file.Recorder) bool {
	got := new(bytes.Buffer)
	err := s.run(r, func(key, payload []byte) {
		if key == nil || row.Counted(s.table, key) {
			fmt.Fprintf(got, "%x %x\n", key, payload)
		}
	})
	v.named(s.what, err)
	return err == nil && got.String() != s.want
}

// keyBit flips a bit in the key of a row, wherever the row lies in a file.
func keyBit(content []byte, one storedRow, random *rand.Rand) {
	stored := append(bytes.Clone(one.key), row.Seal(one.key, one.payload)...)
	at, bit := random.IntN(len(one.key)), byte(1)<<random.IntN(8)
	for from := 0; ; {
		i := bytes.Index(content[from:], stored)
		if i < 0 {
			return
		}
		content[from+i+at] ^= bit
		from += i + len(stored)
	}
}

// TestDamagedKeys flips a bit in each key of an index in turn, and queries every reader of it.
// Each answers with the original rows, or with an error.
func TestDamagedKeys(t *testing.T) {
	seed := damageSeed()
	random := rand.New(rand.NewPCG(seed, 4))
	db, clock := lively(t)
	sound := content(t, db)
	byTable := make(map[row.Table][]storedRow)
	for _, one := range storedRows(t, db) {
		byTable[one.table] = append(byTable[one.table], one)
	}
	var indexes []row.Table
	for table := range row.TableCount {
		if table.Derived() && len(byTable[table]) > 0 && len(byTable[table][0].key) > 0 {
			indexes = append(indexes, table)
		}
	}
	rounds := 1000
	switch {
	case *damaged > 0:
		rounds = *damaged
	case *long:
		rounds = 100_000
	}
	silent, asked := 0, 0
	for i := range rounds {
		table := indexes[i%len(indexes)]
		rows := byTable[table]
		bad := bytes.Clone(sound)
		keyBit(bad, rows[random.IntN(len(rows))], random)
		v := writeDamaged(t, fmt.Sprintf("seed %d, round %d: a bit of a key of %s", seed, i, table), bad, clock)
		n, missed := v.scan(scansOf(table, rows, random))
		asked += n
		silent += len(missed)
		for _, what := range missed {
			t.Errorf("%s: read silently and wrongly: %s", v.what, what)
		}
		os.RemoveAll(filepath.Dir(v.path))
	}
	t.Logf("%d indexes, %d files, %d reads, %d silent", len(indexes), rounds, asked, silent)
}

// scan opens the file and runs scans, and returns which of them were wrong and silent.
func (v *damagedFile) scan(list []scan) (asked int, silent []string) {
	db, err := Open(v.path, &Options{Now: v.clock.now, Warn: func(string) { v.warned = true }})
	if err != nil {
		v.named("open", err)
		return 0, nil
	}
	defer db.Close()
	for _, s := range list {
		err := db.View(func(tx *Tx) error {
			asked++
			if s.silent(v, tx.k.File) {
				silent = append(silent, fmt.Sprintf("%s: %s", s.table, s.what))
			}
			return nil
		})
		v.named("view", err)
	}
	return asked, silent
}

// TestDamagedAnswers flips a bit in each key of a table in turn, and queries tables in SQL:
// the rows are the original ones, or the answer is an error.
func TestDamagedAnswers(t *testing.T) {
	seed := damageSeed()
	random := rand.New(rand.NewPCG(seed, 5))
	db, clock := lively(t)
	want := make(map[string]string)
	for _, name := range []string{"nodes", "attempts", "allocations", "reservations", "pools", "pool_use", "limits",
		"limit_use", "usage", "decayed", "events", "spans", "batch_jobs"} {
		want[name] = answered(t, db, "SELECT * FROM "+name)
	}
	sound, byTable := content(t, db), make(map[row.Table][]storedRow)
	for _, one := range storedRows(t, db) {
		byTable[one.table] = append(byTable[one.table], one)
	}
	tables := slices.Sorted(maps.Keys(byTable))
	rounds := 5
	if *long {
		rounds = 1000
	}
	noticed := 0
	for i := range rounds * len(tables) {
		table := tables[i%len(tables)]
		bad := bytes.Clone(sound)
		keyBit(bad, byTable[table][random.IntN(len(byTable[table]))], random)
		v := writeDamaged(t, fmt.Sprintf("seed %d, round %d: a bit of a key of %s", seed, i, table), bad, clock)
		db, err := Open(v.path, &Options{Now: clock.now, Warn: func(string) { v.warned = true }})
		if err != nil {
			v.named("open", err)
			continue
		}
		for name, rows := range want {
			switch got := answered(t, db, "SELECT * FROM "+name); {
			case strings.HasPrefix(got, "error: "):
				noticed++
			case got != rows && !v.warned:
				t.Errorf("%s: %s: read silently and wrongly (-want +got)\n%s", v.what, name, cmp.Diff(rows, got))
			}
		}
		db.Close()
		os.RemoveAll(filepath.Dir(v.path))
	}
	if noticed == 0 {
		t.Error("no damage was noticed")
	}
	t.Logf("%d tables, %d files, %d answers, %d errors", len(want), rounds*len(tables), rounds*len(tables)*len(want),
		noticed)
}

// TestLostDependency: a query for a job whose dependency has lost its row reports damage, not
// a job that was not found.
func TestLostDependency(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t)
	addNodes(t, db, "n", 1, 4)
	mustUpdate(t, db, func(tx *Tx) error {
		first, err := tx.Jobs().Submit(
			Submission{Request: placer.Request{Select: "1", User: "ann", Walltime: time.Hour}})
		if err != nil {
			return err
		}
		_, err = tx.Jobs().Submit(Submission{Request: placer.Request{Select: "1", User: "ann", Walltime: time.Hour},
			After: []Dependency{{Job: first[0].ID, When: AfterOK}}})
		return err
	})
	mustUpdate(t, db, func(tx *Tx) error { return tx.k.File.Remove(row.Jobs, row.Key64(1)) })
	for what, ask := range map[string]func(*Tx) error{
		"when":    func(tx *Tx) error { _, err := tx.Ask().WhenJob(2); return err },
		"explain": func(tx *Tx) error { _, err := tx.Ask().ExplainJob(2, placer.Explain{}); return err },
	} {
		err := db.Update(func(tx *Tx) error { return errors.Join(ask(tx), errUndo) })
		if !errors.Is(err, ErrDamaged) || errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestLostJob: whichever job has lost its row, everything that reads the queue or the calendar
// reports that the file is damaged, and never that a job is unknown.
func TestLostJob(t *testing.T) {
	t.Parallel()
	db, clock := newDB(t)
	addNodes(t, db, "n", 2, 2)
	mustUpdate(t, db, func(tx *Tx) error {
		for _, s := range []Submission{{Array: 2}, {}, {Array: 3}} { // two run, one has a plan, three wait
			s.Request = placer.Request{Select: "1:ncpus=2", User: "ann", Walltime: time.Hour}
			if _, err := tx.Jobs().Submit(s); err != nil {
				return err
			}
		}
		_, err := tx.Cycle().Run(CycleSpec{})
		return err
	})
	all := map[string]func(*Tx) error{
		"cycle": func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{}); return err },
		"play":  func(tx *Tx) error { _, err := tx.Cycle().Play(PlaySpec{}); return err },
		"each":  func(tx *Tx) error { return tx.Jobs().Each(func(*Job) error { return nil }, JobStates()...) },
		"when": func(tx *Tx) error {
			_, err := tx.Ask().When(placer.Request{Select: "2:ncpus=2", User: "ann", Walltime: time.Hour}, time.Time{},
				1)
			return err
		},
		"metrics": func(tx *Tx) error { _, err := tx.Ask().Metrics(); return err },
	}
	damaged := 0
	for _, later := range []int64{0, 3600} { // when the running ones should have ended
		clock.t += later
		for _, id := range []uint64{2, 3, 4, 6, 7, 8} {
			for what, ask := range all {
				err := db.Update(func(tx *Tx) error {
					if err := tx.k.File.Remove(row.Jobs, row.Key64(id)); err != nil {
						return err
					}
					return errors.Join(ask(tx), errUndo)
				})
				if errors.Is(err, ErrNotFound) {
					t.Errorf("%s without the row of job %d, %d s later: %v, want that the file is damaged", what, id+1,
						later, err)
				}
				if errors.Is(err, ErrDamaged) {
					damaged++
				}
			}
		}
	}
	if damaged < 20 {
		t.Errorf("the damage was found %d times, want at least 20", damaged)
	}
}
