package main

import "github.com/placectl/placectl/index"

// ganttCell is what a row shows in one cell.
type ganttCell struct {
	owner int32 // among the owners, -1 for nobody
	kind  ganttKind
	mark  ganttMark
}

// ganttMark is what is special about a cell of a bar.
type ganttMark uint8

const (
	beginsBar ganttMark = 1 << iota // the first that shows of its owner
	cutBefore                       // the stretch began before the window
	cutAfter                        // it goes on after the window
)

// paint fills a row's cells, and returns how many stretches of the window had
// to be left out because others have all the cells they could be seen in.
//
// Stretches are rounded to whole cells, so that what follows one another does
// so without gap or overlap. One that would be rounded away takes a cell that
// is free: a short job is no hole. A job that is overdue lies over what was
// planned to follow it.
func (w *ganttWindow) paint(n *ganttNode, row []ganttCell) (hidden int) {
	w.paintEmpty(n.state, row)
	short := false
	for kind := ganttReserved; kind < ganttKinds && len(n.bars) > 0; kind++ {
		for i := range n.bars {
			if b := &n.bars[i]; b.kind == kind && w.shows(b) {
				short = !w.paintLong(b, row) || short
			}
		}
	}
	if short {
		hidden = w.paintShort(n.bars, row)
	}
	for i := range row {
		if row[i].owner >= 0 && (i == 0 || row[i-1].owner != row[i].owner) {
			row[i].mark |= beginsBar
		}
	}
	return hidden
}

// paintEmpty paints a row with nothing on it. What has been before now nobody
// knows any more.
func (w *ganttWindow) paintEmpty(state index.State, row []ganttCell) {
	empty := ganttFree
	if state != index.Up {
		empty = ganttNotUp
	}
	for i := range row {
		row[i] = ganttCell{owner: -1, kind: empty}
	}
	past := w.cell(w.now)
	if w.now >= w.to {
		past = w.cells
	}
	for i := range past {
		row[i].kind = ganttPast
	}
}

// bounds are the cells of a stretch, none for a short one. Rounding does not
// say anything wrong about now: what is under way has the cell of now, and what
// is to begin does not, unless it is over before the next.
func (w *ganttWindow) bounds(b *ganttBar) (lo, hi int) {
	lo, hi = w.edge(b.start), w.edge(b.end)
	now := w.nowCell()
	switch {
	case now < 0:
	case b.start <= w.now && w.now < b.end:
		return min(lo, now), max(hi, now+1)
	case b.start > w.now && lo <= now && hi > now+1:
		return now + 1, hi
	}
	return lo, hi
}

func (w *ganttWindow) shows(b *ganttBar) bool { return b.start < w.to && b.end > w.from }

// paintLong paints a stretch; it reports false where that is less than a cell.
func (w *ganttWindow) paintLong(b *ganttBar, row []ganttCell) bool {
	lo, hi := w.bounds(b)
	if lo == hi {
		return false
	}
	kind := b.kind
	if kind == ganttOverdue {
		kind = ganttRunning
	}
	for i := lo; i < hi; i++ {
		row[i] = ganttCell{owner: b.owner, kind: kind}
	}
	if b.kind == ganttOverdue { // at least its last cell says so
		for i := max(min(w.edge(b.due), hi-1), lo); i < hi; i++ {
			row[i].kind = ganttOverdue
		}
	}
	w.markCuts(b, &row[lo], &row[hi-1])
	return true
}

func (w *ganttWindow) markCuts(b *ganttBar, first, last *ganttCell) {
	if b.start < w.from {
		first.mark |= cutBefore
	}
	if b.end > w.to {
		last.mark |= cutAfter
	}
}

// paintShort paints what has no cell yet into cells that are free.
func (w *ganttWindow) paintShort(bars []ganttBar, row []ganttCell) (hidden int) {
	for i := range bars {
		b := &bars[i]
		if lo, hi := w.bounds(b); !w.shows(b) || lo < hi {
			continue
		}
		hidden++
		for _, at := range []int{w.cell(b.start), w.edge(b.start)} {
			if at < len(row) && row[at].owner < 0 {
				row[at] = ganttCell{owner: b.owner, kind: b.kind}
				w.markCuts(b, &row[at], &row[at])
				hidden--
				break
			}
		}
	}
	return hidden
}
