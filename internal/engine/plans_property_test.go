package engine

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"pgregory.net/rapid"
)

var longPlans = flag.Bool("long-plans", false,
	"TestPlans with as many lives as -rapid.checks says, and more jobs in each")

// plansLife lives the life of a random queue: nodes, jobs and arrays come and go, and in between there
// are quiet times, in which jobs end as they should and nothing else happens.
type plansLife struct {
	*rapid.T
	db    *DB
	clock *clock
	what  string // the settings, for messages
	stats *plansStats
}

// plansStats counts how often each law applied.
type plansStats struct{ settled, stood, earliest, told int }

func (l *plansLife) draw(what string, from, to int) int {
	return rapid.IntRange(from, to).Draw(l.T, what)
}

func (l *plansLife) of(what string, words ...string) string {
	return rapid.SampledFrom(words).Draw(l.T, what)
}

func (l *plansLife) update(fn func(*Tx) error) {
	l.Helper()
	if err := l.db.Update(fn); err != nil && !kernel.IsRefusal(err) && !errors.Is(err, ErrConflict) &&
		!errors.Is(err, ErrNotFound) {
		l.Fatalf("%s at %d: %v", l.what, l.clock.t, err)
	}
}

// begin makes nodes and settings.
func (l *plansLife) begin() {
	for i := range l.draw("nodes", 1, 4) {
		n := &index.Node{Name: fmt.Sprint("n", i)}
		n.Set(index.NCPUs, index.Value{Num: int64(l.draw("ncpus", 1, 4))})
		n.Set(index.Mem, index.Value{Num: int64(l.draw("mem", 1, 8)) << 20})
		l.update(func(tx *Tx) error { _, err := tx.Nodes().Put(n); return err })
	}
	set := [][2]string{{"backfill", l.of("backfill", "fcfs", "easy", "conservative", "conservative", "relaxed")},
		{"depth", l.of("depth", "1", "2", "3")}, {"slack", l.of("slack", "0", "0.5", "1")},
		{"policy", l.of("policy", "firstavailable", "minresource", "maxbalance", "cpuload")},
		{"job_priority", l.of("job_priority", "PRIORITY", "100-SIZE", "PRIORITY+SIZE")}}
	l.what = fmt.Sprint(set)
	l.update(func(tx *Tx) error {
		for _, s := range set {
			if err := tx.Config().Set(s[0], s[1]); err != nil {
				return err
			}
		}
		return nil
	})
}

// act does something that may move plans.
func (l *plansLife) act() {
	switch l.of("act", "submit", "submit", "submit", "submit", "limit", "node", "hold", "cancel", "done", "time") {
	case "submit":
		mem := l.of("mem", "", "", ":mem=2gb", ":mem=4gb")
		s := Submission{
			Request: placer.Request{Select: fmt.Sprintf("%d:ncpus=%d%s", l.draw("chunks", 1, 3), l.draw("cpus", 1, 4),
				mem), Place: l.of("place", "free", "free", "pack", "scatter", "free:excl"),
				Walltime: time.Duration(60*l.draw("walltime", 1, 15)) * time.Second,
				User:     l.of("user", "ann", "bob", "cyd"), Account: l.of("account", "", "a", "b")},
			Priority: int64(l.draw("priority", 0, 5))}
		if l.draw("array", 1, 4) == 1 {
			s.Array, s.Throttle = l.draw("elements", 2, 5), l.draw("throttle", 0, 2)
		}
		l.update(func(tx *Tx) error { _, err := tx.Jobs().Submit(s); return err })
	case "limit":
		limit := Limit{Key: l.of("key", "account=*", "user=*", "user=ann", "all"),
			Measure: l.of("measure", "running", "ncpus"), Max: int64(l.draw("max", 1, 6))}
		l.update(func(tx *Tx) error { return tx.Limits().Set(limit) })
	case "node":
		n, state := uint32(l.draw("node", 0, 3)),
			rapid.SampledFrom([]index.State{index.Up, index.Up, index.Drained, index.Offline}).Draw(l.T, "state")
		l.update(func(tx *Tx) error { return tx.Nodes().SetState(n, state, "") })
	case "time":
		l.quiet(l.clock.t + int64(l.draw("seconds", 1, 300)))
	default:
		n, how := l.draw("which", 0, 30), l.of("how", "hold", "cancel", "done")
		l.update(func(tx *Tx) error {
			var live []uint64
			err := tx.Jobs().Each(func(j *Job) error { live = append(live, j.ID); return nil }, JobQueued, JobReserved,
				JobRunning)
			if len(live) == 0 || err != nil {
				return err
			}
			switch id := live[n%len(live)]; how {
			case "hold":
				_, err = tx.Jobs().Hold(id, "")
			case "cancel":
				_, err = tx.Jobs().Cancel(id, "")
			default:
				_, err = tx.Jobs().Finish(id, 0, "")
			}
			return err
		})
	}
}

