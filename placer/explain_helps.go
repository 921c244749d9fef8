package placer

import (
	"errors"
	"slices"

	"github.com/placectl/placectl/index"
)

// Help is one change to a request with which it starts now or, if it is impossible, could run at
// all.
type Help struct {
	// Change is the name of the changed flag: select, walltime, place, access, policy, or the
	// caller's name for it. With HelpResume it is nodes that are put back into service.
	Change string
	To     string // the flag's new value; of walltime, in seconds: Ask.Duration
	Chunk  int    // select: the chunk to ask fewer of
	Fewer  int    // select: by how many
	Ask    Ask    // the changed request
	Start  int64  // when it starts then
}

// HelpResume is the change that puts nodes back into service: To is what node resume has to name.
const HelpResume = "resume"

// helper looks for changes that help.
type helper struct {
	s     *Snapshot
	a     Ask
	never bool // a change helps if the request can then run at any time
	helps []Help
	err   error
}

// tryAll tries each kind of change in turn.
func (h *helper) tryAll(absent []Absent, others []Otherwise) error {
	if to := Resume(h.s.Index.Defs(), absent); to != "" {
		h.try(h.s.with(absent), Help{Change: HelpResume, To: to, Ask: h.a})
	}
	h.fewer()
	h.shorter()
	h.elsewhere()
	h.less()
	if h.a.Access > index.AccessShared {
		b := h.a
		b.Access = index.AccessShared
		h.try(h.s, Help{Change: "access", To: b.Access.String(), Ask: b})
	}
	if h.a.Policy == Contiguous {
		b := h.a
		b.Policy = FirstAvailable
		h.try(h.s, Help{Change: "policy", To: b.Policy.String(), Ask: b})
	}
	for _, o := range others {
		h.try(o.In, Help{Change: o.Change, To: o.To, Ask: o.Ask})
	}
	return h.err
}

// works reports whether a changed request helps.
func (h *helper) works(s *Snapshot, a Ask) bool {
	if h.err != nil {
		return false
	}
	var err error
	if h.never {
		err = s.Possible(a)
	} else {
		_, err = s.Place(a, s.Now)
	}
	var refused *Refusal
	if err != nil && !errors.As(err, &refused) {
		h.err = err
	}
	return err == nil
}

// try keeps a change if it helps.
func (h *helper) try(s *Snapshot, help Help) bool {
	if !h.works(s, help.Ask) {
		return false
	}
	plan, err := s.Earliest(help.Ask, s.Now)
	if err != nil {
		return false // possible, at an unknown time
	}
	help.Start = plan.Start
	h.helps = append(h.helps, help)
	return true
}

// largest returns the largest n from least to limit that works. It assumes that every smaller n
// works too. ok is false if not even least works.
func largest(least, limit int64, works func(int64) bool) (n int64, ok bool) {
	if least > limit || !works(least) {
		return 0, false
	}
	if works(limit) {
		return limit, true
	}
	for limit-least > 1 {
		if mid := least + (limit-least)/2; works(mid) {
			least = mid
		} else {
			limit = mid
		}
	}
	return least, true
}

// fewer tries fewer of one of the chunks, and finds the largest count that works. If there are
// other chunks, one may be left out.
func (h *helper) fewer() {
	least := int64(0)
	if len(h.a.Chunks) == 1 {
		least = 1
	}
	for i, c := range h.a.Chunks {
		n, ok := largest(least, int64(c.Count)-1, func(n int64) bool { return h.works(h.s, withCount(h.a, i, int(n))) })
		if ok {
			b := withCount(h.a, i, int(n))
			h.try(h.s, Help{Change: "select", To: b.Text(h.s.Index.Defs()), Chunk: i, Fewer: c.Count - int(n), Ask: b})
		}
	}
}

// withCount returns the request with another count for one of its chunks.
func withCount(a Ask, chunk, count int) Ask {
	a.Chunks = slices.Clone(a.Chunks)
	if a.Chunks[chunk].Count = count; count == 0 {
		a.Chunks = slices.Delete(a.Chunks, chunk, chunk+1)
	}
	return a
}

// shorter tries less walltime, and finds the longest that works. Less than a tenth of the
// requested time counts as no help.
func (h *helper) shorter() {
	lasting := func(seconds int64) Ask {
		b := h.a
		b.Duration = seconds
		b.Walltime = seconds
		return b
	}
	n, ok := largest(max(1, h.a.Duration/10), h.a.Duration-1, func(n int64) bool { return h.works(h.s, lasting(n)) })
	if ok {
		h.try(h.s, Help{Change: "walltime", Ask: lasting(n)})
	}
}

// less tries less of one of the pools, and finds the largest amount that works.
func (h *helper) less() {
	asking := func(i int, n int64) Ask {
		b := h.a
		b.Demands = slices.Clone(b.Demands)
		b.Demands[i].Amount = n
		return b
	}
	for i, d := range h.a.Demands {
		if d.Rule {
			continue
		}
		if n, ok := largest(1, d.Amount-1, func(n int64) bool { return h.works(h.s, asking(i, n)) }); ok {
			h.try(h.s, Help{Change: "pool", To: PoolAmount{d.Name, n}.String(), Ask: asking(i, n)})
		}
	}
}

// elsewhere tries other placements: on any nodes, on shared nodes, or across placement sets. If
// none of these helps, it tries any shared nodes.
func (h *helper) elsewhere() {
	p := h.a.Place
	place := func(change func(*Place)) bool {
		b := h.a
		if change(&b.Spec.Place); b.Spec.Place == p {
			return false
		}
		return h.try(h.s, Help{Change: "place", To: b.Spec.Place.Format(h.s.Index.Defs()), Ask: b})
	}
	anywhere := func(p *Place) { p.Arrange = Free }
	shared := func(p *Place) {
		if p.Exclusive() {
			p.Share = Shared
		}
	}
	free := place(anywhere)
	nodes := p.Share == ExclHost && place(func(p *Place) { p.Share = Excl })
	beside := !nodes && place(shared)
	place(func(p *Place) { p.HasGroup, p.Group = false, 0 })
	if !free && !nodes && !beside && p.Arrange != Free && p.Exclusive() {
		place(func(p *Place) { anywhere(p); shared(p) })
	}
}
