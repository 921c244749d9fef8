package store

import (
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/row"
)

// While a cycle plans, room only goes. So a request can start no earlier than one
// that was planned before it in the cycle and asks for no more: fewer chunks or
// equally many, each of no more than its own, for no longer. With many jobs waiting
// most searches then begin close to where they end.

// floor is when a request could start at the earliest.
type floor struct {
	ask *placer.Ask
	at  int64
}

// floor is the latest of the earliest starts that were found for requests which ask
// for no more, zero when there is none.
func (p *pass) floor(v *verdict) (latest int64) {
	if !p.comparable(v) {
		return 0
	}
	for _, f := range p.floors {
		if f.at > latest && p.atMost(f.ask, &v.ask) {
			latest = f.at
		}
	}
	return latest
}

// found notes the earliest start of a request.
func (p *pass) found(v *verdict, start int64) {
	if !p.comparable(v) {
		return
	}
	p.floors = slices.DeleteFunc(p.floors, func(f floor) bool { return f.at <= start && p.atMost(&v.ask, f.ask) })
	p.floors = append(p.floors, floor{&v.ask, start})
}

// soonest is the first instant at which a job whose plan stands on the calendar might
// start, its plan's start when nothing has happened since the last cycle that it could
// profit by. A request for chunks of one kind can only where one of them fits a node
// on which room was made.
func (p *pass) soonest(j *Job, v *verdict) (int64, error) {
	from := max(p.tx.now, j.Begin)
	unwoken, err := p.unwoken(v, p.tx.state.Planned)
	if unwoken || err != nil {
		return j.Start, err
	}
	nodes, known, err := p.tx.wokenNodes()
	if err != nil || !known || !p.comparable(v) {
		return from, err
	}
	snap, err := p.tx.snapshot(j.Queue)
	if err != nil {
		return 0, err
	}
	return snap.FirstRoom(v.asked(j), row.JobOwner(j.ID), nodes, from, j.Start)
}

// comparable reports whether it is known when one request asks for no more than this
// one: with several kinds of chunks, or where chunks are to lie together or names of
// nodes matter, first fit may find a start for a larger request sooner.
func (p *pass) comparable(v *verdict) bool {
	a := &v.ask
	return !p.sets && len(a.Chunks) == 1 && !v.beyond && len(a.Grants) == 0 && !a.Place.HasGroup && a.Place.Arrange != placer.Pack &&
		a.Policy != placer.Contiguous
}

// atMost reports whether one request asks for no more than another.
func (p *pass) atMost(a, b *placer.Ask) bool {
	share := a.Place.Share == b.Place.Share || !a.Place.Exclusive() && b.Place.Exclusive()
	arranged := a.Place.Arrange == b.Place.Arrange || a.Place.Arrange == placer.Free
	if !share || !arranged || a.Duration > b.Duration || a.Chunks[0].Count > b.Chunks[0].Count || a.Queue != b.Queue ||
		a.Access != index.AccessShared || b.Access != index.AccessShared {
		return false
	}
	for _, w := range a.Chunks[0].Wants {
		consumed := p.consumes(w)
		if consumed && w.Value.Num == 0 {
			continue
		}
		asksToo := func(o placer.Want) bool { return o == w || consumed && o.Res == w.Res && o.Value.Num > w.Value.Num }
		if !slices.ContainsFunc(b.Chunks[0].Wants, asksToo) {
			return false
		}
	}
	return true
}

// consumes reports whether a want takes some of a node, rather than tell which.
func (p *pass) consumes(w placer.Want) bool {
	def, ok := p.tx.loaded.defs.Get(w.Res)
	return ok && def.Consumable
}
