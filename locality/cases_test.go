package locality

import (
	"errors"
	"fmt"
	"testing"
)

// bench is a batch of n jobs with a file each, and a few hosts.
type bench struct {
	*testing.T
	rows  *Memory
	batch *Batch
	now   int64
}

func newBench(t *testing.T, s Settings, jobs, quorum int, users ...string) *bench {
	var list []Job
	for i := range jobs {
		list = append(list, Job{A: i, B: i, Credit: Micro, Quorum: quorum})
	}
	return newBenchOf(t, s, jobs, list, users...)
}

func newBenchOf(t *testing.T, s Settings, files int, jobs []Job, users ...string) *bench {
	b := &bench{t, NewMemory(), nil, 1000}
	m, err := NewMaker("b", s, files, b.rows.Keep)
	b.must(err)
	for _, j := range jobs {
		b.must(m.Add(j))
	}
	b.batch, err = m.Finish(b.rows, b.now)
	b.must(err)
	for i, u := range users {
		b.must(b.rows.PutHost(&Host{Number: uint32(i), Name: fmt.Sprint("h", i), User: u}))
	}
	return b
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) op() *Op {
	o, err := Begin(b.rows, b.batch, b.now)
	b.must(err)
	return o
}

func (b *bench) host(n uint32) *Host {
	h, err := b.rows.Host(n)
	b.must(err)
	return h
}

// next gives a host one job, or -1.
func (b *bench) next(host uint32) int {
	g, err := b.op().Next(b.host(host), Want{Jobs: 1, Lease: 100})
	if errors.Is(err, ErrIdle) || errors.Is(err, ErrOver) {
		return -1
	}
	b.must(err)
	return g.Jobs[0].Job
}

func (b *bench) sound() {
	b.Helper()
	b.must(b.op().Check(b.Errorf))
	b.must(b.op().exact(b.Errorf))
	b.must(b.op().copies(b.Errorf))
}

// exact reports if the first or last unfinished slot that a range names is finished.
func (o *Op) exact(find func(format string, args ...any)) error {
	for slot := 0; slot < o.Batch.Slots(); {
		c, err := o.CursorAt(slot)
		if err != nil {
			return err
		}
		for _, end := range []int{c.Unfinished, c.Top} {
			if c.Unfinished > c.Top {
				break
			}
			if state, _, err := o.slot(end); err != nil {
				return err
			} else if state.Terminal() {
				find("slots %d to %d: unfinished from %d to %d, and slot %d is finished", c.First, c.Last, c.Unfinished,
					c.Top, end)
			}
		}
		slot = c.Last + 1
	}
	return nil
}

// copies reports a job if two hosts have one of its slots while another slot waits.
func (o *Op) copies(find func(format string, args ...any)) error {
	for n := range o.Batch.Jobs {
		j, err := o.job(n)
		if err != nil {
			return err
		}
		_, t, err := o.task(n)
		if err != nil {
			return err
		}
		if x := t.double(); x != nil && t.waits(j) {
			find("job %d: host %d has a copy of result %d, and another result waits: %+v", n, x.Host, x.Layer, t)
		}
	}
	return nil
}

// TestLateAnswer: a host exceeds its lease, another host does the job, and the first reports
// it after all.
func TestLateAnswer(t *testing.T) {
	b := newBench(t, Settings{Policy: "cursors"}, 1, 1, "", "")
	if n := b.next(0); n != 0 {
		t.Fatal(n)
	}
	b.now += 100
	x, err := b.op().Expire()
	b.must(err)
	if x != (Expiry{Leases: 1, Hosts: 1}) {
		t.Errorf("%+v", x)
	}
	if n := b.next(1); n != 0 {
		t.Fatal(n)
	}
	var late *NotHeld
	if _, err := b.op().Done(b.host(0), 0); !errors.As(err, &late) ||
		late.Why != "its lease has expired, and the job is no longer its own" {
		t.Errorf("%v", err)
	}
	b.sound()
	r, err := b.op().Done(b.host(1), 0)
	b.must(err)
	if r.State != "done" || !b.batch.Over() || b.batch.Ended != b.now {
		t.Errorf("%+v, ended %d", r, b.batch.Ended)
	}
	if _, err := b.op().Done(b.host(1), 0); !errors.As(err, &late) || late.Why != "it has reported this job already" {
		t.Errorf("%v", err)
	}
	b.sound()
}

