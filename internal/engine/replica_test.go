package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/replica"
	"github.com/placectl/placectl/internal/replica/memlog"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
)

func init() { // in memory, other than that of package memlog
	replica.Register("restless", func(c replica.Config) (replica.Driver, error) {
		return &memlog.Restless{Driver: memlog.Named(c.Prefix)}, nil
	})
}

// inLog returns an empty database in a log in memory, and a function that opens handles on it,
// each on a machine of its own.
func inLog(t *testing.T, opt Options) (m *memlog.Log, open func() *DB) {
	t.Helper()
	name := fmt.Sprintf("%s%d", t.Name(), rand.Uint64())
	m, name = memlog.Named(name), "memory://x/"+name
	opt.Replica.Folder = t.TempDir()
	if err := Create(name, &opt, nil); err != nil {
		t.Fatal(err)
	}
	return m, func() *DB {
		opt := opt
		opt.Replica.Folder, opt.AnyTime = t.TempDir(), false
		db, err := Open(name, &opt)
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
}

// TestLogClock: a machine whose clock is ahead of the log's does not write. One whose clock is
// a little behind what others have written writes, at their instant.
func TestLogClock(t *testing.T) {
	t.Parallel()
	now := time.Now()
	m, open := inLog(t, Options{Now: func() time.Time { return now }})
	a := open()
	node := func(name string) func(*Tx) error {
		return func(tx *Tx) error {
			_, err := tx.Nodes().Put(&index.Node{Name: name})
			return err
		}
	}
	if err := a.Update(node("n1")); err != nil {
		t.Fatal(err)
	}
	m.SetMembers(replica.Members{Ahead: 6 * time.Second, ClockKnown: true})
	b := open()
	if err := b.Update(node("n2")); !errors.Is(err, ErrClock) {
		t.Errorf("6 s ahead: %v", err)
	}
	if err := b.DryRun(node("n2")); err != nil {
		t.Errorf("6 s ahead, and nothing is kept: %v", err)
	}
	backup := filepath.Join(t.TempDir(), "backup.db")
	if _, err := b.Backup(backup, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(b.Path(), backup, &RestoreOptions{Options: b.opt}); !errors.Is(err, ErrClock) {
		t.Errorf("6 s ahead, what was restored: %v", err)
	}
	m.SetMembers(replica.Members{ClockKnown: true})
	now = now.Add(-8 * time.Second)
	if err := a.Update(func(tx *Tx) error {
		if tx.Now().Unix() != now.Unix()+8 {
			t.Errorf("at %v", tx.Now())
		}
		return node("n2")(tx)
	}); err != nil {
		t.Errorf("8 s behind: %v", err)
	}
	now = now.Add(-8 * time.Second)
	if err := a.Update(node("n3")); !errors.Is(err, ErrClock) {
		t.Errorf("16 s behind: %v", err)
	}
}

// TestLogForecasts: each machine keeps its own forecasts, and no entry of the log has them.
func TestLogForecasts(t *testing.T) {
	t.Parallel()
	now := time.Now()
	m, open := inLog(t, Options{Now: func() time.Time { return now }})
	a, b := open(), open()
	err := a.Update(func(tx *Tx) error {
		if _, err := tx.Nodes().Put(
			&index.Node{Name: "n1", Res: []index.Amount{{Res: index.NCPUs, Value: index.Value{Num: 1}}}}); err != nil {
			return err
		}
		r := placer.Request{Select: "1:ncpus=1", Walltime: time.Hour}
		for range 60 { // more than readers play themselves
			if _, err := tx.Jobs().Submit(Submission{Request: r, Command: []string{"true"}}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	entries := func() (n uint64) {
		t.Helper()
		tail, err := m.After(context.Background(), replica.Position{}, false)
		if err != nil {
			t.Fatal(err)
		}
		return tail.Head.N
	}
	before := entries()
	if err := a.Forecast(ForecastSpec{Few: true}); err != nil {
		t.Fatal(err)
	}
	if after := entries(); after != before {
		t.Errorf("a forecast makes %d entries of the log", after-before)
	}
	for name, db := range map[string]*DB{"the machine that forecasts": a, "another one": b} {
		err := db.View(func(tx *Tx) error {
			fs, err := tx.Cycle().Forecasts()
			if known := fs != nil; err == nil && known != (db == a) {
				t.Errorf("%s knows starts: %v", name, known)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		if err := db.Check(func(f string) { t.Errorf("%s: %s", name, f) }); err != nil {
			t.Error(err)
		}
	}
	// A change of another machine is applied beside the value.
	if err := b.Update(func(tx *Tx) error { _, err := tx.Jobs().Cancel(60, ""); return err }); err != nil {
		t.Fatal(err)
	}
	err = a.View(func(tx *Tx) error {
		fs, err := tx.Cycle().Forecasts()
		if err == nil && (fs == nil || fs.AsOf.Unix() != now.Unix()) {
			t.Error("the value is gone after a change of another machine")
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestLogIsAsFile: transactions on machines that randomly take turns leave every row as they
// do in one file. It does not matter how a machine caught up: entry by entry, or by a
// snapshot. The same is true if each transaction runs twice, and the first run is discarded.
func TestLogIsAsFile(t *testing.T) {
	t.Parallel()
	plain, clock := fullDB(t)
	m := memlog.Named(t.Name())
	if err := replica.Create(m, time.Minute, plain.file); err != nil {
		t.Fatal(err)
	}
	var machines []*DB
	for _, scheme := range []string{"memory", "memory", "restless"} {
		opt := plain.opt
		opt.LockTimeout = time.Minute // a restless log takes long where the machine is busy
		opt.Replica.Folder = t.TempDir()
		db, err := Open(scheme+"://x/"+t.Name(), &opt)
		if err != nil {
			t.Fatal(err)
		}
		machines = append(machines, db)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	again := 0 // transactions that were run more than once
	both := func(name string, db *DB, fn func(*Tx) error) {
		t.Helper()
		runs := 0
		one, two := plain.Update(fn), db.Update(func(tx *Tx) error { runs++; return fn(tx) })
		if runs > 1 {
			again++
		}
		if fmt.Sprint(one) != fmt.Sprint(two) {
			t.Fatalf("%s: %v in the file, and %v in the log", name, one, two)
		}
	}
	both("stir", machines[0], stir)
	for i := range 60 {
		db := machines[rng.IntN(len(machines))]
		n := rng.IntN(len(deeds))
		both(fmt.Sprint("step ", i, " of kind ", n), db, deeds[n])
		clock.t += rng.Int64N(2000)
		if rng.IntN(15) == 0 {
			if err := db.Log().Trim(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if again < 5 {
		t.Errorf("%d transactions were run again", again)
	}
	want := lastingRows(t, plain)
	for i, db := range machines {
		if diff := cmp.Diff(want, lastingRows(t, db)); diff != "" {
			t.Errorf("machine %d (-file +replica)\n%s", i, diff)
		}
		if err := db.Check(func(f string) { t.Errorf("machine %d: %s", i, f) }); err != nil {
			t.Error(err)
		}
	}
}

// deeds are transactions of several kinds, none of them random.
var deeds = []func(*Tx) error{
	func(tx *Tx) error {
		_, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=1", Place: "scatter", Walltime: time.Hour})
		return err
	},
	func(tx *Tx) error {
		_, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: "2:ncpus=2", Walltime: time.Hour}})
		return err
	},
	func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{Backfill: Conservative}); return err },
	func(tx *Tx) error { return tx.Config().Set("default_walltime", fmt.Sprint(3600+tx.k.Now%7)) },
	func(tx *Tx) error { _, err := tx.Nodes().Put(&index.Node{Name: fmt.Sprint("n", tx.k.Now)}); return err },
	func(tx *Tx) error { _, err := tx.Jobs().Hold(uint64(tx.k.Now%40), ""); return err },
	func(tx *Tx) error { _, err := tx.Jobs().Unhold(uint64(tx.k.Now % 40)); return err },
	func(tx *Tx) error { _, err := tx.Jobs().Cancel(uint64(tx.k.Now%40), ""); return err },
	func(tx *Tx) error { _, err := tx.Jobs().Release(uint64(tx.k.Now % 40)); return err },
	func(tx *Tx) error { return tx.Nodes().SetState(uint32(tx.k.Now%3), index.Offline, "") },
}

// lastingRows returns the stored rows of a database, except those that belong to one file.
func lastingRows(t *testing.T, db *DB) map[string]string {
	t.Helper()
	rows := make(map[string]string)
	err := db.View(func(tx *Tx) error {
		for table := range row.TableCount {
			err := tx.k.File.EachStored(table, func(key, value []byte) error {
				rows[fmt.Sprintf("%s %x", table, key)] = string(value)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
