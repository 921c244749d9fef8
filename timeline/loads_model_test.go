package timeline

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// naiveLoads is Loads without any structure: a list of what was added, gone
// through for every instant.
type naiveLoads struct {
	now, grace int64
	capacity   map[uint32][]int64
	loads      []naiveLoad
}

type naiveLoad struct {
	node    uint32
	busy    Busy
	amounts []int64
}

func (m *naiveLoads) end(b Busy) int64 {
	if b.Held && b.End <= m.now {
		return m.now + m.grace
	}
	return b.End
}

// free is what is free at t, below zero where the node is overcommitted.
func (m *naiveLoads) free(node uint32, t int64) []int64 {
	free := slices.Clone(m.capacity[node])
	for _, x := range m.loads {
		if x.node == node && x.busy.Start <= t && t < m.end(x.busy) {
			for q, a := range x.amounts {
				free[q] -= a
			}
		}
	}
	return free
}

func (m *naiveLoads) fits(node uint32, from, to int64, demand []int64) bool {
	for t := from; t < to && t <= loadsEnd; t++ {
		for q, f := range m.free(node, t) {
			if max(0, f) < demand[q] {
				return false
			}
		}
	}
	return m.capacity[node] != nil && m.enough(node, demand)
}

func (m *naiveLoads) enough(node uint32, amounts []int64) bool {
	for q, c := range m.capacity[node] {
		if amounts[q] > c {
			return false
		}
	}
	return true
}

func (m *naiveLoads) valid(amounts []int64) bool {
	return len(amounts) == 2 && amounts[0] >= 0 && amounts[1] >= 0
}

func (m *naiveLoads) add(b Busy, takes []Take, fitting bool) error {
	for _, t := range takes {
		if m.capacity[t.Node] == nil || !m.valid(t.Amounts) || fitting && !m.enough(t.Node, t.Amounts) {
			return ErrRange
		}
	}
	if b.End <= b.Start {
		return ErrRange
	}
	before := slices.Clone(m.loads)
	for _, t := range takes {
		if fitting && !m.fits(t.Node, b.Start, m.end(b), t.Amounts) {
			m.loads = before
			return ErrBusy
		}
		m.loads = append(m.loads, naiveLoad{t.Node, b, slices.Clone(t.Amounts)})
	}
	return nil
}

func (m *naiveLoads) remove(owner uint64, nodes []uint32) error {
	for _, node := range nodes {
		if !slices.ContainsFunc(m.loads, func(x naiveLoad) bool { return x.node == node && x.busy.Owner == owner }) {
			return ErrSpan
		}
	}
	m.loads = slices.DeleteFunc(m.loads, func(x naiveLoad) bool { return x.busy.Owner == owner && slices.Contains(nodes, x.node) })
	return nil
}

func (m *naiveLoads) freeThroughout(candidates []uint32, from, to int64, demand []int64) []uint32 {
	var free []uint32
	for _, node := range candidates {
		if m.fits(node, from, to, demand) {
			free = append(free, node)
		}
	}
	return free
}

var loadsNodes = []uint32{0, 1, 63, 64, 200}

const (
	loadsNow   = 10
	loadsGrace = 3
	loadsEnd   = 60 // nothing is taken from here on
)

// loadsPair is Loads and the model of it, told and asked the same. Times given to
// it lie in [0, 40), lengths below 12.
type loadsPair struct {
	t interface {
		Helper()
		Fatalf(string, ...any)
	}
	l *Loads
	m *naiveLoads
}

func newLoadsPair(t testing.TB) *loadsPair {
	l, err := NewLoads([]string{"ncpus", "mem"}, loadsNow, loadsGrace)
	if err != nil {
		t.Fatal(err)
	}
	return &loadsPair{t, l, &naiveLoads{loadsNow, loadsGrace, map[uint32][]int64{}, nil}}
}

func (p *loadsPair) same(what string, got, want error) {
	p.t.Helper()
	if (got == nil) != (want == nil) || want != nil && !errors.Is(got, want) {
		p.t.Fatalf("%s: %v, the model says %v", what, got, want)
	}
}

func (p *loadsPair) setNode(node uint32, capacity []int64) {
	p.t.Helper()
	var want error
	if !p.m.valid(capacity) {
		want = ErrRange
	} else {
		p.m.capacity[node] = slices.Clone(capacity)
	}
	p.same("SetNode", p.l.SetNode(node, capacity), want)
}

