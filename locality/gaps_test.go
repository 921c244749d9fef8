package locality

import (
	"math"
	"testing"
)

// known gives a host a record of many jobs at a speed, in mean jobs an hour.
func (b *bench) known(host uint32, speed float64) {
	h := b.host(host)
	h.Spent, h.Earned, h.Seen = 100*3600, 100*speed*Micro, b.now
	b.must(b.rows.PutHost(h))
}

// ask gives a host one job, with the lease that the batch chooses.
func (b *bench) ask(host uint32) Given {
	b.Helper()
	g, err := b.op().Next(b.host(host), Want{Jobs: 1})
	b.must(err)
	b.sound()
	return g.Jobs[0]
}

// TestPairFits: the second host of a range begins where both will have done their part, so a
// fast one begins farther away.
func TestPairFits(t *testing.T) {
	begins := func(speed float64) int {
		b := newBench(t, Settings{Hosts: 20}, 1000, 1, "", "", "")
		b.known(0, 2)
		b.known(1, speed)
		if first := b.ask(0).Job; first != 0 {
			t.Fatalf("the first host begins with job %d", first)
		}
		second := b.ask(1).Job
		if third := b.ask(2).Job; third != second+1 {
			t.Errorf("the third host begins with job %d; the second has job %d", third, second)
		}
		return second + 1
	}
	if slow, fast := begins(1), begins(4); fast < slow*16/10 || fast > slow*22/10 {
		t.Errorf("with hosts of speeds 2 and 1 a range has %d jobs, with 2 and 4 %d: nearly twice as many are right",
			slow, fast)
	}
}

// TestHome: a host that took longer than expected continues where its files are, although it
// was considered gone and other ranges have no host.
func TestHome(t *testing.T) {
	b := newBench(t, Settings{Hosts: 20}, 1000, 1, "", "")
	b.known(0, 1)
	b.known(1, 1)
	b.ask(0)
	job := b.ask(1).Job
	b.now += 3600
	_, err := b.op().Done(b.host(1), job)
	b.must(err)
	b.ask(1)
	b.now += 2 * 3600
	x, err := b.op().Expire()
	b.must(err)
	if x.Hosts != 1 || x.Leases != 0 {
		t.Fatalf("%+v; one host is overdue, and no lease", x)
	}
	_, err = b.op().Done(b.host(0), 0)
	b.must(err)
	if got := b.ask(0).Job; got != 1 {
		t.Errorf("the host had job 0 and goes on with job %d", got)
	}
}

// TestHistoryFades: a host that was fast elsewhere and is slow in this batch counts as slow
// after a few jobs.
func TestHistoryFades(t *testing.T) {
	b := newBench(t, Settings{Hosts: 20}, 1000, 1, "")
	b.known(0, 8)
	for range 4 {
		job := b.ask(0).Job
		b.now += 2 * 3600
		_, err := b.op().Done(b.host(0), job)
		b.must(err)
	}
	m, err := b.rows.Member(0)
	b.must(err)
	if speed := float64(m.Rate) / 24 / Micro; speed > 0.8 {
		t.Errorf("after four jobs of two hours the host counts with %.2f jobs an hour", speed)
	}
}

// TestLeaseGrows: a host that gets a job whose lease has expired has twice as long for it.
func TestLeaseGrows(t *testing.T) {
	b := newBench(t, Settings{Hosts: 20}, 1000, 1, "", "")
	b.known(0, 1)
	b.known(1, 1)
	first := b.ask(0).Until - b.now
	b.now += first
	x, err := b.op().Expire()
	b.must(err)
	if x.Leases != 1 {
		t.Fatalf("%+v; one lease is over", x)
	}
	again := b.ask(1)
	if again.Job != 0 || again.Until-b.now < first*19/10 {
		t.Errorf("job %d for %d seconds; job 0 for twice %d is right", again.Job, again.Until-b.now, first)
	}
}

// TestZeroRows: rows without jobs, and a job of an odd quorum, have answers.
func TestZeroRows(t *testing.T) {
	for _, b := range []Batch{{}, {Layered: true}} {
		if job, layer := b.JobOf(0); job != 0 || layer != 0 || b.Progress(new(Cursor)) != (Progress{}) {
			t.Errorf("slot 0 of %+v is of job %d, layer %d; progress %+v", b, job, layer, b.Progress(new(Cursor)))
		}
	}
	for quorum, want := range map[int]string{-1: "done", 0: "done", 1: "sent", math.MaxInt: "sent"} {
		if got := (&Task{Slots: []SlotState{Sent}}).State(&Job{Quorum: quorum}); got != want {
			t.Errorf("a quorum of %d: %s, want %s", quorum, got, want)
		}
	}
}
