// Package chart draws pictures: which job has which node when, as text for a terminal and as SVG, and
// which host of a batch had which files. It draws plain values that its callers read, a Gantt or a
// Batch, and returns the text. It knows no store, no file and no clock. Of verbs it knows only the
// notes below a Gantt, which name flags of placectl gantt.
//
// A Gantt is drawn in steps, each in files of its own. A window of time is chosen (window.go) and gets
// an axis (ticks.go). Nodes become rows of cells, which are columns of a terminal or pixels of SVG
// (paint.go, fold.go). Rows that look the same become one row. Buckets become curves (count.go). Then
// the rows are drawn, as text (text.go and its neighbours) or as SVG (svg.go and its neighbours). The
// SVG primitives of all pictures are in canvas.go.
package chart

import (
	"slices"
	"strconv"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// Gantt shows the use of nodes over time.
type Gantt struct {
	Now     int64  // Unix seconds
	Rows    string // what a row is, in the singular; "": node
	Nodes   []Node
	Owners  []Owner
	Buckets []Bucket // in drawing order; needed only by bucket
}

// Node is a node with its present and planned use.
type Node struct {
	Name   string
	State  index.State
	Partly bool  // in use, with room for more
	Aside  bool  // not a node, and not counted: the row shows plans for others
	Bars   []Bar // by start
	lane   int   // its row, and all its stretches: see lanes.go
	whole  []Bar
}

// Bar is a stretch of time in which a node is taken.
type Bar struct {
	Owner      int32 // index into Owners
	Kind       Kind
	Start, End int64 // Unix seconds; the end as expected now
	Due        int64 // the intended end, in the past for an overdue job
}

// Kind is the kind of a node's use at some time.
type Kind uint8

// The kinds. Reserved and those after it have an owner.
const (
	Past Kind = iota // before now, without anything that still goes on
	Free
	NotUp    // down, offline or drained, with nothing on it
	Reserved // by a reservation
	Planned  // for a job that will start
	Running
	Overdue // by a job that should have ended
	kinds
)

var kindWords = [kinds]string{"", "free", "not up", "reserved", "planned", "running", "overdue"}

// noun returns what owns a stretch of the kind.
func (k Kind) noun() string {
	if k == Reserved {
		return "reservation"
	}
	return "job"
}

// StateAt returns the word for the state of a stretch. For reservations it is the one in lists of
// reservations.
func (b *Bar) StateAt(now int64) string {
	switch {
	case b.Kind != Reserved:
		return kindWords[b.Kind]
	case b.Start > now:
		return "planned"
	}
	return "active"
}

// BarAt returns the index of the node's present stretch, -1 for none. If an overdue job delays another,
// it is that of the overdue job.
func (n *Node) BarAt(now int64) int {
	return slices.IndexFunc(n.Bars, func(b Bar) bool { return b.Start <= now && now < b.End })
}

// Owner is a job or a reservation.
type Owner struct {
	Job         uint64 // 0 for a reservation
	Reservation string
	Name, User  string // of a job; only SVG shows them
}

func (o *Owner) String() string {
	if o.Job != 0 {
		return "job " + strconv.FormatUint(o.Job, 10)
	}
	return "reservation " + o.Reservation
}

// label returns the text in a bar.
func (o *Owner) label() string {
	if o.Job != 0 {
		return strconv.FormatUint(o.Job, 10)
	}
	return text.Printable(o.Reservation)
}

// Bucket is a bucket with some of the nodes.
type Bucket struct {
	ID        uint32
	Signature string
	Queue     string
	Priority  int32
	Nodes     []*Node
}

// label returns what a bucket's nodes have in common.
func (b *Bucket) label() string {
	words := b.Signature
	if words == "" {
		words = "no resources"
	}
	if b.Queue != "" {
		words += " queue=" + b.Queue
	}
	if b.Priority != 0 {
		words += " priority=" + strconv.Itoa(int(b.Priority))
	}
	return text.Printable(words)
}

// nodePointers returns pointers to all nodes, for counting them.
func (g *Gantt) nodePointers() []*Node {
	out := make([]*Node, 0, len(g.Nodes))
	for i := range g.Nodes {
		if !g.Nodes[i].Aside {
			out = append(out, &g.Nodes[i])
		}
	}
	return out
}
