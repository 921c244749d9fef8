package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
)

// line is a database in which jobs follow each other on one node.
type line struct {
	*testing.T
	db    *DB
	clock *clock
}

func newLine(t *testing.T) *line {
	db, clock := newDB(t)
	addNodes(t, db, "n", 1, 2)
	return &line{t, db, clock}
}

func (l *line) do(fn func(*Tx) error) {
	l.Helper()
	if err := l.db.Update(fn); err != nil {
		l.Fatal(err)
	}
}

func (l *line) submit(n int, asked time.Duration) {
	l.Helper()
	l.do(func(tx *Tx) error {
		for range n {
			if _, err := tx.Jobs().Submit(
				Submission{Request: placer.Request{Select: "1:ncpus=2", Walltime: asked, User: "ann"}}); err != nil {
				return err
			}
		}
		_, err := tx.Cycle().Run(CycleSpec{})
		return err
	})
}

func (l *line) end(job uint64) {
	l.Helper()
	l.do(func(tx *Tx) error {
		if _, err := tx.Jobs().Release(job); err != nil {
			return err
		}
		_, err := tx.Cycle().Run(CycleSpec{})
		return err
	})
}

func (l *line) forecast(spec ForecastSpec) {
	l.Helper()
	if err := l.db.Forecast(spec); err != nil {
		l.Fatal(err)
	}
}

// view returns the forecasts that readers see, and the count of commits that may let something start.
func (l *line) view() (fs *Forecasts, startable uint64) {
	l.Helper()
	err := l.db.View(func(tx *Tx) (err error) {
		fs, err = tx.Cycle().Forecasts()
		startable = tx.Cycle().Startable()
		return err
	})
	if err != nil {
		l.Fatal(err)
	}
	return fs, startable
}

// is checks the forecast of a job, in seconds from now.
func (l *line) is(job uint64, likely, safe, asked int64) {
	l.Helper()
	fs, _ := l.view()
	if fs == nil {
		l.Fatalf("job %d: no forecasts", job)
	}
	f, known := fs.Of(job)
	if got := [3]int64{kernel.Unix(f.Likely) - l.clock.t, kernel.Unix(f.Safe) - l.clock.t,
		kernel.Unix(f.Asked) - l.clock.t}; !known || got != [3]int64{likely, safe, asked} {
		l.Errorf("job %d is expected at %v (%v), want %v", job, got, known, [3]int64{likely, safe, asked})
	}
}

