package locality

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// life is a batch in memory beside a naive model of it: who had each job and what happened.
type life struct {
	t     *rapid.T
	rows  *Memory
	batch *Batch
	now   int64
	jobs  []Job
	model []naive
	users []string
}

type naive struct {
	errors int
	had    []had
	done   bool
	failed bool
}

type had struct {
	host  uint32
	live  bool
	good  bool
	until int64
}

func newLife(t *rapid.T) *life {
	l := &life{t: t, rows: NewMemory(), now: 1000}
	files := rapid.IntRange(1, 60).Draw(t, "files")
	n := rapid.IntRange(1, 300).Draw(t, "jobs")
	quorum := rapid.IntRange(1, 3).Draw(t, "quorum")
	policy := rapid.SampledFrom(Policies()).Draw(t, "policy").Name
	s := Settings{Policy: policy, Team: rapid.IntRange(1, 4).Draw(t, "team"),
		Hosts:   rapid.IntRange(1, 12).Draw(t, "hosts"),
		Cushion: rapid.IntRange(0, 5).Draw(t, "cushion"), LeastJobs: 3, MaxErrors: 2, Lease: 500,
		Keep: rapid.IntRange(0, 20).Draw(t, "keep")}
	m, err := NewMaker("b", s, files, l.rows.Keep)
	if err != nil {
		t.Fatal(err)
	}
	starts := rapid.SliceOfN(rapid.IntRange(0, files-1), n, n).Draw(t, "starts")
	slices.Sort(starts)
	for _, a := range starts {
		j := Job{A: a, B: min(files-1, a+rapid.IntRange(0, 3).Draw(t, "length")),
			Credit: rapid.Int64Range(1, 3*Micro).Draw(t, "credit"),
			Quorum: rapid.IntRange(1, quorum).Draw(t, "results")}
		l.jobs = append(l.jobs, j)
		if err := m.Add(j); err != nil {
			t.Fatal(err)
		}
	}
	l.model = make([]naive, n)
	if l.batch, err = m.Finish(l.rows, l.now); err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		l.users = append(l.users, rapid.SampledFrom([]string{"", "ann", "bob"}).Draw(t, "user"))
		if err := l.rows.PutHost(&Host{Number: uint32(i), Name: fmt.Sprint("h", i), User: l.users[i]}); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func (l *life) op() *Op {
	o, err := Begin(l.rows, l.batch, l.now)
	if err != nil {
		l.t.Fatal(err)
	}
	return o
}

func (l *life) host() *Host {
	h, err := l.rows.Host(uint32(rapid.IntRange(0, len(l.users)-1).Draw(l.t, "host")))
	if err != nil {
		l.t.Fatal(err)
	}
	return h
}

func (l *life) next(*rapid.T) {
	h := l.host()
	w := Want{Jobs: rapid.IntRange(0, 6).Draw(l.t, "want"), Lease: int64(rapid.IntRange(0, 3).Draw(l.t, "lease")) * 100}
	if w.Jobs == 0 {
		w.Seconds = rapid.Int64Range(1, 100_000).Draw(l.t, "seconds")
	}
	g, err := l.op().Next(h, w)
	if err != nil && !errors.Is(err, ErrIdle) && !errors.Is(err, ErrOver) {
		l.t.Fatal(err)
	}
	if w.Jobs > 0 && len(g.Jobs) > w.Jobs {
		l.t.Fatalf("%d jobs given, %d wanted", len(g.Jobs), w.Jobs)
	}
	for _, j := range g.Jobs {
		x := &l.model[j.Job]
		if x.done || x.failed {
			l.t.Fatalf("job %d is given, and is finished", j.Job)
		}
		for _, y := range x.had {
			same := y.host == h.Number || h.User != "" && l.users[y.host] == h.User
			if (y.live || y.good) && same {
				l.t.Fatalf("job %d goes to host %d and went to host %d", j.Job, h.Number, y.host)
			}
		}
		x.had = append(x.had, had{h.Number, true, false, j.Until})
	}
	if errors.Is(err, ErrOver) != (err != nil && l.nothingWaits()) {
		l.t.Fatalf("%v, and that nothing waits is %v", err, l.nothingWaits())
	}
	m, _ := l.rows.Member(h.Number)
	for _, slot := range m.Live {
		n, _ := l.batch.JobOf(slot)
		if rest := without([]Span{{l.jobs[n].A, l.jobs[n].B}}, m.Held); rest != nil {
			l.t.Fatalf("host %d has job %d and was told to delete %v", h.Number, n, rest)
		}
	}
}

// nothingWaits reports whether every job has as many hosts as results are missing.
func (l *life) nothingWaits() bool {
	for i, x := range l.model {
		n := 0
		for _, y := range x.had {
			if y.live || y.good {
				n++
			}
		}
		if !x.done && !x.failed && n < l.jobs[i].Quorum {
			return false
		}
	}
	return true
}

// answer reports a job that a host may or may not have.
func (l *life) answer(*rapid.T) {
	h := l.host()
	m, _ := l.rows.Member(h.Number)
	n := rapid.IntRange(0, len(l.jobs)-1).Draw(l.t, "job")
	if m != nil && len(m.Live) > 0 && rapid.IntRange(0, 9).Draw(l.t, "true") > 0 {
		n, _ = l.batch.JobOf(rapid.SampledFrom(m.Live).Draw(l.t, "slot"))
	}
	x := &l.model[n]
	mine := slices.IndexFunc(x.had, func(y had) bool { return y.host == h.Number && y.live })
	fail := rapid.IntRange(0, 4).Draw(l.t, "fail") == 0
	var err error
	if fail {
		_, err = l.op().Fail(h, n)
	} else {
		_, err = l.op().Done(h, n)
	}
	if errors.Is(err, ErrNotHeld) != (mine < 0) {
		l.t.Fatalf("host %d, job %d: %v; in its hands: %v", h.Number, n, err, mine >= 0)
	}
	if mine < 0 {
		return
	}
	if err != nil {
		l.t.Fatal(err)
	}
	x.had[mine].live = false
	if x.had[mine].good = !fail; fail {
		x.errors++
		x.failed = x.errors > 2
	}
	good := 0
	for _, y := range x.had {
		if y.good {
			good++
		}
	}
	x.done = good >= l.jobs[n].Quorum && !x.failed
	if x.done || x.failed {
		for i := range x.had {
			x.had[i].live = false
		}
	}
	l.superseded(x, n)
}

// superseded removes from the model what the batch has taken from other hosts: copies of a slot
// that another host has answered.
func (l *life) superseded(x *naive, n int) {
	_, t, err := l.op().task(n)
	if err != nil {
		l.t.Fatal(err)
	}
	for i := range x.had {
		if x.had[i].live && t.live(x.had[i].host) == nil {
			x.had[i].live = false
		}
	}
}

func (l *life) pass(*rapid.T) {
	l.now += rapid.Int64Range(1, 400).Draw(l.t, "time")
	if _, err := l.op().Expire(); err != nil {
		l.t.Fatal(err)
	}
	for i := range l.model {
		for k := range l.model[i].had {
			y := &l.model[i].had[k]
			y.live = y.live && y.until > l.now
		}
	}
}

func (l *life) recompute(*rapid.T) {
	if err := l.op().Recompute(); err != nil {
		l.t.Fatal(err)
	}
}

func (l *life) check(t *rapid.T) {
	err := l.op().Check(func(format string, args ...any) { t.Errorf(format, args...) })
	if err == nil {
		err = l.op().exact(t.Errorf)
	}
	if err == nil {
		err = l.op().copies(t.Errorf)
	}
	if err != nil {
		t.Fatal(err)
	}
	done, failed := 0, 0
	for _, x := range l.model {
		if x.failed {
			failed++
		} else if x.done {
			done++
		}
	}
	if done != l.batch.Done || failed != l.batch.Failed {
		t.Fatalf("%d done and %d failed; the model says %d and %d", l.batch.Done, l.batch.Failed, done, failed)
	}
}

// TestLife works through batches with every policy, checks all invariants after every
// operation, and compares with the model.
func TestLife(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLife(t)
		t.Repeat(map[string]func(*rapid.T){"next": l.next, "next again": l.next, "answer": l.answer,
			"answer again": l.answer,
			"pass":         l.pass, "recompute": l.recompute, "": l.check})
	})
}
