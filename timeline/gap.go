package timeline

import (
	"cmp"
	"slices"
	"sort"
)

// Gap describes what a request needs of a node for a duration: others may take at most this
// much of each quantity meanwhile, or nothing at all may be on the node.
type Gap struct {
	Whole      bool // nothing
	Quantities []uint16
	Most       []int64 // parallel to Quantities
	Duration   int64
	But        uint64 // an owner whose spans do not count
}

// FirstGap returns the first instant from which a node has a gap, at or after from, which is
// not past, or to if there is none before. A claim counts as if it admitted no guest.
func (c *Calendar) FirstGap(node uint32, g *Gap, from, to int64) int64 {
	starts, ends := c.At(node), c.byEnd(node)
	s := gapSearch{gap: g, taken: make([]int64, len(g.Most))}
	since := to // there has been room
	for at := from; ; {
		for ; len(starts) > 0 && starts[0].Start <= at; starts = starts[1:] {
			if c.End(starts[0]) > from {
				s.count(&starts[0], 1)
			}
		}
		for ; len(ends) > 0 && ends[0].End <= at; ends = ends[1:] {
			if ends[0].End > from {
				s.count(&ends[0], -1)
			}
		}
		if !s.open() {
			since = to
		} else if since == to {
			since = min(at, to)
		}
		next := int64(Forever)
		if len(ends) > 0 {
			next = ends[0].End
		}
		if len(starts) > 0 {
			next = min(next, starts[0].Start)
		}
		if since < to && next-since >= g.Duration || since == to && at >= to || next == Forever {
			return since
		}
		at = next
	}
}

// byEnd lists the stretches of a node by expected end. Do not change the list.
func (c *Calendar) byEnd(node uint32) []Busy {
	b := c.block(node)
	if b.ends == nil {
		b.ends = new(Block)
	}
	ends := &b.ends[node%BlockNodes]
	if *ends == nil {
		*ends = slices.Clone(c.At(node))
		slices.SortFunc(*ends, earlier)
	}
	past := sort.Search(len(*ends), func(i int) bool { return (*ends)[i].End > c.now })
	if !slices.ContainsFunc((*ends)[:past], func(b Busy) bool { return b.Held }) {
		return *ends
	}
	expected := slices.Clone(*ends) // some are overdue
	for i := range expected[:past] {
		expected[i].End = c.End(expected[i])
	}
	slices.SortFunc(expected, earlier)
	return expected
}

func earlier(a, b Busy) int { return cmp.Compare(a.End, b.End) }

// gapSearch counts what is on a node at an instant.
type gapSearch struct {
	gap   *Gap
	on    int     // stretches
	whole int     // of these, those that have all of the node
	taken []int64 // by the others, of each quantity
}

func (s *gapSearch) count(b *Busy, sign int64) {
	if b.Owner == s.gap.But {
		return
	}
	s.on += int(sign)
	if b.Use == nil {
		s.whole += int(sign)
		return
	}
	add(s.taken, s.gap.Quantities, b.Use.Amounts, sign)
}

func (s *gapSearch) open() bool {
	if s.whole > 0 || s.gap.Whole && s.on > 0 {
		return false
	}
	for i, most := range s.gap.Most {
		if s.taken[i] > most {
			return false
		}
	}
	return true
}