// TestOverdueBeforeAnybodyLooked: an expired lease that has not been taken back is still good,
// because no other host has the job.
func TestOverdueBeforeAnybodyLooked(t *testing.T) {
	b := newBench(t, Settings{}, 1, 1, "")
	b.next(0)
	b.now += 1000
	_, err := b.op().Done(b.host(0), 0)
	b.must(err)
	b.sound()
}

// TestOneUser: two results of a job never come from one user, however many hosts the user has.
// A job that failed or expired may come back to the user.
func TestOneUser(t *testing.T) {
	for _, policy := range Policies() {
		b := newBench(t, Settings{Policy: policy.Name, MaxErrors: 5}, 1, 2, "ann", "ann", "bob")
		b.next(0)
		if n := b.next(1); n != -1 {
			t.Errorf("%s: ann has job %d twice", policy.Name, n)
		}
		if n := b.next(2); n != 0 {
			t.Errorf("%s: bob got %d", policy.Name, n)
		}
		_, err := b.op().Fail(b.host(0), 0)
		b.must(err)
		if n := b.next(0); n != -1 {
			t.Errorf("%s: the host that failed got %d again, though others work", policy.Name, n)
		}
		if n := b.next(1); n != 0 {
			t.Errorf("%s: ann's other host got %d", policy.Name, n)
		}
		b.sound()
	}
}

// TestFailedForGood: a job that fails too often counts as finished, whoever else has it.
func TestFailedForGood(t *testing.T) {
	b := newBench(t, Settings{Policy: "cursors", MaxErrors: 1}, 2, 2, "", "", "", "")
	for host := range uint32(2) {
		if n := b.next(host); n != 0 {
			t.Fatal(n)
		}
	}
	_, err := b.op().Fail(b.host(0), 0)
	b.must(err)
	if n := b.next(2); n != 0 {
		t.Fatal(n)
	}
	r, err := b.op().Fail(b.host(2), 0)
	b.must(err)
	if r.State != "failed" || b.batch.Failed != 1 {
		t.Errorf("%+v", r)
	}
	if _, err := b.op().Done(b.host(1), 0); !errors.Is(err, ErrNotHeld) {
		t.Errorf("%v", err)
	}
	b.sound()
}

// TestBadJobs: invalid jobs are refused.
func TestBadJobs(t *testing.T) {
	for _, j := range []Job{
		{A: -1, B: 0, Credit: 1, Quorum: 1}, {A: 0, B: 9, Credit: 1, Quorum: 1}, {A: 3, B: 2, Credit: 1, Quorum: 1},
		{A: 1, B: 2, Credit: 1, Quorum: 1}, {A: 4, B: 4, Credit: 0, Quorum: 1}, {A: 4, B: 4, Credit: 1, Quorum: 9},
		{A: 4, B: 4, Credit: MaxCredit + 1, Quorum: 1},
	} {
		m, err := NewMaker("b", Settings{}, 9, func(*JobBlock) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Add(Job{A: 2, B: 3, Credit: 1, Quorum: 1}); err != nil {
			t.Fatal(err)
		}
		if err := m.Add(j); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", j, err)
		}
	}
	if _, err := NewMaker("b", Settings{Policy: "gasp"}, 9, nil); !errors.Is(err, ErrPolicy) {
		t.Errorf("%v", err)
	}
	if _, err := NewMaker("b", Settings{Team: -1}, 9, nil); !errors.Is(err, ErrInvalid) {
		t.Errorf("%v", err)
	}
}

// TestRankAsShown: a new host goes to the range with the greatest time left as Left tells it, by the credit of
// all that is unfinished, in a host's hands or not.
func TestRankAsShown(t *testing.T) {
	b := newBench(t, Settings{Policy: "cursors", Hosts: 2, Team: 1}, 20, 1, "ann", "bob", "eve")
	_, err := b.op().Next(b.host(0), Want{Jobs: 8, Lease: 1e6}) // the first range: 8 of 10 jobs are in a host's hands
	b.must(err)
	for range 4 { // the second: 6 of 10 jobs wait, and no others are unfinished
		job := b.next(1)
		b.now += 3600 // as fast as the other host is taken to be
		_, err := b.op().Done(b.host(1), job)
		b.must(err)
	}
	var longest, left int64 = -1, 0
	b.must(b.rows.Longest(func(c *Cursor) (bool, error) {
		if s, _ := c.Left(); s > left {
			longest, left = int64(c.First), s
		}
		return true, nil
	}))
	if job := b.next(2); longest != 0 || job >= 10 {
		t.Errorf("the range from %d has the most time left, and the host got job %d", longest, job)
	}
	b.sound()
}