// settle makes cycles until nothing changes, and verifies that no plan could be earlier.
func (l *plansLife) settle() {
	for i := 0; ; i++ {
		var was, is string
		l.update(func(tx *Tx) error {
			was = statesOf(tx)
			_, err := tx.Cycle().Run(CycleSpec{})
			is = statesOf(tx)
			return err
		})
		if was == is {
			break
		}
		if i == stillAfter {
			l.told("cycles do not come to rest")
		}
	}
	l.stats.settled++
	l.noneEarlier()
}

// noneEarlier: no job with a plan could start earlier beside the plans of all others. A promise is kept
// as it is.
func (l *plansLife) noneEarlier() {
	err := l.db.DryRun(func(tx *Tx) error {
		line, err := queue.InOrder(tx.k)
		if err != nil {
			return err
		}
		for _, j := range line {
			if j.State != JobReserved || j.Promised != 0 {
				continue
			}
			l.stats.earliest++
			if at, err := earliestOf(tx, j); err != nil || at < j.Start {
				return errors.Join(err, fmt.Errorf("job %d is planned for %d, and could start at %d", j.ID, j.Start,
					at))
			}
		}
		return nil
	})
	if err != nil {
		l.told("%v", err)
	}
}

// earliestOf returns the earliest start of a planned job beside the plans of all others.
func earliestOf(tx *Tx, j *row.Job) (at int64, err error) {
	a, err := plan.AskOfJob(tx.k, j)
	if err != nil {
		return 0, err
	}
	snap, err := plan.Snapshot(tx.k, j.Queue)
	if err != nil {
		return 0, err
	}
	spans, err := tx.k.Allocations().Spans(j)
	if err == nil {
		err = jobs.LeaveNodes(tx.k, j)
	}
	if err != nil {
		return 0, err
	}
	found, err := snap.Earliest(a, max(tx.k.Now, j.Begin))
	if err == nil {
		at = found.Start
	}
	return at, errors.Join(err, plan.OccupyAgain(tx.k, j, spans, j.State))
}

// quiet lets time pass until an instant. Each job ends at its end, which its keeper reports at once, and
// there is a cycle whenever something is due. No plan gets later, unless a job before it had none; and a
// play at the beginning has told when jobs start.
func (l *plansLife) quiet(until int64) {
	l.settle()
	told := l.play()
	for {
		plans := l.plans()
		next := l.next()
		if next == 0 || next > until {
			l.clock.t = until
			return
		}
		l.clock.t = next
		var due []uint64
		l.update(func(tx *Tx) error {
			due = nil
			return tx.Jobs().Each(func(j *Job) error {
				if kernel.Unix(j.End) <= next {
					due = append(due, j.ID)
				}
				return nil
			}, JobRunning)
		})
		reports := [][]uint64{due}
		if l.draw("reports", 0, 1) == 1 { // one by one
			reports = slices.Collect(slices.Chunk(due, 1))
		}
		for _, ended := range reports {
			l.update(func(tx *Tx) error {
				for _, id := range ended {
					if _, err := tx.Jobs().Finish(id, 0, ""); err != nil {
						return err
					}
				}
				return nil
			})
		}
		l.settle()
		l.plansStand(plans)
		l.asTold(told)
	}
}

// next returns the next instant at which something is due, 0 for none.
func (l *plansLife) next() (at int64) {
	l.update(func(tx *Tx) error {
		t, err := tx.Cycle().NextChange()
		if !t.IsZero() {
			at = kernel.Unix(t)
		}
		return err
	})
	return at
}

