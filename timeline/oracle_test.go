package timeline

import (
	"fmt"
	"slices"
)

// naive is the simplest possible planner: an array with what is used at every instant, and
// every query a loop over it.
type naive struct {
	total int64
	start int64
	used  []int64
	spans map[int]Span // by the number of the call that added them
}

func newNaive(total, start, end int64) *naive {
	return &naive{total: total, start: start, used: make([]int64, end-start), spans: map[int]Span{}}
}

func (m *naive) end() int64 { return m.start + int64(len(m.used)) }

func (m *naive) covers(start, duration int64) bool {
	return start >= m.start && start < m.end() && duration >= 1 && duration <= m.end()-start
}

func (m *naive) put(s Span, amount int64) {
	for t := s.Start; t < s.Start+s.Duration; t++ {
		m.used[t-m.start] += amount
	}
}

func (m *naive) add(n int, s Span) error {
	ok, err := m.fits(s.Start, s.Duration, s.Amount)
	if err != nil {
		return err
	}
	if !ok {
		return ErrBusy
	}
	m.put(s, s.Amount)
	m.spans[n] = s
	return nil
}

func (m *naive) reduce(n int, amount int64) error {
	s, ok := m.spans[n]
	if !ok {
		return ErrSpan
	}
	if amount < 0 || amount > s.Amount {
		return ErrRange
	}
	m.put(s, -amount)
	s.Amount -= amount
	if m.spans[n] = s; s.Amount == 0 {
		delete(m.spans, n)
	}
	return nil
}

func (m *naive) remove(n int) error { return m.reduce(n, m.spans[n].Amount) }

func (m *naive) freeDuring(start, duration int64) (int64, error) {
	if !m.covers(start, duration) {
		return 0, ErrRange
	}
	most := slices.Max(m.used[start-m.start : start-m.start+duration])
	return max(0, m.total-most), nil
}

func (m *naive) freeAt(t int64) (int64, error) {
	if t == m.end() {
		return m.total, nil
	}
	return m.freeDuring(t, 1)
}

func (m *naive) fits(start, duration, amount int64) (bool, error) {
	if amount < 0 || amount > m.total {
		return false, ErrRange
	}
	free, err := m.freeDuring(start, duration)
	return err == nil && free >= amount, err
}

// changes returns a function that reports whether an instant is a change point.
func (m *naive) changes() func(int64) bool {
	set := map[int64]bool{m.start: true}
	for _, s := range m.spans {
		set[s.Start], set[s.Start+s.Duration] = true, true
	}
	return func(t int64) bool { return set[t] }
}

// earliest counts, for every instant from the last to the first, how long the amount stays
// free from there on.
func (m *naive) earliest(after, duration, amount int64, accept func(int64) bool) (int64, error) {
	if amount < 0 || amount > m.total || !m.covers(after, 1) || duration < 1 {
		return 0, ErrRange
	}
	best, found := int64(0), false
	for t, run := m.end()-1, int64(0); t >= after; t-- {
		if run++; max(0, m.total-m.used[t-m.start]) < amount {
			run = 0
		}
		if run >= duration && accept(t) {
			best, found = t, true
		}
	}
	if !found {
		return 0, ErrNoFit
	}
	return best, nil
}

func anyMoment(int64) bool { return true }

// validate checks the invariants of the tree.
func (p *profile) validate() error {
	if err := p.validateBelow(p.root, p.height, p.start, p.end); err != nil {
		return err
	}
	n := 0
	p.eachLeaf(p.root, p.height, func(l *leaf) {
		if l.runs.stale {
			n++
		}
	})
	if n > staleLeaves {
		return fmt.Errorf("%d stale leaves, at most %d are queued", n, staleLeaves)
	}
	return nil
}

func (p *profile) eachLeaf(nd *inner, h int, f func(*leaf)) {
	for i := range nd.n {
		if h > 0 {
			p.eachLeaf(nd.kid[i], h-1, f)
		} else {
			f(nd.leaf[i])
		}
	}
}

func (p *profile) validateBelow(nd *inner, h int, start, end int64) error {
	if nd.n < 1 || nd.n > p.fanout || nd.first[0] != start {
		return fmt.Errorf("height %d: %d children from %d, want from %d", h, nd.n, nd.first[0], start)
	}
	for i := range nd.n {
		stop := nd.stop(i, end)
		var lo, hi int64
		var err error
		if h > 0 {
			err = p.validateBelow(nd.kid[i], h-1, nd.first[i], stop)
			lo, hi = nd.kid[i].bounds()
		} else {
			err = p.validateLeaf(nd.leaf[i], nd.first[i], stop)
			lo, hi = nd.leaf[i].bounds()
		}
		if err != nil {
			return err
		}
		if nd.lo[i] != lo+nd.add[i] || nd.hi[i] != hi+nd.add[i] {
			return fmt.Errorf("height %d: bounds %d..%d, want %d..%d", h, nd.lo[i], nd.hi[i], lo+nd.add[i],
				hi+nd.add[i])
		}
	}
	if h == 0 {
		return p.validateRuns(nd, end)
	}
	return nil
}

func (p *profile) validateLeaf(l *leaf, start, stop int64) error {
	if l.n < 1 || l.n > p.leafCap || l.time[0] != start || l.end != stop {
		return fmt.Errorf("leaf of %d covers %d..%d, want %d..%d", l.n, l.time[0], l.end, start, stop)
	}
	for i := 1; i < l.n; i++ {
		if l.time[i] <= l.time[i-1] || l.time[i] >= stop || l.refs[i] == 0 {
			return fmt.Errorf("point %d of leaf at %d: time %d, %d references", i, start, l.time[i], l.refs[i])
		}
	}
	for _, limit := range l.used[:l.n] {
		if want := longest(l, limit, nil, 0); l.runs.bound(limit) < want {
			return fmt.Errorf("leaf at %d: bound %d below the run of %d within %d", start, l.runs.bound(limit), want,
				limit)
		}
	}
	return nil
}

func (p *profile) validateRuns(nd *inner, end int64) error {
	for i := range nd.n {
		for _, limit := range []int64{nd.lo[i], nd.hi[i] - 1} {
			best, run := int64(0), int64(0)
			for k := range nd.n {
				l := nd.leaf[k]
				best = max(best, longest(l, limit-nd.add[k], &run, best))
			}
			if b := nd.runs.bound(limit); b < best {
				return fmt.Errorf("node at %d: bound %d below the run of %d within %d", nd.first[0], b, best, limit)
			}
		}
	}
	return nil
}

// longest returns the longest run of the leaf within the limit. *in is the length of the run
// that enters from before, and it becomes the length of the run that leaves.
func longest(l *leaf, limit int64, in *int64, best int64) int64 {
	run := int64(0)
	if in != nil {
		run = *in
	}
	for i := range l.n {
		stop := l.end
		if i+1 < l.n {
			stop = l.time[i+1]
		}
		if run += stop - l.time[i]; l.used[i] > limit {
			run = 0
		}
		best = max(best, run)
	}
	if in != nil {
		*in = run
	}
	return best
}

// tight returns a planner whose tree nodes are full early.
func tight(total, start, end int64) *Planner {
	p, err := New(total, start, end)
	if err != nil {
		panic(err)
	}
	p.used.leafCap, p.used.fanout = 4, 4
	return p
}
