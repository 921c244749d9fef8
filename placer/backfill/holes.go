package backfill

import "math/bits"

// Holes say of a profile, in one look at all its steps, from when on a job of
// any shape could fit at the earliest. The answer is a bound: never too late,
// sometimes too early. Nearly always it proves that a job cannot start before
// the time it has, without a search of its own.
//
// Processors are told apart by powers of two alone. For each power there are the
// stretches of time in which that many are free, of which only those are kept
// that are longer than all before them: any other could not be the first for any
// length. So there are few to look through.
//
// The bound holds as long as processors are only taken. Where some are given
// back, jobs that start after that may fit into what comes of it, and only those
// that need no more than is free there. regained notes both, and a look is due
// (stale) only when a job is asked about to which that applies.
type holes struct {
	records  [levels][]hole
	opened   [levels]int64 // while looking
	regained [levels]int64 // since the look: from when on so many are free where they were not
}

// levels is how many lengths in bits an int64 has.
const levels = 64

// level is the one of a number of processors: where the level of what is free is
// below it, so many are not free.
func level(procs int64) int { return bits.Len64(uint64(procs)) }

type hole struct{ at, length int64 }

// look sums the profile up, from now until limit.
func (h *holes) look(p *profile, now, limit int64) {
	for k := range h.records {
		h.records[k] = h.records[k][:0]
		h.regained[k] = never
	}
	open := 0 // levels up to here are
	for _, s := range p.steps {
		t := max(s.at, now)
		if t >= limit {
			break
		}
		for l := level(s.free); open != l; {
			if open > l {
				h.close(open, t)
				open--
			} else {
				open++
				h.opened[open] = t
			}
		}
	}
	for ; open > 0; open-- {
		h.close(open, never) // how long it goes on was not looked at
	}
}

func (h *holes) close(level int, t int64) {
	r, length := h.records[level], t-h.opened[level]
	if t == never {
		length = never
	}
	if len(r) == 0 || length > r[len(r)-1].length {
		h.records[level] = append(r, hole{h.opened[level], length})
	}
}

// forget makes every answer stale.
func (h *holes) forget() {
	for k := range h.regained {
		h.regained[k] = -never
	}
}

// regain notes that from an instant on there are places where so many processors
// are free, and were not.
func (h *holes) regain(at, procs int64) {
	for k := level(procs); k > 0 && h.regained[k] > at; k-- {
		h.regained[k] = at
	}
}

// stale says that the bound may be wrong for a job that would have to start
// before limit.
func (h *holes) stale(procs, limit int64) bool { return h.regained[level(procs)] < limit }

// earliest is the bound.
func (h *holes) earliest(length, procs int64) int64 {
	for _, r := range h.records[level(procs)] {
		if r.length >= length {
			return r.at
		}
	}
	return never
}
