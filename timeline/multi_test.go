package timeline

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// naiveMulti holds one naive array for each quantity, and the spans.
type naiveMulti struct {
	names []string
	q     []*naive
	spans map[int]MultiSpan
}

func (m *naiveMulti) askable(amounts []int64) bool {
	if len(amounts) != len(m.q) {
		return false
	}
	for i, a := range amounts {
		if a < 0 || a > m.q[i].total {
			return false
		}
	}
	return true
}

func (m *naiveMulti) fits(start, duration int64, amounts []int64) (bool, error) {
	if !m.askable(amounts) || !m.q[0].covers(start, duration) {
		return false, ErrRange
	}
	for i, a := range amounts {
		if ok, _ := m.q[i].fits(start, duration, a); !ok {
			return false, nil
		}
	}
	return true, nil
}

// take adds the amounts times sign, and records what the span holds afterwards.
func (m *naiveMulti) take(n int, s MultiSpan, amounts []int64, sign int64) {
	s.Amounts = slices.Clone(s.Amounts)
	for i, a := range amounts {
		m.q[i].put(Span{s.Start, s.Duration, 0}, sign*a)
		s.Amounts[i] += sign * a
	}
	m.spans[n] = s
}

func (m *naiveMulti) add(n int, s MultiSpan) error {
	ok, err := m.fits(s.Start, s.Duration, s.Amounts)
	if err == nil && !ok {
		err = ErrBusy
	}
	if err == nil {
		amounts := s.Amounts
		s.Amounts = make([]int64, len(amounts))
		m.take(n, s, amounts, 1)
	}
	return err
}

func (m *naiveMulti) reduce(n int, amounts []int64) error {
	s, ok := m.spans[n]
	if !ok {
		return ErrSpan
	}
	if len(amounts) != len(m.q) {
		return ErrRange
	}
	for i, a := range amounts {
		if a < 0 || a > s.Amounts[i] {
			return ErrRange
		}
	}
	m.take(n, s, amounts, -1)
	if slices.Max(m.spans[n].Amounts) == 0 {
		delete(m.spans, n)
	}
	return nil
}

// resize keeps what the named quantities had; the arrays of the others are lost with their
// names.
func (m *naiveMulti) resize(quantities []Quantity) {
	old := *m
	m.names, m.q = nil, nil
	from := make([]int, len(quantities))
	for i, q := range quantities {
		n := newNaive(q.Total, old.q[0].start, old.q[0].end())
		if from[i] = slices.Index(old.names, q.Name); from[i] >= 0 {
			n.used = old.q[from[i]].used
		}
		m.names, m.q = append(m.names, q.Name), append(m.q, n)
	}
	for n, s := range m.spans {
		amounts := make([]int64, len(from))
		for i, k := range from {
			if k >= 0 {
				amounts[i] = s.Amounts[k]
			}
		}
		s.Amounts = amounts
		m.spans[n] = s
	}
}

func (m *naiveMulti) earliest(after, duration int64, amounts []int64, points bool) (int64, error) {
	if !m.askable(amounts) || !m.q[0].covers(after, 1) || duration < 1 {
		return 0, ErrRange
	}
	set := map[int64]bool{m.q[0].start: true}
	for _, s := range m.spans {
		set[s.Start], set[s.Start+s.Duration] = true, true
	}
	for t := after; t < m.q[0].end(); t++ {
		if ok, err := m.fits(t, duration, amounts); ok && err == nil && (set[t] || !points) {
			return t, nil
		}
	}
	return 0, ErrNoFit
}

// multiPair is to a Multi what pair is to a Planner.
type multiPair struct {
	*rapid.T
	p     *Multi
	m     *naiveMulti
	ids   map[int]SpanID
	calls int
}

func (c *multiPair) same(what string, got any, err error, want any, wantErr error) {
	c.Helper()
	if !errors.Is(err, wantErr) || err == nil && got != want {
		c.Fatalf("call %d, %s: %v, %v; want %v, %v", c.calls, what, got, err, want, wantErr)
	}
}

