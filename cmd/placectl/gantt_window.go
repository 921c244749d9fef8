package main

import (
	"errors"
	"slices"
)

// ganttWindow is the time that a drawing shows, cut into cells: the columns of
// a terminal, or the pixels of a picture.
type ganttWindow struct {
	from, to int64 // Unix seconds: [from, to)
	now      int64
	cells    int
	open     bool // where it ends was not asked for
}

// edge is the border between cells that is nearest to an instant, 0 for any
// before the window and cells for any after it.
func (w *ganttWindow) edge(t int64) int {
	span := w.to - w.from
	t = min(max(t, w.from), w.to) - w.from
	return int((2*t*int64(w.cells) + span) / (2 * span))
}

// cell is the cell that an instant lies in, the first or last for any outside.
func (w *ganttWindow) cell(t int64) int {
	t = min(max(t, w.from), w.to) - w.from
	return min(int(t*int64(w.cells)/(w.to-w.from)), w.cells-1)
}

// nowCell is the cell that now lies in, -1 when it is outside.
func (w *ganttWindow) nowCell() int {
	if w.now < w.from || w.now >= w.to {
		return -1
	}
	return w.cell(w.now)
}

const (
	shortestWindow = 10 * 60 // seconds from now on, unless asked for
	usualWindow    = 24 * 3600
)

// window chooses what time to show, as far as it is not asked for: from a
// little before now until everything has ended. A few long jobs do not press
// the rest into a corner, though: beyond a day, it goes on only until three
// quarters of the jobs and reservations have ended.
func (g *ganttData) window(o *ganttOptions) (ganttWindow, error) {
	w := ganttWindow{now: g.now, open: o.to.IsZero()}
	start := g.now
	if !o.from.IsZero() {
		start = max(start, o.from.Unix())
	}
	w.to = o.to.Unix()
	if w.open {
		w.to = g.lastShown(start)
	}
	switch {
	case !o.from.IsZero():
		w.from = o.from.Unix()
	case w.to > g.now:
		w.from = g.now - max((w.to-g.now)/20, 1)
	default:
		w.from = w.to - usualWindow
	}
	if w.from >= w.to {
		return w, errors.New("--to must come after --from")
	}
	return w, nil
}

// lastShown is when a window ends that shows what is planned from start on.
func (g *ganttData) lastShown(start int64) int64 {
	ends := g.ends(start)
	if len(ends) == 0 {
		return start + usualWindow
	}
	last := ends[len(ends)-1]
	if last > start+usualWindow {
		last = max(ends[(len(ends)-1)*3/4], start+usualWindow)
	}
	last = max(last, start+shortestWindow)
	last += (last - start) / 20 // what comes free is to be seen
	return (last + 59) / 60 * 60
}

// ends lists when each owner's last stretch ends, as far as that is after
// start, in order.
func (g *ganttData) ends(start int64) []int64 {
	last := make([]int64, len(g.owners))
	for i := range g.nodes {
		for _, b := range g.nodes[i].bars {
			last[b.owner] = max(last[b.owner], b.end)
		}
	}
	slices.Sort(last)
	first, _ := slices.BinarySearch(last, start+1)
	return last[first:]
}
