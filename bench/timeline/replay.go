package main

import (
	"hash/fnv"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/placectl/placectl/timeline"
)

// A row is one operation in one phase.
type row struct {
	phase   string
	kind    byte
	n       int
	total   int64   // ns
	samples []int64 // ns an operation, one a timing
	allocs  float64 // an operation of the phase
	hash    uint64
}

func (r *row) mean() float64 { return float64(r.total) / float64(r.n) }

type result struct {
	impl    string
	rows    []*row
	span    float64 // bytes a live span after the first phase with operations
	digest  uint64
	answers []int64
	pair    int64 // ns of two clock readings
}

// merge keeps the faster of two replays, row by row.
func (r *result) merge(old *result) *result {
	if old == nil {
		return r
	}
	for i := range r.rows {
		if old.rows[i].total < r.rows[i].total {
			r.rows[i] = old.rows[i]
		}
	}
	return r
}

// clock is the cost of two readings of the clock. It is measured before each replay and subtracted from
// every timing.
type clock struct {
	epoch time.Time
	pair  int64
}

func (c *clock) now() int64 { return int64(time.Since(c.epoch)) }

func newClock() *clock {
	c := &clock{epoch: time.Now()}
	samples := make([]int64, 20001)
	for i := range samples {
		from := c.now()
		samples[i] = c.now() - from
	}
	slices.Sort(samples)
	c.pair = samples[len(samples)/2]
	return c
}

// A replaying is a replay in progress.
type replaying struct {
	plan plan
	last op // of the last Q or N, after set past its answer
}

func (r *replaying) do(o *op) int64 {
	switch o.kind {
	case 'A':
		return truth(r.plan.add(o.id, timeline.Span{Start: o.a, Duration: o.b, Amount: o.c}))
	case 'R':
		return truth(r.plan.remove(o.id))
	case 'Q':
		return r.first(*o)
	case 'N':
		return r.first(r.last)
	case 'E':
		return r.plan.earliest(o.a, o.b, o.c)
	case 'T':
		return r.plan.freeAt(o.a)
	case 'D':
		return truth(r.plan.fits(o.a, o.b, o.c))
	}
	return r.plan.freeDuring(o.a, o.b)
}

func (r *replaying) first(o op) int64 {
	t := r.plan.change(o.a, o.b, o.c)
	if r.last = o; t >= 0 {
		r.last.a = t + 1
	}
	return t
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func heapBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

func replay(st *stream, impl string, group int) (*result, error) {
	total := 0
	for _, ph := range st.phases {
		total += len(ph.ops)
	}
	res := &result{impl: impl, answers: make([]int64, 0, total)}
	p, err := newPlan(impl, st)
	if err != nil {
		return nil, err
	}
	r, c := &replaying{plan: p}, newClock()
	res.pair = c.pair
	before := heapBytes()
	for _, ph := range st.phases {
		if len(ph.ops) == 0 {
			continue
		}
		rows := timePhase(r, c, ph, group, &res.answers)
		if res.rows == nil {
			res.span = (float64(heapBytes()) - float64(before) - rowBytes(rows)) / float64(liveSpans(ph))
		}
		res.rows = append(res.rows, rows...)
	}
	h := fnv.New64a()
	for _, a := range res.answers {
		hashAnswer(h, a)
	}
	res.digest = h.Sum64()
	runtime.KeepAlive(p)
	return res, nil
}

func liveSpans(ph phase) int {
	n := 0
	for _, o := range ph.ops {
		switch o.kind {
		case 'A':
			n++
		case 'R':
			n--
		}
	}
	return max(n, 1)
}

func rowBytes(rows []*row) float64 {
	n := 0
	for _, r := range rows {
		n += cap(r.samples) * 8
	}
	return float64(n)
}

func hashAnswer(h io.Writer, a int64) {
	h.Write([]byte{byte(a), byte(a >> 8), byte(a >> 16), byte(a >> 24), byte(a >> 32), byte(a >> 40), byte(a >> 48),
		byte(a >> 56)})
}

// timePhase replays one phase. What it needs itself is allocated before.
func timePhase(r *replaying, c *clock, ph phase, group int, answers *[]int64) []*row {
	var byKind [256]*row
	for _, o := range ph.ops {
		if byKind[o.kind] == nil {
			byKind[o.kind] = &row{phase: ph.name, kind: o.kind}
		}
		byKind[o.kind].n++
	}
	var rows []*row
	for _, k := range "ARQNETDM" {
		if w := byKind[k]; w != nil {
			w.samples = make([]int64, 0, w.n)
			rows = append(rows, w)
		}
	}
	first, before := len(*answers), mallocs()
	for i := 0; i < len(ph.ops); {
		j, kind := i+1, ph.ops[i].kind
		for j < len(ph.ops) && j-i < group && ph.ops[j].kind == kind {
			j++
		}
		from := c.now()
		for k := i; k < j; k++ {
			*answers = append(*answers, r.do(&ph.ops[k]))
		}
		took := max(0, c.now()-from-c.pair)
		w := byKind[kind]
		w.total += took
		w.samples = append(w.samples, took/int64(j-i))
		i = j
	}
	allocs := float64(mallocs()-before) / float64(len(ph.ops))
	for _, w := range rows {
		h := fnv.New64a()
		for i, o := range ph.ops {
			if o.kind == w.kind {
				hashAnswer(h, (*answers)[first+i])
			}
		}
		w.hash, w.allocs = h.Sum64(), allocs
		slices.Sort(w.samples)
	}
	return rows
}
