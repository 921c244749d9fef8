package chart

import (
	"slices"
	"time"
)

// Window is the period that a drawing shows, divided into cells: the columns of a terminal, or the
// pixels of a picture.
type Window struct {
	From, To int64 // Unix seconds: [From, To)
	Now      int64
	cells    int
	open     bool // the end was not given
}

// edge returns the border between cells that is nearest to an instant: 0 for any before the window,
// cells for any after it.
func (w *Window) edge(t int64) int {
	span := w.To - w.From
	t = min(max(t, w.From), w.To) - w.From
	return int((2*t*int64(w.cells) + span) / (2 * span))
}

// cell returns the cell of an instant, the first or last one for instants outside the window.
func (w *Window) cell(t int64) int {
	t = min(max(t, w.From), w.To) - w.From
	return min(int(t*int64(w.cells)/(w.To-w.From)), w.cells-1)
}

// instant returns when a cell begins.
func (w *Window) instant(cell int) int64 {
	return w.From + int64(cell)*(w.To-w.From)/int64(w.cells)
}

// nowCell returns the cell of now, -1 if now is outside the window.
func (w *Window) nowCell() int {
	if w.Now < w.From || w.Now >= w.To {
		return -1
	}
	return w.cell(w.Now)
}

// The least and the greatest width of a drawing.
const (
	Narrowest    = 20   // columns
	Widest       = 1000 // columns
	NarrowestSVG = 400  // pixels
	WidestSVG    = 20_000
)

const (
	shortestWindow = 10 * 60 // seconds from now on, unless an end is given
	usualWindow    = 24 * 3600
)

// Window chooses the period to show, as far as it is not given: from a little before now until
// everything has ended. But a few long jobs must not squeeze the rest: beyond a day, it only covers the
// time until three quarters of the jobs and reservations have ended. A zero time is not given. If both
// are given, to must come after from.
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

// lastShown returns the end of a window that shows what is planned from start on.
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
	last += (last - start) / 20 // leave room to show what becomes free
	return (last + 59) / 60 * 60
}

// ends lists in order when each owner's last stretch ends, without those that end by start.
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
