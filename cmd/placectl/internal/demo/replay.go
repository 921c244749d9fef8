package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/placectl/placectl/store"
)

// Replay is one replay: a database, and what made it.
type Replay struct {
	DB           *store.DB
	Policy       string // by which nodes are taken, "" for the default
	Transactions int
	Took         time.Duration
	clock        int64 // the instant that it is in the database, in Unix seconds
}

// Replay makes a database and lets the recorded time pass in it, instant by instant:
// at each one jobs that ended are finished, new ones are submitted, and a cycle starts
// and plans what waits. An instant is a transaction, on disk before the next begins.
// opt gets the replay's clock; seen is told how many jobs were submitted. When it
// fails the database is gone again.
func (d *Data) Replay(ctx context.Context, path string, opt *store.Options, policy string, seen func(jobs int)) (*Replay, error) {
	p := &Replay{Policy: policy, clock: d.From}
	opt.Now = func() time.Time { return time.Unix(p.clock, 0) }
	opt.Private = true // nobody else knows the file yet
	opt.AnyTime = true // people look at it as of its own time
	err := store.Create(path, opt, func(tx *store.Tx) error {
		if policy != "" {
			if err := tx.Configure("policy", policy); err != nil {
				return err
			}
		}
		return d.setUp(tx)
	})
	if err != nil {
		return nil, err
	}
	if p.DB, err = store.Open(path, opt); err == nil {
		err = p.pass(ctx, d, seen)
	}
	if err != nil {
		return nil, errors.Join(err, p.Discard(path))
	}
	return p, nil
}

// Discard closes the database and removes it.
func (p *Replay) Discard(path string) (err error) {
	if p.DB != nil {
		err = p.DB.Close()
	}
	return errors.Join(err, os.Remove(path))
}

// due is an instant at which there is something to do.
type due struct {
	at  int64
	job uint64 // it has ended; 0 for none: a planned job begins, or a reservation ends
}

// agenda is what is due, in order of time, each thing once.
type agenda []due

func (a *agenda) add(at int64, job uint64) {
	e := due{at, job}
	i, known := slices.BinarySearchFunc(*a, e, func(x, y due) int {
		return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.job, y.job))
	})
	if !known {
		*a = slices.Insert(*a, i, e)
	}
}

// pass goes through all instants at which something happens.
func (p *Replay) pass(ctx context.Context, d *Data, seen func(int)) error {
	began := time.Now()
	var todo agenda
	for _, v := range d.reservations() {
		todo.add(v.start+int64(v.lasts/time.Second), 0)
	}
	jobs := d.Jobs
	for {
		at := d.Until + 1
		if len(todo) > 0 {
			at = todo[0].at
		}
		if len(jobs) > 0 {
			at = min(at, jobs[0].Submit)
		}
		if at > d.Until {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		p.clock = at
		now := instant{}
		now.due = todo[:countWhile(todo, func(e due) bool { return e.at <= at })]
		now.jobs = jobs[:countWhile(jobs, func(j *Job) bool { return j.Submit <= at })]
		if err := p.DB.Update(now.update); err != nil {
			return err
		}
		p.Transactions++
		jobs, todo = jobs[len(now.jobs):], todo[len(now.due):]
		for _, j := range now.begun {
			todo.add(j.Start.Unix()+d.byName[j.Name].Run, j.ID)
		}
		for _, j := range now.planned {
			todo.add(j.Start.Unix(), 0)
		}
		seen(len(now.jobs))
	}
	p.clock = d.Until
	p.Took = time.Since(began)
	return nil
}

func countWhile[T any](list []T, is func(T) bool) int {
	for i := range list {
		if !is(list[i]) {
			return i
		}
	}
	return len(list)
}

// instant is what is done at one, and what came of it.
type instant struct {
	due     []due
	jobs    []*Job // to be submitted
	begun   []*store.Job
	planned []*store.Job // they have a start to come
}

func (now *instant) update(tx *store.Tx) error {
	now.planned = nil
	for _, e := range now.due {
		if e.job == 0 {
			continue
		}
		if _, err := tx.Finish(e.job, 0, ""); err != nil {
			return err
		}
	}
	for _, j := range now.jobs {
		q := j.Request
		if _, err := tx.Submit(store.Submission{Request: q}); err != nil {
			return fmt.Errorf("%s (%s): %w", q.Name, j.Asked, err)
		}
	}
	report, err := tx.Cycle(store.CycleSpec{})
	if err != nil {
		return err
	}
	now.begun = report.Launch
	return tx.EachJob(func(j *store.Job) error { now.planned = append(now.planned, j); return nil }, store.JobReserved)
}
