package timeline

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
)

// The questions of Calendar, asked for amounts. A node is free for a demand in
// gaps as it is for itself in a Calendar, so calendar_search.go answers both: it
// counts nodes with a gap open for the demand. That is a condition on sums which
// suffices. One on the sums of amounts would only be necessary, would not even
// be that where a node is overcommitted, and would have to be kept for every set
// of candidates.

// FreeAt appends to dst what is free of a node at t, in the order of the
// quantities. It fails with ErrRange when the node has no capacity.
func (l *Loads) FreeAt(dst []int64, node uint32, t int64) ([]int64, error) {
	n, err := l.known(node)
	if err != nil {
		return dst, err
	}
	i := n.at(t)
	for q, most := range n.capacity {
		if i >= 0 {
			most = max(0, most-n.step(i)[q])
		}
		dst = append(dst, most)
	}
	return dst, nil
}

// FreeDuring appends to dst the least that is free of each quantity of a node in
// [from, to). It fails with ErrRange when the node has no capacity or the window
// is empty.
func (l *Loads) FreeDuring(dst []int64, node uint32, from, to int64) ([]int64, error) {
	n, err := l.known(node)
	if err == nil {
		err = window(from, to)
	}
	if err != nil {
		return dst, err
	}
	first := max(0, n.at(from))
	for q, least := range n.capacity {
		for i := first; i < len(n.times) && n.times[i] < to; i++ {
			least = min(least, n.capacity[q]-n.step(i)[q])
		}
		dst = append(dst, max(0, least))
	}
	return dst, nil
}

// Fits reports whether the demand is free on a node throughout [from, to). It
// fails with ErrRange when the node has no capacity, the window is empty, or the
// demand is no vector of amounts. A demand above the capacity does not fit.
func (l *Loads) Fits(node uint32, from, to int64, demand []int64) (bool, error) {
	n, err := l.known(node)
	if err == nil {
		err = l.ask(from, to, demand)
	}
	return err == nil && n.fits(from, to, demand), err
}

// FreeThroughout is those of the candidates on which the demand is free
// throughout [from, to). It fails with ErrRange when the window is empty or the
// demand is no vector of amounts. Nodes without a capacity are never free.
func (l *Loads) FreeThroughout(candidates *roaring.Bitmap, from, to int64, demand []int64) (*roaring.Bitmap, error) {
	if err := l.ask(from, to, demand); err != nil {
		return nil, err
	}
	return l.firstFree(candidates, int(candidates.GetCardinality()), from, to, demand), nil
}

// Earliest finds the earliest t >= after such that the demand is free throughout
// [t, t+d) on n of the candidates, on each of them, and the first n of those by
// number. It fails with ErrNoFit when there is none, and with ErrRange when n or
// d is below one or the demand is no vector of amounts.
func (l *Loads) Earliest(candidates *roaring.Bitmap, n int, demand []int64, d, after int64) (int64, *roaring.Bitmap, error) {
	if err := l.check(demand); err != nil {
		return 0, nil, err
	}
	s, err := newGapSweep(candidates, n, d, after)
	if err != nil {
		return 0, nil, err
	}
	for number, nodes := range blocksOf(candidates) {
		b := l.blocks[number]
		for rest := nodes; b != nil && rest != 0; rest &= rest - 1 {
			switch node := b[lowest(rest)]; {
			case node == nil || node.lacks(demand) >= 0:
			case len(node.times) == 0:
				s.free++
			default:
				node.gaps(s, demand)
			}
		}
		if s.enough() {
			break
		}
	}
	t, ok := s.earliest()
	if !ok {
		return 0, nil, s.noFit()
	}
	return t, l.firstFree(candidates, n, t, t+d, demand), nil
}

// firstFree is the first n candidates on which the demand is free in [from, to),
// all of them when they are fewer.
func (l *Loads) firstFree(candidates *roaring.Bitmap, n int, from, to int64, demand []int64) *roaring.Bitmap {
	found := make([]uint32, 0, n)
	for number, nodes := range blocksOf(candidates) {
		b := l.blocks[number]
		for rest := nodes; b != nil && rest != 0 && len(found) < n; rest &= rest - 1 {
			i := lowest(rest)
			if node := b[i]; node != nil && node.fits(from, to, demand) {
				found = append(found, number*BlockNodes+i)
			}
		}
		if len(found) == n {
			break
		}
	}
	return roaring.BitmapOf(found...)
}

// ask checks a window and a demand.
func (l *Loads) ask(from, to int64, demand []int64) error {
	if err := window(from, to); err != nil {
		return err
	}
	return l.check(demand)
}

func window(from, to int64) error {
	if from >= to {
		return fmt.Errorf("%w: [%d, %d) is empty", ErrRange, from, to)
	}
	return nil
}