func (c *multiPair) add(s MultiSpan) {
	c.calls++
	id, err := c.p.Add(s)
	c.same("Add", 0, err, 0, c.m.add(c.calls, s))
	if err == nil {
		c.ids[c.calls] = id
		clear(s.Amounts) // the plan must have its own
	}
}

func (c *multiPair) remove(n int) {
	c.calls++
	want := ErrSpan
	if s, ok := c.m.spans[n]; ok {
		c.m.take(n, s, s.Amounts, -1)
		delete(c.m.spans, n)
		want = nil
	}
	c.same("Remove", 0, c.p.Remove(c.ids[n]), 0, want)
}

func (c *multiPair) reduce(n int, amounts []int64) {
	c.calls++
	if s, ok := c.m.spans[n]; ok && len(s.Amounts) == len(amounts) && slices.Max(s.Amounts) == 0 &&
		slices.Max(amounts) == 0 {
		c.remove(n) // all that it holds is nothing
		return
	}
	c.same("Reduce", 0, c.p.Reduce(c.ids[n], amounts), 0, c.m.reduce(n, amounts))
}

func (c *multiPair) ask(start, duration int64, amounts []int64) {
	c.calls++
	fits, err := c.p.Fits(start, duration, amounts)
	want, wantErr := c.m.fits(start, duration, amounts)
	c.same("Fits", fits, err, want, wantErr)
	for i := range c.m.q {
		got, err := c.p.FreeAt(start, i)
		want, wantErr := c.m.q[i].freeAt(start)
		c.same("FreeAt", got, err, want, wantErr)
		got, err = c.p.FreeDuring(start, duration, i)
		want, wantErr = c.m.q[i].freeDuring(start, duration)
		c.same("FreeDuring", got, err, want, wantErr)
	}
	got, err := c.p.EarliestStart(start, duration, amounts)
	wantT, wantErr := c.m.earliest(start, duration, amounts, false)
	c.same("EarliestStart", got, err, wantT, wantErr)
	got, err = c.p.EarliestChange(start, duration, amounts)
	wantT, wantErr = c.m.earliest(start, duration, amounts, true)
	c.same("EarliestChange", got, err, wantT, wantErr)
	c.starts(start, duration, amounts)
}

func (c *multiPair) starts(after, duration int64, amounts []int64) {
	var got, want []int64
	for t := range c.p.Starts(after, duration, amounts) {
		if got = append(got, t); len(got) == 5 {
			break
		}
	}
	if ok, err := c.m.fits(after, duration, amounts); ok && err == nil {
		want = append(want, after)
	}
	for t := after; len(want) < 5; want = append(want, t) {
		var err error
		if t, err = c.m.earliest(t+1, duration, amounts, true); err != nil || !c.m.q[0].covers(after, 1) {
			break
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		c.Fatalf("call %d, Starts: -want +got\n%s", c.calls, d)
	}
}

func (c *multiPair) valid() {
	if c.p.Len() != len(c.m.spans) {
		c.Fatalf("call %d: %d spans, want %d", c.calls, c.p.Len(), len(c.m.spans))
	}
	for n, want := range c.m.spans {
		got, err := c.p.Span(c.ids[n])
		if d := cmp.Diff(want, got); err != nil || d != "" {
			c.Fatalf("call %d, span %d: %v -want +got\n%s", c.calls, n, err, d)
		}
	}
	for _, p := range append(slices.Clone(c.p.used), c.p.points) {
		if err := p.validate(); err != nil {
			c.Fatalf("call %d: %v", c.calls, err)
		}
	}
}

// TestMultiModel compares with naive arrays over random calls.
func TestMultiModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.Int64Range(-20, 20).Draw(t, "start")
		end := start + rapid.Int64Range(1, 60).Draw(t, "length")
		quantity := rapid.Custom(func(t *rapid.T) Quantity {
			return Quantity{rapid.StringMatching("[a-d]").Draw(t, "name"), rapid.Int64Range(0, 6).Draw(t, "total")}
		})
		some := rapid.SliceOfNDistinct(quantity, 1, 3, func(q Quantity) string { return q.Name })
		first := some.Draw(t, "quantities")
		p, err := NewMulti(first, start, end)
		if err != nil {
			t.Fatal(err)
		}
		c := &multiPair{T: t, p: p, m: &naiveMulti{spans: map[int]MultiSpan{}}, ids: map[int]SpanID{}}
		c.m.q = []*naive{newNaive(0, start, end)}
		c.m.resize(first)
		moment := rapid.Int64Range(start-1, end+1)
		length := rapid.Int64Range(0, 12)
		amounts := rapid.Custom(func(t *rapid.T) []int64 {
			n := len(c.m.q) + max(0, rapid.IntRange(-9, 1).Draw(t, "too many"))
			return rapid.SliceOfN(rapid.Int64Range(0, 4), n, n).Draw(t, "amounts")
		})
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				c.add(MultiSpan{moment.Draw(t, "start"), length.Draw(t, "duration"), amounts.Draw(t, "amounts")})
			},
			"remove": func(t *rapid.T) { c.remove(rapid.IntRange(0, c.calls).Draw(t, "n")) },
			"reduce": func(t *rapid.T) {
				c.reduce(rapid.IntRange(0, c.calls).Draw(t, "n"), amounts.Draw(t, "amounts"))
			},
			"resize": func(t *rapid.T) {
				q := some.Draw(t, "quantities")
				if err := c.p.Resize(q); err != nil {
					t.Fatal(err)
				}
				c.m.resize(q)
			},
			"ask": func(t *rapid.T) {
				c.ask(moment.Draw(t, "start"), length.Draw(t, "duration"), amounts.Draw(t, "amounts"))
			},
			"": func(*rapid.T) { c.valid() },
		})
	})
}

