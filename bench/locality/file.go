package main

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/locality"
)

// fileSite keeps the batch in a database. Every operation is a durable commit.
type fileSite struct {
	db    *engine.DB
	b     locality.Batch
	now   int64
	names []string
	nexts []time.Duration
	dones []time.Duration
}

const batchName = "simulated"

func openFile(path string, s locality.Settings, files int, jobs []locality.Job) (site, error) {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	f := &fileSite{now: 1}
	opt := &engine.Options{Now: func() time.Time { return time.Unix(f.now, 0) }, AnyTime: true}
	if err := engine.Create(path, opt, func(*engine.Tx) error { return nil }); err != nil {
		return nil, err
	}
	db, err := engine.Open(path, opt)
	if err != nil {
		return nil, err
	}
	f.db = db
	began := time.Now()
	err = db.Update(func(tx *engine.Tx) error {
		m, err := tx.Batches().Make(batchName, s)
		if err != nil {
			return err
		}
		for i := range files {
			if err := m.AddFile(engine.BatchFile{Name: fmt.Sprint("file-", i), Size: 1 << 20}); err != nil {
				return err
			}
		}
		for _, j := range jobs {
			if err := m.AddJob(j); err != nil {
				return err
			}
		}
		b, err := m.Finish()
		if err == nil {
			f.b = b.Batch
		}
		return err
	})
	fmt.Fprintf(os.Stderr, "created with %d jobs in %.2f s\n", len(jobs), time.Since(began).Seconds())
	return f, err
}

func (f *fileSite) batch() *locality.Batch { return &f.b }

// arrive writes no row: a host exists once it asks. A new database does not know its past.
func (f *fileSite) arrive(h *locality.Host) error {
	f.names = append(f.names, h.Name)
	return nil
}

// update runs one operation at an instant of the simulation, and notes how long it took.
func (f *fileSite) update(now int64, took *[]time.Duration, fn func(*engine.Tx) error) error {
	f.now = max(f.now, now)
	began := time.Now()
	err := f.db.Update(func(tx *engine.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		b, err := tx.Batches().Get(batchName)
		if err == nil {
			f.b = b.Batch
		}
		return err
	})
	*took = append(*took, time.Since(began))
	if f.b.Over() {
		f.report()
	}
	return err
}

func (f *fileSite) next(host int, now int64, want int) (jobs []locality.Given, fetched int, err error) {
	var why error
	err = f.update(now, &f.nexts, func(tx *engine.Tx) error {
		var g *engine.BatchGrant
		if g, why = tx.Batches().Next(batchName, f.names[host], "", locality.Want{Jobs: want}); g == nil {
			return why
		}
		jobs, fetched = g.Jobs, len(g.Fetch)
		return nil
	})
	if err == nil {
		err = why
	}
	return jobs, fetched, err
}

func (f *fileSite) done(host int, now int64, job int) error {
	return f.update(now, &f.dones, func(tx *engine.Tx) error {
		_, err := tx.Batches().Done(batchName, f.names[host], []int{job})
		return err
	})
}

// report says how long the operations took, and what check finds.
func (f *fileSite) report() {
	for _, x := range []struct {
		name string
		took []time.Duration
	}{{"next", f.nexts}, {"done", f.dones}} {
		slices.Sort(x.took)
		sum := time.Duration(0)
		for _, d := range x.took {
			sum += d
		}
		n := len(x.took)
		fmt.Fprintf(os.Stderr, "%s: %d, %.0f a second, median %v, 99 of 100 below %v\n", x.name, n,
			float64(n)/sum.Seconds(), x.took[n/2], x.took[n*99/100])
	}
	if err := f.db.Check(func(s string) { fmt.Fprintln(os.Stderr, "check:", s) }); err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
	}
}
