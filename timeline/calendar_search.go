package timeline

import (
	"fmt"
	"iter"
	"math/bits"

	"github.com/RoaringBitmap/roaring/v2"
)

// When are n of these nodes free for d, all at the same time, and which? Trying instant after
// instant costs instants times nodes. Counting the nodes that are free at each instant does
// not help if many are free at all times, but always different ones. So the search does not
// walk over time, but over gaps.
//
// A gap is a stretch of time [from, to) in which a node is free. A start at t fits into it if
// from <= t <= to-d: the gap opens for starts at from, and shuts after to-d. Gaps shorter than
// d never open. A node has no two gaps open at the same t, so the number of gaps open at t is
// the number of nodes that are free throughout [t, t+d), exactly. It grows only where a gap
// opens. So the earliest start is the requested instant, or one at which a stretch ends.
//
// The count does not depend on which node a gap belongs to. So the search keeps two plain
// lists of the instants at which gaps open and shut. It need not sort all of them, because the
// answer lies between two bounds that a selection finds in linear time:
//
//   - not before the n-th of the nodes' first openings: until then fewer than n
//     nodes have had a gap at all;
//   - not after the n-th opening of gaps that never shut, those after each node's last
//     stretch: from then on n nodes are free for good.
//
// Openings and shuttings up to the lower bound are counted, and those beyond the upper one
// dropped. The rest is sorted and swept. If every node has one stretch, the bounds meet and
// nothing is left. At worst the cost is that of sorting as many instants as there are
// stretches, whatever n is and however the gaps lie. Only then does the search look at nodes
// one by one, for the first n that are free.

// FreeThroughout returns the candidates with nothing on them in [from, to). It does not look
// one by one at candidates without plans.
func (c *Calendar) FreeThroughout(candidates *roaring.Bitmap, from, to int64) *roaring.Bitmap {
	var taken []uint32
	for number, nodes := range blocksOf(candidates) {
		first := number * BlockNodes
		for rest := nodes & c.block(first).planned; rest != 0; rest &= rest - 1 {
			if node := first + lowest(rest); !c.FreeThrough(node, from, to) {
				taken = append(taken, node)
			}
		}
	}
	free := roaring.AndNot(candidates, roaring.BitmapOf(taken...))
	free.CloneCopyOnWriteContainers() // candidates may live no longer than a transaction
	return free
}

// Earliest finds the earliest t >= after such that n of the candidates are free throughout [t,
// t+d), and the first n of those by number. It fails with ErrNoFit if there is none, with
// ErrRange if n or d is below one, and with the source's failure.
func (c *Calendar) Earliest(candidates *roaring.Bitmap, n int, d, after int64) (int64, *roaring.Bitmap, error) {
	s, err := newGapSweep(candidates, n, d, after)
	if err != nil {
		return 0, nil, err
	}
	for number, nodes := range blocksOf(candidates) {
		b := c.block(number * BlockNodes)
		s.free += bits.OnesCount64(nodes &^ b.planned)
		for rest := nodes & b.planned; rest != 0; rest &= rest - 1 {
			c.gaps(s, b.Block[lowest(rest)])
		}
		if s.enough() {
			break
		}
	}
	t, ok := s.earliest()
	switch {
	case c.err != nil:
		return 0, nil, c.err
	case !ok:
		return 0, nil, s.noFit()
	}
	found := c.firstFree(candidates, n, t, t+d)
	return t, found, c.err
}

// gaps tells the sweep when a node is free. Overdue jobs may overlap the plans that follow
// them.
func (c *Calendar) gaps(s *gapSweep, list []Busy) {
	s.node()
	from := s.after
	for _, b := range list {
		if b.Start > from {
			s.gap(from, b.Start)
		}
		from = max(from, c.End(b))
	}
	s.gap(from, Forever)
}

// firstFree returns the first n candidates that are free in [from, to).
func (c *Calendar) firstFree(candidates *roaring.Bitmap, n int, from, to int64) *roaring.Bitmap {
	found := make([]uint32, 0, n)
	for number, nodes := range blocksOf(candidates) {
		first := number * BlockNodes
		planned := c.block(first).planned
		for rest := nodes; rest != 0 && len(found) < n; rest &= rest - 1 {
			i := lowest(rest)
			if planned>>i&1 == 0 || c.FreeThrough(first+i, from, to) {
				found = append(found, first+i)
			}
		}
		if len(found) == n {
			break
		}
	}
	return roaring.BitmapOf(found...)
}

// newGapSweep checks the arguments of Earliest; see there for the errors.
func newGapSweep(candidates *roaring.Bitmap, n int, d, after int64) (*gapSweep, error) {
	if n < 1 || d < 1 {
		return nil, fmt.Errorf("%w: %d nodes for %d", ErrRange, n, d)
	}
	s := &gapSweep{n: n, d: d, after: after}
	if uint64(n) > candidates.GetCardinality() || after > Forever-d {
		return nil, s.noFit()
	}
	return s, nil
}

func (s *gapSweep) noFit() error {
	return fmt.Errorf("%w: %d nodes for %d from %d on", ErrNoFit, s.n, s.d, s.after)
}

// blocksOf yields a set of nodes by calendar block: the block's number, and the nodes of the
// set in it as bits.
func blocksOf(nodes *roaring.Bitmap) iter.Seq2[uint32, uint64] {
	return func(yield func(uint32, uint64) bool) {
		var buf [64]uint32
		number, word := uint32(0), uint64(0)
		it := nodes.ManyIterator()
		for k := it.NextMany(buf[:]); k > 0; k = it.NextMany(buf[:]) {
			for _, node := range buf[:k] {
				if node/BlockNodes != number {
					if word != 0 && !yield(number, word) {
						return
					}
					number, word = node/BlockNodes, 0
				}
				word |= 1 << (node % BlockNodes)
			}
		}
		if word != 0 {
			yield(number, word)
		}
	}
}

// lowest returns the position of the lowest bit.
func lowest(word uint64) uint32 { return uint32(bits.TrailingZeros64(word)) }
