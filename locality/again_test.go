package locality

import (
	"slices"
	"testing"
)

// TestNoCopyWhileAResultWaits: a host for which there is nothing else gets no second copy of a
// result while another result of the same job waits for a host.
func TestNoCopyWhileAResultWaits(t *testing.T) {
	b := newBenchOf(t, Settings{Hosts: 1, MaxErrors: 2, Lease: 500}, 1, []Job{
		{Credit: 918, Quorum: 3}, {Credit: 1, Quorum: 1}, {Credit: 1, Quorum: 1}, {Credit: 1, Quorum: 1},
		{Credit: 1, Quorum: 3}},
		"", "", "", "", "", "")
	next := func(host uint32, jobs int) []int {
		g, err := b.op().Next(b.host(host), Want{Jobs: jobs})
		if err != ErrIdle {
			b.must(err)
		}
		b.sound()
		var out []int
		for _, j := range g.Jobs {
			out = append(out, j.Job)
		}
		return out
	}
	done := func(host uint32, job int) {
		_, err := b.op().Done(b.host(host), job)
		b.must(err)
	}
	next(4, 2)
	next(0, 1)
	done(0, 0)
	next(5, 1)
	next(0, 1)
	if got := next(5, 1); !slices.Equal(got, []int{4}) {
		t.Fatalf("host 5 should have the third result of job 4, and got %v", got)
	}
	done(4, 0)
	done(5, 0)
	_, err := b.op().Fail(b.host(0), 1)
	b.must(err)
	if got := next(4, 1); slices.Contains(got, 4) {
		t.Errorf("host 4 has a copy of a result of job 4, though two others wait")
	}
}

// TestCopyTakesOver: a host with a second copy of one result becomes the host of another
// result of the job as soon as that one has lost its host.
func TestCopyTakesOver(t *testing.T) {
	for _, c := range []struct {
		name string
		lose func(b *bench)
	}{
		{"failure", func(b *bench) {
			r, err := b.op().Fail(b.host(1), 0)
			b.must(err)
			if r.State != "sent" {
				b.Errorf("the job is %s", r.State)
			}
		}},
		{"expiry", func(b *bench) {
			b.now += 100
			x, err := b.op().Expire()
			b.must(err)
			if x.Leases != 1 {
				b.Errorf("%d leases are over", x.Leases)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, Settings{}, 1, 2, "", "", "")
			give := func(host uint32, layer int, w Want) (g Grant) {
				m, err := b.op().member(b.host(host))
				b.must(err)
				slots := []int{b.batch.Slot(0, layer)}
				b.must(b.op().hand(b.host(host), m, slots, w, &g))
				m.Asked = asked(w.Key, slots, g)
				b.must(b.rows.PutMember(m))
				b.sound()
				return g
			}
			give(0, 0, Want{Lease: 200})
			give(1, 1, Want{Lease: 100})
			give(2, 0, Want{Lease: 300, Key: "k"})
			c.lose(b)
			b.sound()
			if b.batch.Waiting != 0 {
				t.Errorf("credit %d waits, and two hosts have a result each", b.batch.Waiting)
			}
			g, err := b.op().Next(b.host(2), Want{Jobs: 1, Key: "k"})
			b.must(err)
			if !g.Again || g.Jobs[0].Layer != 1 || g.Jobs[0].Until != 1300 {
				t.Errorf("%+v", g)
			}
			for _, host := range []uint32{0, 2} {
				_, err := b.op().Done(b.host(host), 0)
				b.must(err)
				b.sound()
			}
			if b.batch.Done != 1 {
				t.Error("two results are there, and the job is not done")
			}
		})
	}
}

// TestCopyExpiresToo: all leases end at the next check, including that of a copy which has
// just become another result's.
func TestCopyExpiresToo(t *testing.T) {
	for _, layers := range [][]int{{0, 1, 0}, {1, 0, 0}} {
		b := newBench(t, Settings{}, 1, 2, "", "", "")
		for host, layer := range layers {
			m, err := b.op().member(b.host(uint32(host)))
			b.must(err)
			b.must(b.op().hand(b.host(uint32(host)), m, []int{b.batch.Slot(0, layer)}, Want{Lease: 100}, new(Grant)))
			b.must(b.rows.PutMember(m))
		}
		b.now += 100
		x, err := b.op().Expire()
		b.must(err)
		b.sound()
		if x.Leases != 3 || b.batch.Waiting != b.batch.Total {
			t.Errorf("%v: %+v, credit %d of %d waits", layers, x, b.batch.Waiting, b.batch.Total)
		}
	}
}
