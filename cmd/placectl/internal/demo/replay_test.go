package demo

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
)

// Replay is a replay in progress.
type Replay struct {
	DB    *engine.DB
	clock int64 // the database's present instant, in Unix seconds
}

// Replay makes a database and lets the recorded time pass in it, instant by instant. At each one it finishes
// jobs that have ended, submits new ones, and makes a cycle, which starts and plans waiting jobs.
func (d *Data) Replay(t *testing.T, path string) *engine.DB {
	t.Helper()
	p := &Replay{clock: d.From}
	opt := &engine.Options{Now: func() time.Time { return time.Unix(p.clock, 0) }, AnyTime: true}
	err := engine.Create(path, opt, d.setUp)
	if err == nil {
		p.DB, err = engine.Open(path, opt)
	}
	if err == nil {
		err = p.pass(d)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.DB.Close() })
	return p.DB
}

// due is an instant with something to do.
type due struct {
	at  int64
	job uint64 // the job that has ended; 0: a planned job begins, or a reservation ends
}

// agenda holds what is due in order of time, each thing once.
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

// pass processes all instants at which something happens.
func (p *Replay) pass(d *Data) error {
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
		p.clock = at
		now := instant{data: d}
		now.due = todo[:countWhile(todo, func(e due) bool { return e.at <= at })]
		now.jobs = jobs[:countWhile(jobs, func(j *Job) bool { return j.Submit <= at })]
		if err := p.DB.Update(now.update); err != nil {
			return err
		}
		jobs, todo = jobs[len(now.jobs):], todo[len(now.due):]
		for _, j := range now.begun {
			todo.add(j.Start.Unix()+d.byName[j.Name].Run, j.ID)
		}
		for _, j := range now.planned {
			todo.add(j.Start.Unix(), 0)
		}
	}
	p.clock = d.Until
	return p.DB.Update(d.fail)
}

func countWhile[T any](list []T, is func(T) bool) int {
	for i := range list {
		if !is(list[i]) {
			return i
		}
	}
	return len(list)
}

// instant is what is done at an instant, and the result.
type instant struct {
	data    *Data
	due     []due
	jobs    []*Job // to be submitted
	begun   []*engine.Job
	planned []*engine.Job // jobs with a start in the future
}

func (now *instant) update(tx *engine.Tx) error {
	now.planned = nil
	for _, e := range now.due {
		if e.job == 0 {
			continue
		}
		if err := now.end(tx, e.job); err != nil {
			return err
		}
	}
	for _, j := range now.jobs {
		q := j.Request
		sub := engine.Submission{Request: q}
		if j.Peak > 0 { // only jobs executed here can have their memory counted
			sub.Command = []string{q.Name}
		}
		if _, err := tx.Jobs().Submit(sub); err != nil {
			return fmt.Errorf("%s (%s): %w", q.Name, j.Asked, err)
		}
	}
	report, err := tx.Cycle().Run(engine.CycleSpec{})
	if err != nil {
		return err
	}
	now.begun = report.Launch
	err = tx.Jobs().Each(func(j *engine.Job) error {
		if now.data.byName[j.Name].Peak == 0 || j.Start.Unix() != tx.Now().Unix() {
			return nil
		}
		now.begun = append(now.begun, j)
		_, err := tx.Attempts().Claim(claimOf(j))
		return err
	}, engine.JobRunning)
	if err != nil {
		return err
	}
	return tx.Jobs().Each(func(j *engine.Job) error { now.planned = append(now.planned, j); return nil },
		engine.JobReserved)
}

// claimOf returns the claim of a job whose memory use is known.
func claimOf(j *engine.Job) engine.Claim {
	c := engine.Claim{Job: j.ID, Attempt: 1, By: engine.BySupervisor, Nonce: engine.Nonce{byte(j.ID), byte(j.ID >> 8),
		1}}
	c.Host = "zegox1"
	return c
}

// end ends a job as recorded.
func (now *instant) end(tx *engine.Tx, id uint64) error {
	j, err := tx.Jobs().Get(id)
	if err != nil {
		return err
	}
	is := now.data.byName[j.Name]
	if is.Peak == 0 {
		_, err = tx.Jobs().Finish(id, is.Exit, "")
		return err
	}
	c := claimOf(j)
	cpu := time.Duration(is.Run) * time.Second
	_, err = tx.Attempts().Report(engine.Result{Job: id, Attempt: c.Attempt, Nonce: c.Nonce,
		Outcome: engine.OutcomeExited, Exit: is.Exit,
		Use: engine.ResourceUse{CPUUser: cpu * 9 / 10, CPUSystem: cpu / 20, MaxRSS: is.Peak, MemPeak: is.Peak}})
	return err
}

// fail takes a node out of service.
func (d *Data) fail(tx *engine.Tx) error {
	n, err := tx.Nodes().Get(failing)
	if err != nil {
		return err
	}
	return errors.Join(tx.Nodes().SetState(n.Number, index.Down, "memory errors"), tx.Config().Set("launch", ""))
}
