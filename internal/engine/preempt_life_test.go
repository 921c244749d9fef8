package engine

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/placer/subject"
	"pgregory.net/rapid"
)

// preemptLife is a random life of a queue whose jobs make way for others. Rules come and go,
// and jobs have no executor, a launcher or supervisors. After each cycle it verifies from the
// rows alone which jobs were stopped, for which others, and whether that was necessary.
type preemptLife struct {
	*life
	jobs  uint64
	nonce byte
	way   Claimant // what executes the jobs
	stops int
	soft  int // of them, for soft limits
}

func (l *preemptLife) submit(t *rapid.T) {
	s := Submission{
		Request: placer.Request{Select: rapid.SampledFrom([]string{"1:ncpus=1", "2:ncpus=1", "1:ncpus=2", "3:ncpus=2",
			"4:ncpus=1", "1:ncpus=1+1:ncpus=2"}).Draw(t, "select"),
			Place:    rapid.SampledFrom([]string{"free", "scatter", "excl"}).Draw(t, "place"),
			Walltime: time.Duration(rapid.IntRange(30, 1500).Draw(t, "walltime")) * time.Second,
			User:     rapid.SampledFrom(l.users).Draw(t, "user"),
			Class:    rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "class")},
		NoRequeue: rapid.IntRange(0, 4).Draw(t, "no requeue") == 0,
		Priority:  int64(rapid.SampledFrom([]int{0, 0, 5}).Draw(t, "priority"))}
	s.Command = []string{"true"}
	if l.both("submit", func(tx *Tx) (any, error) { return jobsOrNil(tx.Jobs().Submit(s)) }) == nil {
		l.jobs++
	}
}

func jobsOrNil(list []*Job, err error) (any, error) { return len(list), err }

func (l *preemptLife) rule(t *rapid.T) {
	r, err := preempt.Parse(
		rapid.SampledFrom([]string{"class=a over all", "class=a over class=b", "class=b over class=c",
			"class=c over class=a", "user=ann over user=bob", "soft", "soft"}).Draw(t, "rule"))
	if err != nil {
		t.Fatal(err)
	}
	r.How = preempt.How(rapid.IntRange(0, 1).Draw(t, "how"))
	r.Grace = rapid.SampledFrom([]int64{preempt.OwnGrace, 0, 5, 100}).Draw(t, "grace")
	r.MinRun = rapid.SampledFrom([]int64{0, 0, 60}).Draw(t, "min run")
	r.AtMost = rapid.SampledFrom([]int{0, 1, 3}).Draw(t, "at most")
	gone := rapid.IntRange(0, 3).Draw(t, "gone") == 0
	err = l.dbs[0].DryRun(func(tx *Tx) error { return tx.Preemption().Set(r) })
	if errors.Is(err, ErrInvalid) { // a circle
		return
	}
	_ = l.both("rule "+r.String(), func(tx *Tx) (any, error) {
		if gone {
			return nil, tx.Preemption().Remove(r.String())
		}
		return nil, tx.Preemption().Set(r)
	})
}

// limit sets how many may be had without making way.
func (l *preemptLife) limit(t *rapid.T) {
	limit := Limit{Key: rapid.SampledFrom([]string{"user=*", "user=ann", "class=*", "all"}).Draw(t, "key"),
		Measure: rapid.SampledFrom([]string{"running", "ncpus"}).Draw(t, "measure"),
		Soft:    true, Max: int64(rapid.IntRange(0, 4).Draw(t, "max"))}
	_ = l.both(fmt.Sprint("limit ", limit), func(tx *Tx) (any, error) { return nil, tx.Limits().Set(limit) })
}

