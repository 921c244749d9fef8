package timeline

import (
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
)

// filled returns a planner with many spans, and a Multi with the same spans.
func filled(t testing.TB, spans int) (*Planner, *Multi) {
	t.Helper()
	p, err := New(100, 0, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewMulti([]Quantity{{"a", 100}, {"b", 100}}, 0, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	const seed = 3
	rng := rand.New(rand.NewPCG(seed, seed))
	for range spans {
		s := Span{rng.Int64N(int64(spans) * 10), 1 + rng.Int64N(100), rng.Int64N(20)}
		// refusals are welcome, because the plan should be full in places
		_, _ = p.Add(s)
		_, _ = m.Add(MultiSpan{s.Start, s.Duration, []int64{s.Amount, 20 - s.Amount}})
	}
	return p, m
}

// queries returns every kind of query, as a function of an instant.
func queries(p *Planner, m *Multi) map[string]func(t int64) int64 {
	amounts := []int64{60, 50}
	return map[string]func(int64) int64{
		"FreeAt":               func(t int64) int64 { v, _ := p.FreeAt(t); return v },
		"FreeDuring":           func(t int64) int64 { v, _ := p.FreeDuring(t, 500); return v },
		"Fits":                 func(t int64) int64 { v, _ := p.Fits(t, 50, 40); return asNumber(v) },
		"EarliestStart":        func(t int64) int64 { v, _ := p.EarliestStart(t, 60, 80); return v },
		"EarliestChange":       func(t int64) int64 { v, _ := p.EarliestChange(t, 60, 80); return v },
		"Starts":               func(t int64) int64 { return third(p, t) },
		"Multi.FreeAt":         func(t int64) int64 { v, _ := m.FreeAt(t, 1); return v },
		"Multi.FreeDuring":     func(t int64) int64 { v, _ := m.FreeDuring(t, 500, 1); return v },
		"Multi.Fits":           func(t int64) int64 { v, _ := m.Fits(t, 50, amounts); return asNumber(v) },
		"Multi.EarliestStart":  func(t int64) int64 { v, _ := m.EarliestStart(t, 60, amounts); return v },
		"Multi.EarliestChange": func(t int64) int64 { v, _ := m.EarliestChange(t, 60, amounts); return v },
		"Multi.Starts":         func(t int64) int64 { return thirdMulti(m, t, amounts) },
	}
}

func asNumber(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func third(p *Planner, after int64) (t int64) {
	n := 0
	for t = range p.Starts(after, 60, 80) {
		if n++; n == 3 {
			break
		}
	}
	return t
}

func thirdMulti(m *Multi, after int64, amounts []int64) (t int64) {
	n := 0
	for t = range m.Starts(after, 60, amounts) {
		if n++; n == 3 {
			break
		}
	}
	return t
}

func TestQueriesAllocateNothing(t *testing.T) {
	p, m := filled(t, 5000)
	for name, ask := range queries(p, m) {
		at := int64(0)
		if n := testing.AllocsPerRun(100, func() { at += 97; ask(at) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// TestConcurrentReaders is for the race detector.
func TestConcurrentReaders(t *testing.T) {
	p, m := filled(t, 3000)
	for name, ask := range queries(p, m) {
		var want [50]int64
		for i := range want {
			want[i] = ask(int64(i) * 500)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for i, w := range want {
					if got := ask(int64(i) * 500); got != w {
						t.Errorf("%s at %d: %d, want %d", name, i*500, got, w)
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestNew(t *testing.T) {
	for _, c := range []struct {
		total, start, end int64
		ok                bool
	}{
		{0, 0, 1, true},
		{MaxTotal, 0, math.MaxInt64, true},
		{1, math.MinInt64, -1, true},
		{1, math.MinInt64, 0, false},
		{1, math.MinInt64, math.MaxInt64, false},
		{MaxTotal + 1, 0, 1, false},
		{-1, 0, 1, false},
		{1, 0, 0, false},
		{1, 1, 0, false},
	} {
		_, err := New(c.total, c.start, c.end)
		_, multiErr := NewMulti([]Quantity{{"", c.total}}, c.start, c.end)
		if c.ok != (err == nil) || c.ok != (multiErr == nil) || err != nil && !errors.Is(err, ErrRange) {
			t.Errorf("total %d over [%d, %d): %v, %v", c.total, c.start, c.end, err, multiErr)
		}
	}
}

// TestEdges queries both ends of the longest plans, where start+duration would overflow.
func TestEdges(t *testing.T) {
	for _, c := range []struct{ start, end int64 }{
		{0, math.MaxInt64}, {1, math.MaxInt64}, {math.MinInt64, -1}, {math.MinInt64 + 1, 0}, {-1 << 62, 1<<62 - 1},
	} {
		p := tight(10, c.start, c.end)
		length := c.end - c.start
		for _, s := range []Span{{c.start, 1, 3}, {c.end - 1, 1, 4}, {c.start, length, 2}, {c.start + length/2, 5, 8}} {
			if _, err := p.Add(s); err != nil {
				t.Fatalf("[%d, %d): %+v: %v", c.start, c.end, s, err)
			}
		}
		for _, s := range []Span{
			{c.start, math.MaxInt64, 11}, {c.start - 1, 1, 1}, {c.end, 1, 1}, {c.end - 1, 2, 1},
			{c.end - 1, math.MaxInt64, 1}, {c.start, 0, 1}, {c.start, math.MinInt64, 1}, {c.start, 1, -1},
		} {
			if _, err := p.Add(s); !errors.Is(err, ErrRange) {
				t.Errorf("[%d, %d): %+v: %v, want ErrRange", c.start, c.end, s, err)
			}
		}
		if got, err := p.EarliestStart(c.start, length/2-1, 6); err != nil || got != c.start+1 {
			t.Errorf("[%d, %d): up to the middle: %d, %v", c.start, c.end, got, err)
		}
		if _, err := p.EarliestStart(c.start, length, 1); !errors.Is(err, ErrNoFit) {
			t.Errorf("[%d, %d): the whole plan, one too many: %v", c.start, c.end, err)
		}
		if _, err := p.EarliestStart(c.start+1, math.MaxInt64, 0); !errors.Is(err, ErrNoFit) {
			t.Errorf("[%d, %d): longer than the plan: %v", c.start, c.end, err)
		}
		if got, err := p.EarliestChange(c.start+1, 1, 4); err != nil || got != c.start+1 {
			t.Errorf("[%d, %d): second change point: %d, %v", c.start, c.end, got, err)
		}
		if got, err := p.FreeDuring(c.start, length); err != nil || got != 0 {
			t.Errorf("[%d, %d): least of all: %d, %v", c.start, c.end, got, err)
		}
	}
}

// TestSpanIDs: the id of a removed span never names another one.
func TestSpanIDs(t *testing.T) {
	p := tight(10, 0, 100)
	if err := p.Remove(0); !errors.Is(err, ErrSpan) {
		t.Errorf("the zero id: %v", err)
	}
	a, _ := p.Add(Span{0, 1, 1})
	if err := p.Remove(a); err != nil {
		t.Fatal(err)
	}
	b, _ := p.Add(Span{5, 1, 1})
	for _, err := range []error{p.Remove(a), p.Reduce(a, 0)} {
		if a == b || !errors.Is(err, ErrSpan) {
			t.Errorf("id %d after removal, next id %d: %v", a, b, err)
		}
	}
	if _, err := p.Span(a); !errors.Is(err, ErrSpan) {
		t.Errorf("Span of a removed id: %v", err)
	}
	if s, err := p.Span(b); err != nil || s != (Span{5, 1, 1}) {
		t.Errorf("Span: %+v, %v", s, err)
	}
}

// TestStartsChanging: the loop's body may change the plan.
func TestStartsChanging(t *testing.T) {
	p := tight(1, 0, 50)
	n := 0
	for t := range p.Starts(0, 10, 1) {
		if _, err := p.Add(Span{t, 10, 1}); err == nil {
			n++
		}
	}
	if free, _ := p.FreeDuring(0, 50); n != 5 || free != 0 {
		t.Errorf("%d spans of 10 in 50, %d left", n, free)
	}
}
