package cycle

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// While a pass plans, room only shrinks. So a request can start no earlier than one that was planned
// before it in the pass and asks for no more: at most as many chunks, each at most as large, for at
// most as long. With many waiting jobs most searches then begin close to where they end. Requests are
// compared only if first fit cannot find an earlier start for a larger one: not with several kinds of
// chunks, nor if chunks must lie together or names of nodes matter.

// bound is the earliest start found for a request.
type bound struct {
	of *Request
	at int64
}

// bound returns the latest of the earliest starts found for requests that ask for no more, or
// 0.
func (p *Pass) bound(k *kind) (latest int64) {
	for _, b := range p.bounds {
		if b.at > latest && b.of.atMost(k.Request) {
			latest = b.at
		}
	}
	return latest
}

// found records the earliest start of a request.
func (p *Pass) found(k *kind, start int64) {
	p.bounds = slices.DeleteFunc(p.bounds, func(b bound) bool { return b.at <= start && k.atMost(b.of) })
	p.bounds = append(p.bounds, bound{k.Request, start})
}

// soonest returns the first instant before to at which a planned job might start, or to if there is
// none. to is at most the start of its plan. A request for chunks of one kind can be earlier only if
// one of them fits a node on which room was made. A lifted one may also have the room of those behind
// it, whether or not a pass has looked since room was made: so one pass decides as another would.
func (p *Pass) soonest(j *Job, k *kind, to int64) (int64, error) {
	from := max(p.now, j.Begin)
	if j.Promised > 0 && !p.spec.Relaxed {
		return from, nil // its plan is later than it could be
	}
	anywhere := p.freed.Any || p.lifted[j]
	if !anywhere && p.freed.Nodes.IsEmpty() {
		return to, nil
	}
	snap, err := p.host.Snapshot(j)
	switch {
	case err != nil:
		return 0, err
	case len(k.Demands) > 0: // amounts given back to its counters may be of any job
		return from, nil
	case !anywhere && !k.uses(snap.Index, p.freed.Nodes):
		return to, snap.Index.Err()
	case !k.comparable:
		return from, nil
	}
	own, on := timeline.Own{Owner: j.Owner, Nodes: p.host.Nodes(j)}, p.freed.Nodes
	if anywhere {
		on = nil
	}
	return snap.Sooner(k.asked(j), own, on, from, to)
}

// uses reports whether a request could use some of the nodes.
func (r *Request) uses(ix *index.Index, nodes *roaring.Bitmap) bool {
	return r.Beyond || slices.ContainsFunc(r.Buckets, func(b *index.Bucket) bool {
		return slices.ContainsFunc([]index.Class{index.Free, index.Later, index.Busy}, func(c index.Class) bool {
			return b.Count[c] > 0 && ix.Nodes(b, c).Intersects(nodes)
		})
	})
}

// atMost reports whether a request asks for no more than another.
func (r *Request) atMost(o *Request) bool {
	share := r.Place.Share == o.Place.Share || !r.Place.Exclusive() && o.Place.Exclusive()
	arranged := r.Place.Arrange == o.Place.Arrange || r.Place.Arrange == placer.Free
	if !share || !arranged || r.Duration > o.Duration || r.Chunks[0].Count > o.Chunks[0].Count || r.Queue != o.Queue ||
		r.Access != index.AccessShared || o.Access != index.AccessShared || !r.Demands.AtMost(o.Demands) {
		return false
	}
	for _, w := range r.Chunks[0].Wants {
		def, ok := r.defs.Get(w.Res)
		consumed := ok && def.Consumable // some of a node, rather than which
		if consumed && w.Value.Num == 0 {
			continue
		}
		asksToo := func(v placer.Want) bool { return v == w || consumed && v.Res == w.Res && v.Value.Num > w.Value.Num }
		if !slices.ContainsFunc(o.Chunks[0].Wants, asksToo) {
			return false
		}
	}
	return true
}