func (p *loadsPair) add(b Busy, takes []Take, fitting bool) {
	p.t.Helper()
	add := p.l.Put
	if fitting {
		add = p.l.Add
	}
	p.same(fmt.Sprintf("adding %+v of %v", b, takes), add(b, takes), p.m.add(b, takes, fitting))
}

func (p *loadsPair) remove(owner uint64, nodes []uint32) {
	p.t.Helper()
	p.same(fmt.Sprintf("removing %d from %v", owner, nodes), p.l.Remove(owner, nodes), p.m.remove(owner, nodes))
}

func (p *loadsPair) setNow(now int64) {
	p.l.SetNow(now)
	p.m.now = now
}

// valid compares every instant of every node, and checks what nodeLoads promises
// about itself.
func (p *loadsPair) valid() {
	p.t.Helper()
	for _, node := range loadsNodes {
		n := p.l.node(node)
		if (n == nil) != (p.m.capacity[node] == nil) {
			p.t.Fatalf("node %d: %v", node, n)
		}
		if n == nil {
			continue
		}
		for t := int64(-1); t <= loadsEnd; t++ {
			want := p.m.free(node, t)
			for q := range want {
				want[q] = max(0, want[q])
			}
			if got, err := p.l.FreeAt(nil, node, t); err != nil || !slices.Equal(got, want) {
				p.t.Fatalf("node %d at %d: %v (%v) free, want %v", node, t, got, err, want)
			}
		}
		if n.heldUntil != n.leastHeld() || len(n.used) != len(n.times)*2 {
			p.t.Fatalf("node %d: %+v", node, n)
		}
		last := []int64{0, 0}
		for i := range n.times {
			if slices.Equal(n.step(i), last) || i > 0 && n.times[i] <= n.times[i-1] {
				p.t.Fatalf("node %d: step %d of %v, %v", node, i, n.times, n.used)
			}
			last = n.step(i)
		}
		if last[0] != 0 || last[1] != 0 {
			p.t.Fatalf("node %d: %v is taken for ever", node, last)
		}
	}
}

// ask asks every question.
func (p *loadsPair) ask(candidates []uint32, n int, demand []int64, d, after int64) {
	p.t.Helper()
	set := roaring.BitmapOf(candidates...)
	candidates = set.ToArray()
	for _, node := range candidates {
		p.askNode(node, after, after+d, demand)
	}
	free, err := p.l.FreeThroughout(set, after, after+d, demand)
	var bad error
	if !p.m.valid(demand) || d < 1 {
		bad = ErrRange
	}
	p.same("FreeThroughout", err, bad)
	if want := p.m.freeThroughout; bad == nil && !slices.Equal(free.ToArray(), want(candidates, after, after+d, demand)) {
		p.t.Fatalf("%v free in [%d, %d): %v, one by one %v", demand, after, after+d, free, want(candidates, after, after+d, demand))
	}
	at, nodes, err := p.l.Earliest(set, n, demand, d, after)
	if bad != nil || n < 1 {
		p.same("Earliest", err, ErrRange)
		return
	}
	for t := after; t <= loadsEnd; t++ {
		want := p.m.freeThroughout(candidates, t, t+d, demand)
		if len(want) < n {
			continue
		}
		if err != nil || at != t || !slices.Equal(nodes.ToArray(), want[:n]) {
			p.t.Fatalf("%d nodes with %v for %d from %d on: %v at %d (%v), one by one %v at %d", n, demand, d, after, nodes, at, err, want[:n], t)
		}
		return
	}
	p.same("Earliest", err, ErrNoFit)
}

func (p *loadsPair) askNode(node uint32, from, to int64, demand []int64) {
	p.t.Helper()
	fits, err := p.l.Fits(node, from, to, demand)
	free, freeErr := p.l.FreeDuring(nil, node, from, to)
	if p.m.capacity[node] == nil || from >= to {
		p.same("Fits", err, ErrRange)
		p.same("FreeDuring", freeErr, ErrRange)
		return
	}
	least := slices.Clone(p.m.capacity[node])
	for t := from; t < to; t++ {
		for q, f := range p.m.free(node, t) {
			least[q] = min(least[q], max(0, f))
		}
	}
	if freeErr != nil || !slices.Equal(free, least) {
		p.t.Fatalf("node %d in [%d, %d): %v (%v) free, want %v", node, from, to, free, freeErr, least)
	}
	if !p.m.valid(demand) {
		p.same("Fits", err, ErrRange)
	} else if want := p.m.fits(node, from, to, demand); err != nil || fits != want {
		p.t.Fatalf("%v on node %d in [%d, %d): %v (%v), want %v", demand, node, from, to, fits, err, want)
	}
}
