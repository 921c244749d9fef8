package main

import (
	"strings"
)

// historyColumns is how many columns the six days are drawn in: three hours
// each.
const historyColumns = 48

// demoHistory is how full the cluster was over time: the nodes of each kind
// that jobs had, and the requests that waited, summed up in each column as
// level times seconds.
type demoHistory struct {
	at, from int64
	column   int64    // seconds
	kinds    []string // of nodes, in declared order
	kindOf   []int    // of each node
	nodes    []int    // how many of each kind there are
	busy     []int    // how many of each are taken now
	levels   [][historyColumns]int64
	waiting  [historyColumns]int64
	blocked  [historyColumns]bool // a reservation is active
}

func newDemoHistory(data *demoData) demoHistory {
	h := demoHistory{at: data.From, from: data.From, column: (data.Until - data.From) / historyColumns}
	for _, n := range data.Nodes {
		kind := strings.TrimRight(n.Name, "0123456789")
		if len(h.kinds) == 0 || h.kinds[len(h.kinds)-1] != kind {
			h.kinds, h.nodes = append(h.kinds, kind), append(h.nodes, 0)
		}
		h.nodes[len(h.nodes)-1]++
		h.kindOf = append(h.kindOf, len(h.kinds)-1)
	}
	h.busy = make([]int, len(h.kinds))
	h.levels = make([][historyColumns]int64, len(h.kinds))
	return h
}

// count adds to the nodes that are taken, or takes them off.
func (h *demoHistory) count(nodes []uint32, sign int) {
	for _, n := range nodes {
		h.busy[h.kindOf[n]] += sign
	}
}

// pass lets the time go on to an instant: until then all was as it is now.
func (h *demoHistory) pass(d *demoReplay, to int64) {
	for h.at < to {
		col := min((h.at-h.from)/h.column, historyColumns-1)
		step := min(to, h.from+(col+1)*h.column)
		if col == historyColumns-1 {
			step = to
		}
		for i, busy := range h.busy {
			h.levels[i][col] += int64(busy) * (step - h.at)
		}
		h.waiting[col] += int64(len(d.waiting)) * (step - h.at)
		h.at = step
	}
}

// reserved notes when a reservation is active.
func (h *demoHistory) reserved(start, end int64) {
	for col := range h.blocked {
		from := h.from + int64(col)*h.column
		if start < from+h.column && end > from {
			h.blocked[col] = true
		}
	}
}

// busyPart is the part of all nodes' time that jobs took.
func (d *demoReplay) busyPart() float64 {
	var sum int64
	for _, row := range d.history.levels {
		for _, v := range row {
			sum += v
		}
	}
	return float64(sum) / float64((d.data.Until-d.data.From)*int64(len(d.data.Nodes)))
}

// draw draws a row, full being what fills a column. What is not nothing shows.
func (h *demoHistory) draw(ramp []rune, row *[historyColumns]int64, full int64) string {
	var b strings.Builder
	top, most := int64(len(ramp)-1), max(full*h.column, 1)
	for _, v := range row {
		level := min((v*top+most/2)/most, top)
		if v > 0 {
			level = max(level, 1)
		}
		b.WriteRune(ramp[level])
	}
	return b.String()
}

// drawBlocked marks when reservations were active.
func (h *demoHistory) drawBlocked() string {
	var b strings.Builder
	for _, on := range h.blocked {
		if on {
			b.WriteByte('=')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// demoBar draws a part of a whole.
func demoBar(part float64, cells int) string {
	full := min(int(part*float64(cells)+0.5), cells)
	return strings.Repeat("#", full) + strings.Repeat(".", cells-full)
}