// plans returns the jobs of the queue, in its order.
func (l *plansLife) plans() (line []*row.Job) {
	err := l.db.DryRun(func(tx *Tx) (err error) {
		line, err = queue.InOrder(tx.k)
		return err
	})
	if err != nil {
		l.Fatal(err)
	}
	return line
}

func (l *plansLife) plansStand(before []*row.Job) {
	err := l.db.DryRun(func(tx *Tx) error {
		unplanned := false
		for _, was := range before {
			j, err := tx.k.Job(was.ID)
			if err != nil {
				return err
			}
			if was.State != JobReserved {
				unplanned = unplanned || j.State == JobReserved || j.State == JobRunning || was.State == JobQueued &&
					j.Start != was.Start
				continue
			}
			l.stats.stood++
			if stands := j.State != JobQueued && j.Start <= was.Start; !stands && !unplanned {
				return fmt.Errorf("the plan of job %d was put off from %d to %d (%s)", j.ID, was.Start, j.Start,
					j.State)
			}
		}
		return nil
	})
	if err != nil {
		l.told("%v", err)
	}
}

// play returns when jobs start, as a play says.
func (l *plansLife) play() map[uint64]int64 {
	told := make(map[uint64]int64)
	err := l.db.View(func(tx *Tx) error {
		return tx.Suppose(func(tx *Tx) error {
			list, err := tx.Cycle().Play(PlaySpec{})
			for _, p := range list {
				told[p.Job] = kernel.Unix(p.Start)
			}
			return err
		})
	})
	if err != nil {
		l.Fatal(err)
	}
	return told
}

// asTold: what has started has started when a play said.
func (l *plansLife) asTold(told map[uint64]int64) {
	err := l.db.View(func(tx *Tx) error {
		return tx.Jobs().Each(func(j *Job) error {
			at, waited := told[j.ID]
			if waited {
				l.stats.told++
			}
			if waited && at != kernel.Unix(j.Start) {
				return fmt.Errorf("job %d starts at %d in a play, and at %d when it comes to it", j.ID, at,
					kernel.Unix(j.Start))
			}
			return nil
		}, JobRunning)
	})
	if err != nil {
		l.told("%v", err)
	}
}

// told ends a life with a message, and shows the jobs as they are.
func (l *plansLife) told(format string, args ...any) {
	for _, j := range l.plans() {
		l.Logf("job %d of %s: %s, priority %d, %s %s for %d, nodes %v from %d to %d: %s", j.ID, j.User, j.State,
			j.Priority, j.Select, j.Place, j.Walltime, j.AllNodes(), j.Start, j.End, j.Reason)
	}
	_ = l.db.View(func(tx *Tx) error {
		return tx.EachEvent(0, func(ev *Event) (bool, error) {
			if kernel.Unix(ev.Time) > l.clock.t-400 {
				l.Logf("%d: %d %s %s %s-%s %s", kernel.Unix(ev.Time), ev.Job, ev.Node, ev.Event, ev.Old, ev.New,
					ev.Reason)
			}
			return true, nil
		})
	})
	l.Fatalf("%s at %d: %s", l.what, l.clock.t, fmt.Sprintf(format, args...))
}

// TestPlans: while jobs end as planned and nothing else happens, no plan of the queue gets later, none
// could be earlier, and each job starts when a play said. For every flavour of backfill, policies,
// priorities, limits, arrays and nodes that are drained. -long-plans makes all lives of -rapid.checks
// longer; without it a sample is lived.
func TestPlans(t *testing.T) {
	t.Parallel()
	stats, lives, failed := new(plansStats), 0, false
	rapid.Check(t, func(rt *rapid.T) {
		if lives++; !*longPlans && lives > 40 && !failed {
			return
		}
		defer func() { failed = failed || rt.Failed() }()
		db, clock := newDB(t)
		defer db.Close()
		l := &plansLife{rt, db, clock, "", stats}
		l.begin()
		most := 4
		if *longPlans {
			most = 10
		}
		for range l.draw("rounds", 1, most) {
			for range l.draw("acts", 1, 8) {
				l.act()
			}
			l.quiet(l.clock.t + int64(l.draw("seconds", 1, 3000)))
		}
	})
	t.Logf("%+v", *stats)
}

