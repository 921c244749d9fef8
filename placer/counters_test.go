package placer

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/timeline"
)

// countedCase is a small cluster with counters, held at random.
type countedCase struct {
	*Snapshot
	held    map[*limits.Counter][]limits.Holder
	outside map[*limits.Counter][2]int64
}

const countedEnd = 70 // by then nothing is held any more

func randomCounted(r *rand.Rand) *countedCase {
	defs := index.NewDefs()
	c := &countedCase{held: make(map[*limits.Counter][]limits.Holder), outside: make(map[*limits.Counter][2]int64)}
	ix := index.New(defs, []index.ResID{index.NCPUs}, nil, index.Limits{})
	cal := timeline.NewCalendar(nil, 10, 5)
	given := make(map[int64][]uint32)
	owner := uint64(1000)
	rows := &cluster{defs: defs}
	for i := range uint32(1 + r.IntN(5)) {
		n := &index.Node{Number: i, Name: fmt.Sprintf("n%d", i), State: index.Up}
		n.Set(index.NCPUs, index.Value{Num: int64(1 + r.IntN(3))})
		at := int64(10)
		for range r.IntN(4) {
			at += int64(r.IntN(8))
			b := timeline.Busy{Start: at, End: at + 1 + int64(r.IntN(8)), Owner: owner, Held: true}
			owner += 2
			if err := cal.Add(i, b); err != nil {
				panic(err)
			}
			at = b.End
			given[b.End] = append(given[b.End], i)
		}
		ix.Insert(n, ClassNow(cal, i))
		rows.nodes = append(rows.nodes, n)
	}
	c.Snapshot = &Snapshot{Index: ix, Calendar: cal, Now: 10, Rows: rows, Releases: func(after int64) iter.Seq2[int64,
		[]uint32] {
		return func(yield func(int64, []uint32) bool) {
			for t := after + 1; t < countedEnd; t++ {
				if len(given[t]) > 0 && !yield(t, given[t]) {
					return
				}
			}
		}
	}}
	return c
}

// counter returns a counter; jobs may hold more than its total.
func (c *countedCase) counter(r *rand.Rand, rule bool) *limits.Counter {
	k := limits.New(fmt.Sprint("k", len(c.held)), rule, int64(r.IntN(5)), 10, 5)
	if !rule && r.IntN(3) == 0 {
		c.outside[k] = [2]int64{int64(r.IntN(4)), int64(11 + r.IntN(30))}
		k.SetOutside(c.outside[k][0], c.outside[k][1])
	}
	for i := range r.IntN(8) {
		start := int64(r.IntN(40))
		h := limits.Holder{Owner: uint64(i+1) << 1, Start: start, End: start + 1 + int64(r.IntN(15)),
			Amount: int64(1 + r.IntN(3))}
		if r.IntN(4) == 0 && h.End > 10 {
			h.Owner, h.Claim = h.Owner|1, true
		}
		k.Put(h)
		c.held[k] = append(c.held[k], h)
	}
	return k
}

// free sums up what is left of a counter at an instant.
func (c *countedCase) free(k *limits.Counter, t int64) int64 {
	left := k.Total()
	if o := c.outside[k]; t < o[1] {
		left -= o[0]
	}
	for _, h := range c.held[k] {
		end := h.End
		if !h.Claim && end <= c.Now {
			end = c.Now + 5
		}
		if h.Start <= t && t < end {
			left -= h.Amount
		}
	}
	return left
}

// fits reports whether nodes and counters allow a start at an instant.
func (c *countedCase) fits(a Ask, t int64) bool {
	for _, d := range a.Demands {
		for s := t; s < t+a.Duration; s++ {
			if c.free(d.Counter, s) < d.Amount {
				return false
			}
		}
	}
	a.Demands = nil
	_, err := c.Place(a, t)
	return err == nil
}

// TestJointStarts: the earliest start with pools and rules is the first instant of all at
// which nodes and counters allow one. No start is at an instant at which they do not.
func TestJointStarts(t *testing.T) {
	const cases = 5000
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	started := 0
	for i := range cases {
		c := randomCounted(r)
		text := []string{"1:ncpus=1", "2:ncpus=1", "2:ncpus=2", "3:ncpus=1"}[r.IntN(4)]
		spec, err := Parse(c.Index.Defs(),
			Request{Select: text, Place: []string{"scatter:excl", "free", "scatter"}[r.IntN(3)]})
		if err != nil {
			t.Fatal(err)
		}
		a := Ask{Spec: spec, Duration: int64(1 + r.IntN(10))}
		for range 1 + r.IntN(3) {
			a.Demands = append(a.Demands, limits.Demand{Counter: c.counter(r, r.IntN(3) == 0),
				Amount: int64(1 + r.IntN(2))})
		}
		after := 10 + int64(r.IntN(20))
		want := int64(-1)
		for at := after; at < countedEnd && want < 0; at++ {
			if c.fits(a, at) {
				want = at
			}
		}
		plans, err := c.Starts(a, after, 3)
		switch {
		case want < 0 && err == nil:
			t.Fatalf("case %d: start at %d; there is none", i, plans[0].Start)
		case want < 0 && !errors.Is(err, ErrNever) && !errors.Is(err, ErrNotNow):
			t.Fatal(err)
		case want >= 0 && (err != nil || plans[0].Start != want):
			t.Fatalf("case %d: %v %v; the first start is at %d", i, plans, err, want)
		}
		if started += min(1, len(plans)); err != nil {
			continue
		}
		for k, p := range plans {
			if !c.fits(a, p.Start) || k > 0 && p.Start <= plans[k-1].Start {
				t.Fatalf("case %d: %d is no start", i, p.Start)
			}
		}
		if _, err := c.Place(a, after); (err == nil) != (want == after) {
			t.Fatalf("case %d: placed at %d: %v; the first start is at %d", i, after, err, want)
		}
	}
	if started < cases/3 {
		t.Errorf("only %d of %d cases have a start", started, cases)
	}
}
