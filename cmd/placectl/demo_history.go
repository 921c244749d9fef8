package main

import (
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/chart"
)

// historyColumns is how many columns the six days are drawn in: three hours
// each.
const historyColumns = 48

// demoHistory is how full the cluster was over time: the cpus of each kind of
// node that jobs had, the jobs that ran and those that waited, summed up in each
// column as level times seconds.
type demoHistory struct {
	at, from int64
	column   int64 // seconds
	kinds    []demoKind
	kindOf   []int        // of each node
	on       [][]*demoEnd // what runs on each node now
	most     []int        // jobs that were on each at once
	used     int          // nodes that have jobs now
	visits   int          // jobs on nodes now; one on several counts for each
	jobs     int          // jobs now

	running, waiting     [historyColumns]int64
	usedTime, visitsTime int64
}

// demoKind is a kind of node.
type demoKind struct {
	name   string
	nodes  int
	cpus   int64 // of all of them
	taken  int64 // now
	levels [historyColumns]int64
}

func newDemoHistory(data *demoData) demoHistory {
	h := demoHistory{at: data.From, from: data.From, column: (data.Until - data.From) / historyColumns,
		on: make([][]*demoEnd, len(data.Nodes)), most: make([]int, len(data.Nodes))}
	for _, n := range data.Nodes {
		name := nodeKind(n.Name)
		if len(h.kinds) == 0 || h.kinds[len(h.kinds)-1].name != name {
			h.kinds = append(h.kinds, demoKind{name: name})
		}
		k := &h.kinds[len(h.kinds)-1]
		k.nodes++
		k.cpus += cpusOf(n)
		h.kindOf = append(h.kindOf, len(h.kinds)-1)
	}
	return h
}

// nodeKind is a node's name without its number.
func nodeKind(name string) string { return strings.TrimRight(name, "0123456789") }

// enter puts a job on its nodes, and returns how many jobs have others beside
// them now that never had before.
func (h *demoHistory) enter(e *demoEnd) (shared int) {
	meet := func(e *demoEnd) {
		if !e.shared {
			e.shared = true
			shared++
		}
	}
	h.jobs++
	for _, t := range e.takes {
		for _, other := range h.on[t.node] {
			meet(other)
			meet(e)
		}
		if len(h.on[t.node]) == 0 {
			h.used++
		}
		h.visits++
		h.on[t.node] = append(h.on[t.node], e)
		h.most[t.node] = max(h.most[t.node], len(h.on[t.node]))
		h.kinds[h.kindOf[t.node]].taken += t.cpus
	}
	return shared
}

// leave takes a job off its nodes.
func (h *demoHistory) leave(e *demoEnd) {
	h.jobs--
	for _, t := range e.takes {
		i := slices.Index(h.on[t.node], e)
		h.on[t.node] = slices.Delete(h.on[t.node], i, i+1)
		if len(h.on[t.node]) == 0 {
			h.used--
		}
		h.visits--
		h.kinds[h.kindOf[t.node]].taken -= t.cpus
	}
}

// pass lets the time go on to an instant: until then all was as it is now, with
// so many waiting.
func (h *demoHistory) pass(to int64, waiting int) {
	for h.at < to {
		col := min((h.at-h.from)/h.column, historyColumns-1)
		step := min(to, h.from+(col+1)*h.column)
		if col == historyColumns-1 {
			step = to
		}
		span := step - h.at
		for i := range h.kinds {
			h.kinds[i].levels[col] += h.kinds[i].taken * span
		}
		h.running[col] += int64(h.jobs) * span
		h.waiting[col] += int64(waiting) * span
		h.usedTime += int64(h.used) * span
		h.visitsTime += int64(h.visits) * span
		h.at = step
	}
}

// cpusPart is the part of all cpus' time that jobs had.
func (h *demoHistory) cpusPart() float64 {
	var sum, all int64
	for i := range h.kinds {
		all += h.kinds[i].cpus
		for _, v := range h.kinds[i].levels {
			sum += v
		}
	}
	return part(sum, all*(h.at-h.from))
}

// nodesPart is the part of all nodes' time in which there was a job on them.
func (h *demoHistory) nodesPart() float64 { return part(h.usedTime, int64(len(h.on))*(h.at-h.from)) }

// jobsPerNode is how many jobs were on a node at once while there were any.
func (h *demoHistory) jobsPerNode() float64 { return part(h.visitsTime, h.usedTime) }

func part(some, all int64) float64 { return float64(some) / float64(max(all, 1)) }

// draw draws a row, full being what fills a column.
func (h *demoHistory) draw(ramp []rune, row *[historyColumns]int64, full int64) string {
	var b strings.Builder
	for _, v := range row {
		b.WriteRune(chart.Level(ramp, v, full*h.column))
	}
	return b.String()
}

// highest is the highest column of a row, rounded up.
func (h *demoHistory) highest(row *[historyColumns]int64) int64 {
	return (slices.Max(row[:]) + h.column - 1) / h.column
}

// drawSpan marks a stretch of time.
func (h *demoHistory) drawSpan(start, end int64) string {
	var b strings.Builder
	for col := range int64(historyColumns) {
		if from := h.from + col*h.column; start < from+h.column && end > from {
			b.WriteByte('=')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}
