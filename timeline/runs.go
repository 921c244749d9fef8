package timeline

import (
	"math"
	"math/bits"
)

// A search for a long window in a profile full of short gaps would fail at every gap. So
// leaves, and the nodes above them, know their longest free run for a few limits on the amount
// used. A search skips nodes without a long enough run.
//
// Limits are counted from the node's greatest amount downward, in half octaves. If a node is
// full somewhere, as in busy plans, that is the size of the request, in steps of at most a
// half. A request within a step gets the longest run of its lower edge, which is never too
// short.
//
// An addition shortens runs and leaves the lengths correct as upper bounds. A subtraction
// makes them stale, and a stale node is searched point by point. There are never more stale
// nodes than staleNodes holds: the next one sends the oldest to be measured again. So changes
// close to each other, which are the rule, share one measurement, and no query ever makes one.

const (
	runLevels = 16

	// looseMax is the number of additions after which runs are measured again. After more, the
	// old lengths would still be bounds, but may be far too high.
	looseMax = 32
)

type runs struct {
	top    int64 // the greatest amount when measured
	base   int8  // the half octave of level 0
	loose  uint8 // additions since
	stale  bool
	length [runLevels]int64
}

// halfOctave returns 2 log2 q, rounded down. q is positive.
func halfOctave(q int64) int {
	o := bits.Len64(uint64(q)) - 1
	if o == 0 {
		return 0
	}
	return 2*o + int(q>>(o-1)&1)
}

// reset prepares for a measurement of a node with these bounds. Level 0 includes everything
// below the top.
func (r *runs) reset(lo, hi int64) {
	*r = runs{top: hi}
	if hi > lo {
		r.base = int8(max(0, halfOctave(hi-lo)-runLevels+1))
	}
}

// level returns the level of a limit below the top.
func (r *runs) level(limit int64) int {
	return max(0, min(halfOctave(r.top-limit)-int(r.base), runLevels-1))
}

// edge returns the greatest limit that belongs to a level.
func (r *runs) edge(k int) int64 {
	if k == 0 {
		return r.top - 1
	}
	o := (k + int(r.base)) / 2
	q := int64(1) << o
	if (k+int(r.base))%2 == 1 && o > 0 {
		q += q / 2
	}
	return r.top - max(q, 1)
}

// bound returns a length that no run within the limit exceeds.
func (r *runs) bound(limit int64) int64 {
	if r.stale || limit >= r.top {
		return math.MaxInt64
	}
	return r.length[r.level(limit)]
}

// measure finds the longest runs of the leaf. For every point it finds the widest window in
// which nothing exceeds it, by the classical stack of descending amounts: a point leaves the
// stack when one at least as high comes, and its window reaches from the next higher point
// below it up to there. Runs at the top itself are left out, because a leaf within the limit
// throughout is never queried.
func (l *leaf) measure() {
	r := &l.runs
	r.reset(l.bounds())
	var stack [leafCap]uint8
	depth := 0
	for i := 0; i <= l.n; i++ {
		stop, level := l.end, int64(math.MaxInt64)
		if i < l.n {
			stop, level = l.time[i], l.used[i]
		}
		for depth > 0 && l.used[stack[depth-1]] <= level {
			depth--
			v, from := l.used[stack[depth]], l.time[0]
			if depth > 0 {
				from = l.time[stack[depth-1]+1]
			}
			if v < r.top {
				k := r.level(v)
				r.length[k] = max(r.length[k], stop-from)
			}
		}
		if i < l.n {
			stack[depth] = uint8(i)
			depth++
		}
	}
	for k := runLevels - 2; k >= 0; k-- {
		r.length[k] = max(r.length[k], r.length[k+1])
	}
}

// firstBusy returns where the first point above the limit begins, or the
// leaf's end.
func (l *leaf) firstBusy(limit int64) int64 {
	for i := range l.n {
		if l.used[i] > limit {
			return l.time[i]
		}
	}
	return l.end
}

// lastBusy returns where the last point above the limit ends, or the leaf's
// start.
func (l *leaf) lastBusy(limit int64) int64 {
	stop := l.end
	for i := l.n - 1; i >= 0; i-- {
		if l.used[i] > limit {
			break
		}
		stop = l.time[i]
	}
	return stop
}