// TestMultiRefused: a call that one quantity refuses changes no other.
func TestMultiRefused(t *testing.T) {
	m, err := NewMulti([]Quantity{{"cpu", 10}, {"gpu", 2}}, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	id, err := m.Add(MultiSpan{10, 10, []int64{4, 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		call func() error
		want error
	}{
		{"busy", func() error { _, err := m.Add(MultiSpan{5, 10, []int64{1, 2}}); return err }, ErrBusy},
		{"above the total", func() error { _, err := m.Add(MultiSpan{5, 10, []int64{1, 3}}); return err }, ErrRange},
		{"short vector", func() error { _, err := m.Add(MultiSpan{5, 10, []int64{1}}); return err }, ErrRange},
		{"too much back", func() error { return m.Reduce(id, []int64{1, 2}) }, ErrRange},
		{"short reduction", func() error { return m.Reduce(id, []int64{1}) }, ErrRange},
		{"unknown span", func() error { return m.Reduce(id+1, []int64{1, 1}) }, ErrSpan},
		{"no quantities", func() error { return m.Resize(nil) }, ErrRange},
		{"a name twice", func() error { return m.Resize([]Quantity{{"cpu", 1}, {"cpu", 1}}) }, ErrRange},
		{"negative total", func() error { return m.Resize([]Quantity{{"cpu", 1}, {"gpu", -1}}) }, ErrRange},
		{"unknown name", func() error { _, err := m.Vector(map[string]int64{"cpu": 1, "mem": 1}); return err },
			ErrRange},
	} {
		if err := c.call(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		s, err := m.Span(id)
		if d := cmp.Diff(MultiSpan{10, 10, []int64{4, 1}}, s); err != nil || d != "" {
			t.Errorf("%s: %v, span -want +got\n%s", c.name, err, d)
		}
		for at, want := range map[int64][2]int64{5: {10, 2}, 10: {6, 1}, 20: {10, 2}} {
			cpu, _ := m.FreeAt(at, 0)
			gpu, _ := m.FreeAt(at, 1)
			if got := [2]int64{cpu, gpu}; got != want {
				t.Errorf("%s: free at %d: %v, want %v", c.name, at, got, want)
			}
		}
		if got, _ := m.EarliestChange(0, 1, []int64{0, 0}); got != 0 || m.Len() != 1 {
			t.Errorf("%s: first point %d, %d spans", c.name, got, m.Len())
		}
		if got, _ := m.EarliestChange(1, 1, []int64{0, 0}); got != 10 {
			t.Errorf("%s: second point %d, want 10", c.name, got)
		}
	}
}
