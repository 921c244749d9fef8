package chart

import (
	"slices"
	"time"
)

// Window is the time that a drawing shows, cut into cells: the columns of
// a terminal, or the pixels of a picture.
type Window struct {
	From, To int64 // Unix seconds: [From, To)
	Now      int64
	cells    int
	open     bool // where it ends was not asked for
}

// edge is the border between cells that is nearest to an instant, 0 for any
// before the window and cells for any after it.
func (w *Window) edge(t int64) int {
	span := w.To - w.From
	t = min(max(t, w.From), w.To) - w.From
	return int((2*t*int64(w.cells) + span) / (2 * span))
}

// cell is the cell that an instant lies in, the first or last for any outside.
func (w *Window) cell(t int64) int {
	t = min(max(t, w.From), w.To) - w.From
	return min(int(t*int64(w.cells)/(w.To-w.From)), w.cells-1)
}

// instant is when a cell begins.
func (w *Window) instant(cell int) int64 {
	return w.From + int64(cell)*(w.To-w.From)/int64(w.cells)
}

// nowCell is the cell that now lies in, -1 when it is outside.
func (w *Window) nowCell() int {
	if w.Now < w.From || w.Now >= w.To {
		return -1
	}
	return w.cell(w.Now)
}

// The least and the most that a drawing is wide.
const (
	Narrowest    = 20   // columns
	Widest       = 1000 // columns
	NarrowestSVG = 400  // pixels
	WidestSVG    = 20_000
)

const (
	shortestWindow = 10 * 60 // seconds from now on, unless asked for
	usualWindow    = 24 * 3600
)

// Window chooses what time to show, as far as it is not asked for: from a little
// before now until everything has ended. A few long jobs do not press the rest into
// a corner, though: beyond a day, it goes on only until three quarters of the jobs
// and reservations have ended. A zero time is one that is not asked for; of two that
// are, to must come after from.
func (g *Gantt) Window(from, to time.Time) Window {
	w := Window{To: to.Unix(), Now: g.Now, open: to.IsZero()}
	start := g.Now
	if !from.IsZero() {
		start = max(start, from.Unix())
	}
	if w.open {
		w.To = g.lastShown(start)
	}
	switch {
	case !from.IsZero():
		w.From = from.Unix()
	case w.To > g.Now:
		w.From = g.Now - max((w.To-g.Now)/20, 1)
	default:
		w.From = w.To - usualWindow
	}
	return w
}

// lastShown is when a window ends that shows what is planned from start on.
func (g *Gantt) lastShown(start int64) int64 {
	ends := g.ends(start)
	if len(ends) == 0 {
		return start + usualWindow
	}
	last := ends[len(ends)-1]
	if last > start+usualWindow {
		last = max(ends[(len(ends)-1)*3/4], start+usualWindow)
	}
	last = max(last, start+shortestWindow)
	last += (last - start) / 20 // leave room to see what comes free
	return (last + 59) / 60 * 60
}

// ends lists when each owner's last stretch ends, as far as that is after
// start, in order.
func (g *Gantt) ends(start int64) []int64 {
	last := make([]int64, len(g.Owners))
	for i := range g.Nodes {
		for _, b := range g.Nodes[i].Bars {
			last[b.Owner] = max(last[b.Owner], b.End)
		}
	}
	slices.Sort(last)
	first, _ := slices.BinarySearch(last, start+1)
	return last[first:]
}
