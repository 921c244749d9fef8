package chart

import "github.com/placectl/placectl/index"

// cell is what a row shows in one cell.
type cell struct {
	owner int32 // among the owners, -1 for none
	kind  Kind
	mark  mark
}

// mark is what is special about a cell of a bar.
type mark uint8

const (
	beginsBar mark = 1 << iota // the first that shows of its owner
	cutBefore                  // the stretch began before the window
	cutAfter                   // it goes on after the window
)

// paint fills a row's cells, and returns how many stretches of the window had
// to be left out because others have all the cells they could be seen in.
//
// Stretches are rounded to whole cells, so that what follows one another does
// so without gap or overlap. One that would be rounded away takes a cell that
// is free: a short job is no hole. A job that is overdue lies over what was
// planned to follow it.
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

// paintEmpty paints a row with nothing on it. What was before now is unknown.
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

// bounds are the cells of a stretch, none for a short one. Rounding does not
// say anything wrong about now: what is under way has the cell of now, and what
// is to begin does not, unless it is over before the next.
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

func (w *Window) Shows(b *Bar) bool { return b.Start < w.To && b.End > w.From }

// paintLong paints a stretch; it reports false if that is less than a cell.
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
	if b.Kind == Overdue { // at least its last cell says so
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

// paintShort paints what has no cell yet into cells that are free.
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