// softly verifies that a job could be stopped for another because of soft limits: it was
// beyond one, and the other is within all.
func softly(tx *Tx, before map[uint64]*row.Job, was, other *row.Job) error {
	var list []lawLimit
	if err := tx.Limits().Each(func(l Limit) error { list = append(list, lawOf(l)); return nil }); err != nil {
		return err
	}
	running := func(l *lawLimit, of *row.Job, earlier func(*row.Job) bool) (sum int64) {
		for _, j := range before {
			if j.State == JobRunning && j.ID != of.ID && earlier(j) && l.isFor(kernel.JobOf(j)) &&
				l.group(kernel.JobOf(j)) == l.group(kernel.JobOf(of)) {
				sum += l.amount(kernel.JobOf(j))
			}
		}
		return sum + l.amount(kernel.JobOf(of))
	}
	beyond := false
	for i := range list {
		l := &list[i]
		better := func(o lawLimit) bool { return o.beats(l) }
		if l.isFor(kernel.JobOf(was)) && !slices.ContainsFunc(list, func(o lawLimit) bool {
			return better(o) && o.isFor(kernel.JobOf(was))
		}) {
			beyond = beyond ||
				running(l, was, func(j *row.Job) bool {
					return j.Start < was.Start || j.Start == was.Start &&
						j.ID < was.ID
				}) > l.Max
		}
		if l.isFor(kernel.JobOf(other)) && !slices.ContainsFunc(list,
			func(o lawLimit) bool { return better(o) && o.isFor(kernel.JobOf(other)) }) &&
			l.amount(kernel.JobOf(other)) > l.Max {
			return fmt.Errorf("job %d was stopped for %d, which is beyond %s %s=%d by itself", was.ID, other.ID, l.Key,
				l.Measure, l.Max)
		}
	}
	if !beyond {
		return fmt.Errorf("job %d was stopped for %d, and was beyond no soft limit", was.ID, other.ID)
	}
	return nil
}

// full starts many long jobs with executors, and submits one that would preempt them.
func (l *preemptLife) full(t *rapid.T) {
	for range 8 {
		l.submit(t)
	}
	l.cycle(t)
	for range 4 {
		l.execute(t)
	}
	l.clock.t += int64(rapid.SampledFrom([]int{1, 61}).Draw(t, "run for"))
	l.submit(t)
	l.cycle(t)
}

// execute claims, reports and ends running jobs.
func (l *preemptLife) execute(t *rapid.T) {
	if l.jobs == 0 {
		t.Skip("no jobs")
	}
	id, status := rapid.Uint64Range(1, l.jobs).Draw(t, "job"), rapid.IntRange(0, 1).Draw(t, "status")
	late := rapid.Bool().Draw(t, "late")
	l.nonce++
	_ = l.both(fmt.Sprint("execute ", id), func(tx *Tx) (any, error) {
		j, err := tx.Jobs().Get(id)
		if err != nil || j.State != JobRunning {
			return nil, err
		}
		a, err := tx.Attempts().Get(id, 0)
		switch {
		case err != nil:
			return nil, err
		case l.way == BySupervisor && a.State == AttemptStarted:
			_, err := tx.Attempts().Claim(Claim{Job: id, Attempt: a.Number, By: BySupervisor, Nonce: Nonce{l.nonce, 1},
				Process: Process{Host: "n0", PID: 3}})
			return nil, err
		case l.way == BySupervisor && a.State == AttemptEnding && !late:
			return jobOrNil(
				tx.Attempts().Report(Result{Job: id, Attempt: a.Number, Nonce: a.Nonce, Outcome: OutcomeStopped}))
		case l.way == BySupervisor:
			return nil, nil
		}
		return jobOrNil(tx.Jobs().Finish(id, status, ""))
	})
}

