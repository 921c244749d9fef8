package backfill

import "math/bits"

// Holes bound, after one look at all steps of a profile, how early a job of any shape could fit. The
// bound is never too late, and sometimes too early. It nearly always proves that a job cannot start
// before its planned time, without a search.
//
// Numbers of processors are rounded to powers of two. For each power there are stretches of time in
// which that many are free. Only those longer than all before them are kept, because no other can be the
// first for any length. So few remain.
//
// The bound holds while processors are only taken. If some are given back, jobs that start
// later may fit there, unless they need more than is free there. regained records the instant
// and the number of processors. A new look is due (stale) only when asked about a job that
// this affects.
type holes struct {
	records  [levels][]hole
	opened   [levels]int64 // during the look
	regained [levels]int64 // since the look: the instant from which that many are newly free
}

// levels is the number of bit lengths of an int64.
const levels = 64

// level returns the level of a number of processors. If the level of what is free is lower,
// that many are not free.
func level(procs int64) int { return bits.Len64(uint64(procs)) }

type hole struct{ at, length int64 }

// look summarises the profile from now to limit.
func (h *holes) look(p *profile, now, limit int64) {
	for k := range h.records {
		h.records[k] = h.records[k][:0]
		h.regained[k] = never
	}
	open := 0 // levels below this are open
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
		h.close(open, never) // their ends were not looked at
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

// regain records that from some instant on, that many processors are newly free.
func (h *holes) regain(at, procs int64) {
	for k := level(procs); k > 0 && h.regained[k] > at; k-- {
		h.regained[k] = at
	}
}

// stale reports whether the bound may be wrong for a job that would start before limit.
func (h *holes) stale(procs, limit int64) bool { return h.regained[level(procs)] < limit }

// earliest returns the bound.
func (h *holes) earliest(length, procs int64) int64 {
	for _, r := range h.records[level(procs)] {
		if r.length >= length {
			return r.at
		}
	}
	return never
}