// TestForecasts: one forecast is kept for all readers, made from time to time, and does not
// change the revision. If nothing is learned, all of it is the play by requested walltimes.
func TestForecasts(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	l.submit(60, 100*time.Second)
	if fs, _ := l.view(); fs != nil {
		t.Error("a reader has played for 59 jobs")
	}
	_, before := l.view()
	l.forecast(ForecastSpec{Rarely: true})
	l.is(60, 5900, 5900, 5900)
	if _, after := l.view(); after != before {
		t.Error("a forecast raises the revision")
	}
	l.submit(1, 100*time.Second)
	l.forecast(ForecastSpec{Rarely: true})
	fs, _ := l.view()
	if _, known := fs.Of(61); known {
		t.Error("the queue was played twice within 30 s")
	}
	err := l.db.View(func(tx *Tx) error {
		fresh, err := tx.Cycle().FreshForecasts()
		if f, known := fresh.Of(61); err == nil && (!known || kernel.Unix(f.Likely) != l.clock.t+6000) {
			t.Errorf("job 61 is expected at %v", f.Likely)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	l.clock.t += 31
	l.forecast(ForecastSpec{Rarely: true})
	l.is(61, 5969, 5969, 5969)
}

// TestForecastFew: if there are few jobs, readers play for themselves, from the present state.
func TestForecastFew(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	l.submit(3, 100*time.Second)
	l.is(3, 200, 200, 200)
	l.forecast(ForecastSpec{Rarely: true})
	l.submit(1, 100*time.Second)
	l.is(4, 300, 300, 300)
}

// TestForecastLearns: likely starts depend on how long similar jobs ran that ended by
// themselves. The record depends on when jobs started that had a forecast.
func TestForecastLearns(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	l.submit(5, 100*time.Second)
	for job := range uint64(3) {
		l.clock.t += 10
		l.end(job + 1)
	}
	l.is(5, 10, 100, 100) // job 4 runs
	l.do(func(tx *Tx) error { _, err := tx.Jobs().Cancel(4, ""); return err })
	l.submit(2, 100*time.Second) // job 5 runs
	l.is(7, 20, 200, 200)
	l.forecast(ForecastSpec{})
	l.clock.t += 30
	l.is(6, 35, 70, 70) // it has run for longer than any: half of the rest
	l.end(5)
	l.forecast(ForecastSpec{})
	fs, _ := l.view()
	if kept, of := fs.Record(); kept != 1 || of != 1 {
		t.Errorf("%d of %d started by their safe start, want 1 of 1", kept, of)
	}
}

// TestForecastKeepsPastRuns: durations count after their jobs were archived or dropped.
func TestForecastKeepsPastRuns(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(l *line) error{
		"archived": func(l *line) error {
			_, err := l.db.Archive(t.TempDir()+"/old.jsonl", time.Unix(l.clock.t+1, 0), nil)
			return err
		},
		"dropped": func(l *line) error {
			l.do(func(tx *Tx) error { return tx.Config().Set("keep_ended", "1s") })
			l.clock.t += 2
			l.do(func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{}); return err })
			l.clock.t -= 2
			return nil
		},
	} {
		l := newLine(t)
		l.submit(6, 100*time.Second)
		for job, ran := range []int64{10, 10, 30, 30} {
			l.clock.t += ran
			l.end(uint64(job + 1))
		}
		l.is(6, 10, 100, 100) // the median of 10, 10, 30, 30
		if err := remove(l); err != nil {
			t.Fatal(err)
		}
		err := l.db.View(func(tx *Tx) error {
			if _, err := tx.Jobs().Get(4); !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: job 4 is still there: %v", name, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		l.is(6, 10, 100, 100)
		l.clock.t += 50
		l.end(5)
		l.submit(1, 100*time.Second)
		l.is(7, 30, 100, 100) // the median of 10, 10, 30, 30, 50
		if err := l.db.Check(func(finding string) { t.Error(finding) }); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPastRunsBounded: only the last runs of removed jobs are kept.
func TestPastRunsBounded(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	l.submit(1, 100*time.Second)
	l.end(1)
	l.do(func(tx *Tx) error {
		for job := range uint64(queue.LearnedFrom + 1) {
			p := row.PastRun{Job: job + 10, Asked: 1}
			if err := tx.k.File.Put(row.PastRuns, row.Key64(p.Job), row.PastRunRow.Encode(&p)); err != nil {
				return err
			}
		}
		return queue.RemoveEnded(tx.k, []uint64{1})
	})
	err := l.db.View(func(tx *Tx) error {
		n, first := 0, uint64(0)
		return errors.Join(tx.k.File.Each(row.PastRuns, nil, func(key, _ []byte) (bool, error) {
			if n++; n == 1 {
				first = row.Number64(key)
			}
			return true, nil
		}), func() error {
			if n != queue.LearnedFrom || first != 11 {
				t.Errorf("%d runs are kept, the first of job %d", n, first)
			}
			return nil
		}())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPlayFirst: only the first jobs of a long queue are played, and later ones start later.
func TestPlayFirst(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	l.submit(8, 100*time.Second)
	err := l.db.View(func(tx *Tx) error {
		p, err := queue.PlayInMemory(tx.k, PlaySpec{First: 5})
		if err == nil && (p.Behind != 2 || len(p.Waiting) != 5 || p.Started[6] != l.clock.t+500 || p.Started[7] != 0) {
			t.Errorf("%d are behind, %d were played, job 6 starts at %d, job 7 at %d", p.Behind, len(p.Waiting),
				p.Started[6], p.Started[7])
		}
		if err == nil {
			p, err = queue.PlayInMemory(tx.k, PlaySpec{Done: func() bool { return true }})
		}
		if err == nil && p.Whole {
			t.Error("a play that has no time is whole")
		}
		j, errJob := tx.Jobs().Get(2)
		if err == nil && errJob == nil && j.State == JobRunning {
			t.Error("a reader sees what was played")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
