package timeline

import (
	"errors"
	"flag"
	"math/rand/v2"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// A pair runs the same calls on a Planner and on the naive array, and fails if the results
// differ.
type pair struct {
	t     rapid.TB
	p     *Planner
	m     *naive
	ids   map[int]SpanID
	calls int
}

func newPair(t rapid.TB, total, start, end int64) *pair {
	return &pair{t: t, p: tight(total, start, end), m: newNaive(total, start, end), ids: map[int]SpanID{}}
}

func (c *pair) same(what string, got any, err error, want any, wantErr error) {
	c.t.Helper()
	if !errors.Is(err, wantErr) || err == nil && got != want {
		c.t.Fatalf("call %d, %s: %v, %v; want %v, %v", c.calls, what, got, err, want, wantErr)
	}
}

func (c *pair) add(s Span) {
	c.calls++
	id, err := c.p.Add(s)
	c.same("Add", 0, err, 0, c.m.add(c.calls, s))
	if err == nil {
		c.ids[c.calls] = id
	}
}

// remove and reduce take the number of the call that added the span; unknown
// numbers stand for the zero id.
func (c *pair) remove(n int) {
	c.calls++
	err, want := c.p.Remove(c.ids[n]), ErrSpan
	if _, ok := c.m.spans[n]; ok {
		want = c.m.remove(n)
	}
	c.same("Remove", 0, err, 0, want)
}

func (c *pair) reduce(n int, amount int64) {
	c.calls++
	c.same("Reduce", 0, c.p.Reduce(c.ids[n], amount), 0, c.m.reduce(n, amount))
}

func (c *pair) resize(total int64) {
	c.calls++
	want := ErrRange
	if total >= 0 {
		c.m.total, want = total, nil
	}
	c.same("Resize", 0, c.p.Resize(total), 0, want)
}

func (c *pair) ask(start, duration, amount int64) {
	c.calls++
	got, err := c.p.FreeAt(start)
	want, wantErr := c.m.freeAt(start)
	c.same("FreeAt", got, err, want, wantErr)
	got, err = c.p.FreeDuring(start, duration)
	want, wantErr = c.m.freeDuring(start, duration)
	c.same("FreeDuring", got, err, want, wantErr)
	fits, err := c.p.Fits(start, duration, amount)
	wantFits, wantErr := c.m.fits(start, duration, amount)
	c.same("Fits", fits, err, wantFits, wantErr)
	got, err = c.p.EarliestStart(start, duration, amount)
	want, wantErr = c.m.earliest(start, duration, amount, anyMoment)
	c.same("EarliestStart", got, err, want, wantErr)
	got, err = c.p.EarliestChange(start, duration, amount)
	want, wantErr = c.m.earliest(start, duration, amount, c.m.changes())
	c.same("EarliestChange", got, err, want, wantErr)
}

// starts compares the first values of the sequence.
func (c *pair) starts(after, duration, amount int64) {
	c.calls++
	seen, left, isChange := after-1, 8, c.m.changes()
	accept := func(t int64) bool { return t == after || isChange(t) }
	for t := range c.p.Starts(after, duration, amount) {
		want, err := c.m.earliest(seen+1, duration, amount, accept)
		c.same("Starts", t, nil, want, err)
		if seen, left = t, left-1; left == 0 {
			return
		}
	}
	if _, err := c.m.earliest(max(seen+1, after), duration, amount, accept); err == nil {
		c.t.Fatalf("Starts ended after %d", seen)
	}
}

func (c *pair) valid() {
	c.t.Helper()
	if c.p.Len() != len(c.m.spans) {
		c.t.Fatalf("call %d: %d spans, want %d", c.calls, c.p.Len(), len(c.m.spans))
	}
	if err := c.p.used.validate(); err != nil {
		c.t.Fatalf("call %d: %v", c.calls, err)
	}
}

// TestPlannerModel compares a Planner with the naive array over random calls, including
// arguments around and beyond every limit.
func TestPlannerModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.Int64Range(-40, 40).Draw(t, "start")
		end := start + rapid.Int64Range(1, 120).Draw(t, "length")
		total := rapid.Int64Range(0, 12).Draw(t, "total")
		c := newPair(t, total, start, end)
		moment := rapid.Int64Range(start-1, end+1)
		length := rapid.Int64Range(-1, end-start+1)
		short := rapid.Int64Range(1, 9)
		amount := rapid.Int64Range(-1, total+1)
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				c.add(Span{moment.Draw(t, "start"), short.Draw(t, "duration"), amount.Draw(t, "amount")})
			},
			"add long": func(t *rapid.T) {
				c.add(Span{moment.Draw(t, "start"), length.Draw(t, "duration"), amount.Draw(t, "amount")})
			},
			"remove": func(t *rapid.T) { c.remove(rapid.IntRange(0, c.calls).Draw(t, "n")) },
			"reduce": func(t *rapid.T) { c.reduce(rapid.IntRange(0, c.calls).Draw(t, "n"), amount.Draw(t, "amount")) },
			"resize": func(t *rapid.T) { c.resize(amount.Draw(t, "total")) },
			"ask": func(t *rapid.T) {
				c.ask(moment.Draw(t, "start"), length.Draw(t, "duration"), amount.Draw(t, "amount"))
			},
			"starts": func(t *rapid.T) {
				c.starts(moment.Draw(t, "after"), length.Draw(t, "duration"), amount.Draw(t, "amount"))
			},
			"": func(*rapid.T) { c.valid() },
		})
	})
}

