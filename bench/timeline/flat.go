package main

import (
	"slices"

	"github.com/placectl/placectl/timeline"
)

// flat is a plan as one sorted array of change points. Changes move the tail of the array, and searches
// sweep forward over it.
type flat struct {
	total, end int64
	time       []int64
	free       []int64
	refs       []int32
	spans      []timeline.Span // by id; a duration of 0 is none
}

func newFlat(total, end int64, ids int) *flat {
	return &flat{
		total: total, end: end,
		time: []int64{0}, free: []int64{total}, refs: []int32{1},
		spans: make([]timeline.Span, ids),
	}
}

func (f *flat) inside(start, duration int64) bool {
	return start >= 0 && start < f.end && duration >= 1 && duration <= f.end-start
}

// find returns the last point not after t, by binary search.
func (f *flat) find(t int64) int {
	a, i := f.time, 0
	for n := len(a); n > 1; {
		half := n >> 1
		if a[i+half] <= t {
			i += half
		}
		n -= half
	}
	return i
}

// touch returns the index of point t, making it if necessary, and adds a reference.
func (f *flat) touch(t int64) int {
	i := f.find(t)
	if f.time[i] == t {
		f.refs[i]++
		return i
	}
	i++
	f.time = slices.Insert(f.time, i, t)
	f.free = slices.Insert(f.free, i, f.free[i-1])
	f.refs = slices.Insert(f.refs, i, 1)
	return i
}

func (f *flat) untouch(i int) {
	if f.refs[i]--; f.refs[i] == 0 {
		f.time = slices.Delete(f.time, i, i+1)
		f.free = slices.Delete(f.free, i, i+1)
		f.refs = slices.Delete(f.refs, i, i+1)
	}
}

func (f *flat) add(id int, s timeline.Span) bool {
	if s.Amount < 0 || s.Amount > f.total || !f.fits(s.Start, s.Duration, s.Amount) {
		return false
	}
	i, stop := f.touch(s.Start), s.Start+s.Duration
	if stop < f.end {
		f.touch(stop)
	}
	for k := i; k < len(f.time) && f.time[k] < stop; k++ {
		f.free[k] -= s.Amount
	}
	f.spans[id] = s
	return true
}

func (f *flat) remove(id int) bool {
	s := f.spans[id]
	if s.Duration == 0 {
		return false
	}
	i, stop := f.find(s.Start), s.Start+s.Duration
	k := i
	for ; k < len(f.time) && f.time[k] < stop; k++ {
		f.free[k] += s.Amount
	}
	if stop < f.end {
		f.untouch(k)
	}
	f.untouch(i)
	f.spans[id] = timeline.Span{}
	return true
}

func (f *flat) freeAt(t int64) int64 {
	switch {
	case t < 0 || t > f.end:
		return -1
	case t == f.end:
		return f.total
	}
	return f.free[f.find(t)]
}

func (f *flat) freeDuring(start, duration int64) int64 {
	if !f.inside(start, duration) {
		return -1
	}
	i, stop := f.find(start), start+duration
	least := f.free[i]
	for i++; i < len(f.time) && f.time[i] < stop; i++ {
		least = min(least, f.free[i])
	}
	return least
}

func (f *flat) fits(start, duration, amount int64) bool {
	if !f.inside(start, duration) {
		return false
	}
	i, stop := f.find(start), start+duration
	if f.free[i] < amount {
		return false
	}
	for i++; i < len(f.time) && f.time[i] < stop; i++ {
		if f.free[i] < amount {
			return false
		}
	}
	return true
}

func (f *flat) earliest(after, duration, amount int64) int64 {
	if !f.inside(after, duration) || amount > f.total {
		return -1
	}
	return f.sweep(f.find(after), after, duration, amount)
}

func (f *flat) change(after, duration, amount int64) int64 {
	if !f.inside(after, duration) || amount > f.total {
		return -1
	}
	i := f.find(after)
	if f.time[i] < after {
		i++
	}
	if i == len(f.time) {
		return -1
	}
	return f.sweep(i, f.time[i], duration, amount)
}

// sweep searches from point i on. run is where the first run would begin. Like the planner's sweep, it
// has no branch on what is free.
func (f *flat) sweep(i int, run, duration, amount int64) int64 {
	time, free := f.time[i:], f.free[i:]
	last := len(time) - 1
	next, some := time[1:], free[:last]
	next = next[:len(some)] // so that the loop needs no bounds check
	for k, v := range some {
		if time[k]-run >= duration {
			return run
		}
		n := next[k]
		if v < amount {
			run = n
		}
	}
	if time[last]-run >= duration {
		return run
	}
	if free[last] < amount || f.end-run < duration {
		return -1
	}
	return run
}