// TestBeginsWhenReported: jobs that are reported to have ended at their end make no plan move, in
// whichever order they are reported, and whatever is committed between them. The job planned on their
// nodes begins in the commit of the last report. Without it, a cycle puts that job off, or the next
// change after that instant.
func TestBeginsWhenReported(t *testing.T) {
	t.Parallel()
	finish := func(id uint64) func(*Tx) error {
		return func(tx *Tx) error { _, err := tx.Jobs().Finish(id, 0, ""); return err }
	}
	cycle := func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{}); return err }
	other := func(tx *Tx) error { return tx.Config().Set("default_walltime", "60") }
	for _, c := range []struct {
		name  string
		after int64
		does  []func(*Tx) error
		want  JobState
	}{
		{"both reported", 0, []func(*Tx) error{finish(1), other, finish(2)}, JobRunning},
		{"one reported", 0, []func(*Tx) error{other, finish(2)}, JobReserved},
		{"a cycle decides", 0, []func(*Tx) error{finish(1), cycle}, JobLate},
		{"the instant is over", 1, []func(*Tx) error{finish(1), other}, JobLate},
	} {
		for _, backfill := range []string{"easy", "conservative"} {
			db, clock := newDB(t)
			addNodes(t, db, "n", 1, 2)
			update := func(fn func(*Tx) error) {
				t.Helper()
				if err := db.Update(fn); err != nil {
					t.Fatal(err)
				}
				if err := db.Check(func(finding string) { t.Error(c.name, finding) }); err != nil {
					t.Fatal(err)
				}
			}
			update(func(tx *Tx) error { return tx.Config().Set("backfill", backfill) })
			for _, s := range []string{"1:ncpus=1", "1:ncpus=1", "1:ncpus=2"} {
				update(func(tx *Tx) error {
					_, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: s, Walltime: time.Minute}})
					return err
				})
			}
			update(cycle)
			planned := clock.t + 60
			clock.t = planned + c.after
			for _, fn := range c.does {
				update(fn)
			}
			err := db.View(func(tx *Tx) error {
				j, err := tx.Jobs().Get(3)
				if err != nil {
					return err
				}
				is, want := j.State, c.want
				if want == JobLate { // it has another plan
					want = JobReserved
				}
				if stands := kernel.Unix(j.Start) == planned; is != want || stands != (c.want != JobLate) {
					t.Errorf("%s, %s: job 3 is %s from %d; it was planned for %d", c.name, backfill, is,
						kernel.Unix(j.Start), planned)
				}
				next, err := tx.Cycle().NextChange()
				if waits := kernel.Unix(next) == clock.t; waits != (c.want == JobReserved) {
					t.Errorf("%s, %s: the next change is at %d, and it is %d", c.name, backfill, kernel.Unix(next),
						clock.t)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestPlayPassesAbsent: in a play, too, a job that waits for nodes out of service blocks no other, and
// the next ones start when it comes to them.
func TestPlayPassesAbsent(t *testing.T) {
	t.Parallel()
	db, clock := newDB(t)
	addNodes(t, db, "n", 2, 4)
	err := db.Update(func(tx *Tx) error {
		for _, set := range [][2]string{{"backfill", "fcfs"}, {"job_priority", "100*PRIORITY+SIZE"}} {
			if err := tx.Config().Set(set[0], set[1]); err != nil {
				return err
			}
		}
		for i, s := range []string{"1:ncpus=4", "2:ncpus=4", "2:ncpus=2"} {
			if _, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: s, Walltime: time.Minute},
				Priority: int64(-i)}); err != nil {
				return err
			}
		}
		if err := tx.Nodes().SetState(1, index.Offline, ""); err != nil {
			return err
		}
		_, err := tx.Cycle().Run(CycleSpec{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(func(tx *Tx) error {
		return tx.Suppose(func(tx *Tx) error {
			list, err := tx.Cycle().Play(PlaySpec{})
			if len(list) != 2 || !list[0].Start.IsZero() || kernel.Unix(list[1].Start) != clock.t+60 {
				t.Errorf("the queue plays as %+v, want job 3 at %d", list, clock.t+60)
			}
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}