func (l *preemptLife) cycle(t *rapid.T) {
	spec := CycleSpec{Backfill: Backfill(rapid.IntRange(1, 4).Draw(t, "backfill")), By: l.way, Nonce: Nonce{9}}
	rows := func() map[uint64]*row.Job { return (&queueLife{life: l.life}).snapshot() }
	// what the clock has brought
	_ = l.both("settle", func(tx *Tx) (any, error) { return nil, tx.Config().Set("default_walltime", "3600") })
	before := rows()
	_ = l.both(fmt.Sprintf("cycle %+v", spec), func(tx *Tx) (any, error) {
		r, err := tx.Cycle().Run(spec)
		if err != nil {
			return nil, err
		}
		return fmt.Sprint(ids(r.Started), ids(r.Planned), ids(r.Stopped), r.Waiting), nil
	})
	err := l.dbs[0].DryRun(func(tx *Tx) error {
		ranks, err := users.Ranks(tx.k.File)
		if err != nil {
			return err
		}
		return l.stopped(tx, ranks, before)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// stopped verifies which jobs a cycle has stopped.
func (l *preemptLife) stopped(tx *Tx, ranks *preempt.Ranks, before map[uint64]*row.Job) error {
	sets := make(map[uint64][]*row.Job) // the stopped jobs as they were, by the job for which they were stopped
	changed := 0
	err := tx.k.EachJob(func(j *row.Job) error {
		was := before[j.ID]
		// its time had come, and it began before the queue had its turn: elsewhere if a job before it was overdue
		due := was.State == JobReserved && was.Start <= tx.k.Now
		switch n := len(j.YieldedTo) - len(was.YieldedTo); {
		case n == 0:
			if j.State != was.State || j.Start != was.Start || j.End != was.End {
				changed++
			}
			return nil
		case n != 1 || was.State != JobRunning && !due || was.Ending || j.Submit != was.Submit:
			return fmt.Errorf("job %d was stopped: %+v, then %+v", j.ID, was, j)
		}
		by := j.YieldedTo[len(j.YieldedTo)-1]
		other, err := tx.k.Job(by)
		if err != nil {
			return err
		}
		whose := func(j *row.Job) subject.Names {
			return subject.Names{subject.User: j.User, subject.Class: j.Class}
		}
		rule := ranks.Over(whose(other), whose(was))
		if rule == nil && ranks.Soft() != nil {
			rule = ranks.Soft()
			l.soft++
			if err := softly(tx, before, was, other); err != nil {
				return err
			}
		}
		switch {
		case rule == nil:
			return fmt.Errorf("job %d was stopped for %d, by no rule", j.ID, by)
		case tx.k.Now-was.Start < rule.MinRun || rule.AtMost > 0 && len(j.YieldedTo) > rule.AtMost:
			return fmt.Errorf("job %d was stopped after %d s, for the %d. time: %+v", j.ID, tx.k.Now-was.Start,
				len(j.YieldedTo), rule)
		case slices.Contains(was.YieldedTo, by):
			return fmt.Errorf("job %d was stopped twice for %d", j.ID, by)
		case other.State != JobRunning && other.State != JobReserved || other.Start < tx.k.Now:
			return fmt.Errorf("job %d was stopped for %d, which is %s", j.ID, by, other.State)
		case other.State == JobReserved && other.Start > tx.k.Now+100:
			return fmt.Errorf("job %d was stopped for %d, which starts at %d", j.ID, by, other.Start)
		case slices.ContainsFunc(slices.Sorted(madeWay(before, other)), func(id uint64) bool { return id == j.ID }):
			return fmt.Errorf("job %d was stopped for %d, which had made way for it", j.ID, by)
		}
		for id, r := range before { // a job that waits for others to end stops none
			if n := len(r.YieldedTo); id != j.ID && r.Ending && n > 0 && r.YieldedTo[n-1] == by {
				return fmt.Errorf("job %d was stopped for %d, while %d is ending for it", j.ID, by, id)
			}
		}
		l.stops++
		if !due {
			sets[by] = append(sets[by], was)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for by, list := range sets {
		if changed > 1 { // what else the cycle has done may have made room
			break
		}
		for _, r := range list {
			if err := l.needed(by, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// madeWay returns the jobs for which a job has made way, and for which those have.
func madeWay(jobs map[uint64]*row.Job, j *row.Job) func(func(uint64) bool) {
	seen := make(map[uint64]bool)
	next := slices.Clone(j.YieldedTo)
	for len(next) > 0 {
		if id := next[0]; !seen[id] && jobs[id] != nil {
			seen[id] = true
			next = append(next, jobs[id].YieldedTo...)
		}
		next = next[1:]
	}
	return func(yield func(uint64) bool) {
		for id := range seen {
			if !yield(id) {
				return
			}
		}
	}
}

// errNotKept undoes what was tried.
var errNotKept = errors.New("not kept")

// needed puts a job back where it was, in a database of its own, and verifies that the one for
// which it was stopped could not have started then. It verifies nothing if others have taken
// its place.
func (l *preemptLife) needed(by uint64, was *row.Job) error {
	err := l.dbs[1].DryRun(func(tx *Tx) error {
		j, err := tx.k.Job(by)
		if err != nil || j.State != JobRunning {
			return errors.Join(err, errNotKept)
		}
		if is, err := tx.k.Job(was.ID); err != nil || is.State == JobRunning {
			return errors.Join(err, errNotKept)
		}
		then := *j
		if err := jobs.MachineOf(tx.k).Do(j, jobs.Step{To: JobQueued, Leaving: jobs.Exited}); err != nil {
			return err
		}
		back := *was
		if taken, err := jobs.Conflict(tx.k, &back, &placer.Guest{Owner: row.JobOwner(back.ID)}, false); taken ||
			err != nil {
			return errors.Join(err, errNotKept)
		}
		spans, err := tx.k.Allocations().Spans(&back)
		if err != nil {
			return err
		}
		if err := plan.OccupyAgain(tx.k, &back, spans, JobRunning); err != nil {
			return err
		}
		a, err := plan.AskOfJob(tx.k, &then)
		if err != nil {
			return err
		}
		snap, err := plan.Snapshot(tx.k, then.Queue)
		if err != nil {
			return err
		}
		if _, err := snap.Place(a, tx.k.Now); err == nil {
			return fmt.Errorf("job %d was stopped for %d, and could have stayed", was.ID, by)
		}
		return errNotKept
	})
	if errors.Is(err, errNotKept) {
		return nil
	}
	return err
}

func TestPreemptLife(t *testing.T) {
	t.Parallel()
	stops, soft := 0, 0
	lives, most := 0, 40 // a life takes a third of a second; all are tried if more checks than usual are requested
	if f := flag.Lookup("rapid.checks"); f != nil && f.Value.String() != f.DefValue {
		most = math.MaxInt
	}
	rapid.Check(t, func(rt *rapid.T) {
		if lives++; lives > most {
			return
		}
		defer func() {
			if rt.Failed() { // it is repeated
				lives = 0
			}
		}()
		l := &preemptLife{life: newLifeOf(rt, t.TempDir(), true),
			way: rapid.SampledFrom([]Claimant{ByNobody, ByLauncher, BySupervisor}).Draw(rt, "way")}
		l.rule(rt)
		if rapid.Bool().Draw(rt, "limited") {
			l.limit(rt)
		}
		l.full(rt)
		rt.Repeat(map[string]func(*rapid.T){"submit": l.submit, "submit more": l.submit, "full": l.full, "rule": l.rule,
			"execute": l.execute, "execute more": l.execute,
			"cycle": l.cycle, "cycle more": l.cycle, "limit": l.limit, "pass": func(t *rapid.T) {
				l.clock.t += int64(rapid.SampledFrom([]int{1, 5, 30, 60, 100, 600}).Draw(t, "seconds"))
			}, "": l.holds})
		stops, soft = stops+l.stops, soft+l.soft
		for _, db := range l.dbs {
			db.Close()
		}
	})
	t.Logf("%d stopped, of them %d for soft limits", stops, soft)
	if stops == 0 {
		t.Error("no job was ever stopped")
	}
}
