package placer

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/subject"
	"github.com/placectl/placectl/timeline"
)

// Grant is a reservation that a request may use.
type Grant struct {
	Owner      uint64 // as in the calendar
	Name       string
	Start, End int64
	Nodes      *roaring.Bitmap
	Affinity   Affinity // Required: the request insists on this, or on another Required one
	Limit      int64    // how many seconds of the reservation it may use, 0 for all
}

// Guest is a holder of grants. Reservations that it may use let it in, for as long as it may use
// them. It ignores its own stretches.
type Guest struct {
	Grants []Grant
	Owner  uint64 // 0 if it owns nothing yet
}

// Ignores makes a Guest a timeline.Guest.
func (g *Guest) Ignores(b *timeline.Busy, from, to int64) bool {
	if !b.Claim {
		return g.Owner != 0 && b.Owner == g.Owner
	}
	for i := range g.Grants {
		if r := &g.Grants[i]; r.Owner == b.Owner {
			return r.holdsFor(from, to)
		}
	}
	return false
}

// holdsFor reports whether a request for [from, to) may use the reservation: their overlap must not
// be longer than the limit.
func (g *Grant) holdsFor(from, to int64) bool {
	return g.Limit == 0 || min(to, g.End)-max(from, g.Start) <= g.Limit
}

// admit finds the level of a spot and, for a request that insists on a
// reservation, whether the spot is in it.
func (s *seeker) admit(sp *spot) bool {
	sp.level = unreserved
	for i := range s.Grants {
		g := &s.Grants[i]
		if g.Start >= s.end || g.End <= s.at || !g.Nodes.Contains(sp.node) || !g.holdsFor(s.at, s.end) {
			continue
		}
		switch g.Affinity {
		case Required:
			if g.Start <= s.at && s.end <= g.End {
				sp.level, sp.within = required, g.Owner
			}
		case Negative:
			sp.level = repelled
		case Positive:
			if sp.level != repelled {
				sp.level = min(sp.level, attracted)
			}
		default:
			if sp.level != repelled {
				sp.level = min(sp.level, neutral)
			}
		}
		if sp.within == 0 {
			sp.within = g.Owner
		}
		if sp.level == required {
			break
		}
	}
	return !s.insists || sp.level == required
}

// inClaim reduces what is left of a spot to what the reservation that the request insists on has
// there. It returns false if the request takes whole nodes and the reservation keeps only a part of
// this one.
func (s *seeker) inClaim(sp *spot) bool {
	if sp.level != required {
		return true
	}
	for _, b := range s.Calendar.At(sp.node) {
		if b.Owner != sp.within || b.Use == nil {
			continue
		}
		if sp.whole {
			return false
		}
		s.Calendar.TakenWithin(sp.node, sp.within, s.at, s.end, s.quantities, s.peak)
		for q, quantity := range s.quantities {
			kept := int64(0)
			for _, a := range b.Use.Amounts {
				if a.Quantity == quantity {
					kept = a.N
				}
			}
			sp.left[q] = max(0, min(sp.left[q], kept-s.peak[q]))
		}
	}
	return true
}

// granted returns the spots, at one level, of candidates' nodes in reservations that the request
// may use.
func (s *seeker) granted(kind int, cands []index.Candidate, at level) []*spot {
	if len(s.Grants) == 0 {
		return nil
	}
	var out []*spot
	for it := s.granting().Iterator(); it.HasNext(); {
		if sp := s.grantedSpot(it.Next(), cands); sp != nil && sp.level == at {
			out = append(out, sp)
		}
	}
	return out
}

// granting returns the nodes of all grants, or of those that the request insists on.
func (m *mapping) granting() *roaring.Bitmap {
	if m.guestNodes == nil {
		var parts []*roaring.Bitmap
		for i := range m.Grants {
			if !m.insists || m.Grants[i].Affinity == Required {
				parts = append(parts, m.Grants[i].Nodes)
			}
		}
		m.guestNodes = roaring.FastOr(parts...)
	}
	return m.guestNodes
}

// grantedSpot returns the spot of a node of any class. It is nil if no candidate has the node or it
// is of no use.
func (s *seeker) grantedSpot(node uint32, cands []index.Candidate) *spot {
	for i := range cands {
		c := &cands[i]
		if !s.Index.Nodes(c.Bucket, index.None).Contains(node) || c.Cells[0].Nodes != nil && !inCells(c.Cells, node) {
			continue
		}
		class := s.Index.ClassOf(c.Bucket, node)
		if class == index.None {
			return nil
		}
		return s.spotAt(node, c.Bucket, class)
	}
	return nil
}

func inCells(cells []index.Cell, node uint32) bool {
	for _, c := range cells {
		if c.Nodes.Contains(node) {
			return true
		}
	}
	return false
}

// insist restricts a request to the reservations that it insists on, and refuses one that is too
// long for all of them.
func (m *mapping) insist() error {
	m.ruleHeads()
	if err := m.packable(); err != nil {
		return err
	}
	longest := int64(0)
	var kept []Grant
	for _, g := range m.Grants {
		if g.Affinity == Required {
			m.insists = true
			kept = append(kept, g)
			lets := g.End - g.Start
			if g.Limit > 0 {
				lets = min(lets, g.Limit)
			}
			longest = max(longest, lets)
		}
	}
	if m.insists && longest < m.Duration {
		return &Refusal{Kind: ErrNever, Chunk: -1,
			Why: fmt.Sprintf("it takes %d s, and reservation %s lets it have its nodes for %d s at most", m.Duration,
				kept[0].Name, longest)}
	}
	return nil
}

// Entries returns the subjects whose access list entries would let the job in. They are the keys to look up
// reservations by. Entries that name a range of its array's jobs are not included.
func (e Entrant) Entries() []subject.Subject {
	var out []subject.Subject
	for _, kind := range subject.Shared {
		out = append(out, kind.Of(e.Names[kind]))
	}
	out = append(out, subject.Job.Of(e.Name))
	for _, number := range []uint64{e.Job, e.Array} {
		if number != 0 {
			out = append(out, subject.Job.Of(strconv.FormatUint(number, 10)))
		}
	}
	for _, kind := range subject.All {
		out = append(out, kind.Of(subject.Any))
	}
	return slices.DeleteFunc(out, func(s subject.Subject) bool { return s.Name == "" })
}

// ArrayPrefix returns the prefix of entries that name jobs of its array, or "" if it is in
// none.
func (e Entrant) ArrayPrefix() string {
	if e.Array == 0 {
		return ""
	}
	return strconv.FormatUint(e.Array, 10) + "["
}
