package chart

import "github.com/placectl/placectl/index"

// cell is one cell of a row.
type cell struct {
	owner int32 // index into Owners, -1 for none
	kind  Kind
	mark  mark
}

// mark marks special cells of a bar.
type mark uint8

const (
	beginsBar mark = 1 << iota // the first visible cell of its owner
	cutBefore                  // the stretch began before the window
	cutAfter                   // it goes on after the window
)

// paint fills a row's cells. It returns how many stretches of the window it has left out because others
// have all the cells in which they could be shown.
//
// Stretches are rounded to whole cells without gaps or overlaps between successive ones. A stretch that
// rounds to nothing takes a free cell, so that a short job does not disappear. An overdue job covers
// what should have followed it.
func (w *Window) paint(n *Node, row []cell) (hidden int) {
	w.paintEmpty(n.State, row)
	short := false
	for kind := Reserved; kind < kinds && len(n.Bars) > 0; kind++ {
		for i := range n.Bars {
			if b := &n.Bars[i]; b.Kind == kind && w.Shows(b) {
				short = !w.paintLong(b, row) || short
			}
		}
	}
	if short {
		hidden = w.paintShort(n.Bars, row)
	}
	for i := range row {
		if row[i].owner >= 0 && (i == 0 || row[i-1].owner != row[i].owner) {
			row[i].mark |= beginsBar
		}
	}
	return hidden
}

// paintEmpty paints an empty row. The past is unknown.
func (w *Window) paintEmpty(state index.State, row []cell) {
	empty := Free
	if state != index.Up {
		empty = NotUp
	}
	for i := range row {
		row[i] = cell{owner: -1, kind: empty}
	}
	past := w.cell(w.Now)
	if w.Now >= w.To {
		past = w.cells
	}
	for i := range past {
		row[i].kind = Past
	}
}

// bounds returns the cells of a stretch, none for a short one. Rounding keeps the present right: a
// stretch under way includes the cell of now, and a later one does not, unless it is over before the
// next cell.
func (w *Window) bounds(b *Bar) (lo, hi int) {
	lo, hi = w.edge(b.Start), w.edge(b.End)
	now := w.nowCell()
	switch {
	case now < 0:
	case b.Start <= w.Now && w.Now < b.End:
		return min(lo, now), max(hi, now+1)
	case b.Start > w.Now && lo <= now && hi > now+1:
		return now + 1, hi
	}
	return lo, hi
}

// Shows reports whether any part of a stretch is in the window.
func (w *Window) Shows(b *Bar) bool { return b.Start < w.To && b.End > w.From }

// paintLong paints a stretch. It returns false if the stretch has less than a cell.
func (w *Window) paintLong(b *Bar, row []cell) bool {
	lo, hi := w.bounds(b)
	if lo == hi {
		return false
	}
	kind := b.Kind
	if kind == Overdue {
		kind = Running
	}
	for i := lo; i < hi; i++ {
		row[i] = cell{owner: b.Owner, kind: kind}
	}
	if b.Kind == Overdue { // at least its last cell shows that
		for i := max(min(w.edge(b.Due), hi-1), lo); i < hi; i++ {
			row[i].kind = Overdue
		}
	}
	w.markCuts(b, &row[lo], &row[hi-1])
	return true
}

func (w *Window) markCuts(b *Bar, first, last *cell) {
	if b.Start < w.From {
		first.mark |= cutBefore
	}
	if b.End > w.To {
		last.mark |= cutAfter
	}
}

// paintShort paints short stretches, which have no cell yet, into free cells.
func (w *Window) paintShort(bars []Bar, row []cell) (hidden int) {
	for i := range bars {
		b := &bars[i]
		if lo, hi := w.bounds(b); !w.Shows(b) || lo < hi {
			continue
		}
		hidden++
		for _, at := range []int{w.cell(b.Start), w.edge(b.Start)} {
			if at < len(row) && row[at].owner < 0 {
				row[at] = cell{owner: b.Owner, kind: b.Kind}
				w.markCuts(b, &row[at], &row[at])
				hidden--
				break
			}
		}
	}
	return hidden
}