// TestPlannerChurn fills and empties plans often enough for trees several levels deep, with
// the tree nodes of tests and with the real ones.
func TestPlannerChurn(t *testing.T) {
	for _, c := range []struct {
		name           string
		leafCap, fan   int
		horizon, total int64
		most           int64 // the longest span
		calls          int
	}{
		{"deep", 4, 4, 3000, 20, 60, 6000},
		{"deep, long spans", 4, 4, 3000, 200, 2000, 6000},
		{"middle", 16, 8, 12000, 50, 100, 8000},
		{"real", leafCap, fanout, 30000, 400, 900, 20000},
		{"huge amounts", 4, 4, 3000, MaxTotal, 60, 6000},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			churn(t, newPair(t, c.total, 0, c.horizon), c.leafCap, c.fan, c.most, c.calls)
		})
	}
}

// seeded returns a source of random numbers from the seed of all random tests: -rapid.seed, or
// RAPID_SEED in the environment, or a new seed if neither is set.
func seeded(t testing.TB) *rand.Rand {
	seed, _ := strconv.ParseUint(flag.Lookup("rapid.seed").Value.String(), 0, 64)
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-rapid.seed=%d", seed)
	return rand.New(rand.NewPCG(seed, seed))
}

func churn(t *testing.T, c *pair, leafCap, fan int, most int64, calls int) {
	rng := seeded(t)
	c.p.used.leafCap, c.p.used.fanout = leafCap, fan
	horizon, total := c.m.end(), c.m.total
	var live []int
	for n := range calls {
		grow := n%(calls/2) < calls/4 // fill, empty, fill, empty
		switch x := rng.IntN(100); {
		case x < 3:
			c.ask(rng.Int64N(horizon), 1+rng.Int64N(most*3), rng.Int64N(total))
		case x < 8 && len(live) > 0:
			k := live[rng.IntN(len(live))]
			c.reduce(k, rng.Int64N(c.m.spans[k].Amount+1)/2)
		case (x < 80) == grow || len(live) == 0:
			before := len(c.m.spans)
			c.add(Span{rng.Int64N(horizon - most), 1 + rng.Int64N(most), 1 + rng.Int64N(max(1, total/40))})
			if len(c.m.spans) > before {
				live = append(live, c.calls)
			}
		default:
			i := rng.IntN(len(live))
			c.remove(live[i])
			live[i] = live[len(live)-1]
			live = live[:len(live)-1]
		}
		if n%200 == 0 {
			c.valid()
		}
	}
	for _, k := range live {
		c.remove(k)
	}
	c.valid()
	if l, _ := c.p.used.leafAt(0); c.p.used.height != 0 || l.end != horizon || l.n != 1 {
		t.Errorf("after the last removal the tree has height %d and its first leaf %d points up to %d", c.p.used.height,
			l.n, l.end)
	}
}
