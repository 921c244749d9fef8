// Package chart draws pictures: which job has which node when, as text for a terminal and as SVG,
// and which host of a batch had which files. It draws plain values that its callers read, a Gantt
// or a Batch, and returns the text. It knows no store, no file and no clock. Of verbs it knows only
// the notes below a Gantt, which name the flags of placectl gantt that show what they count.
//
// A Gantt is drawn in steps, each in files of its own. A window of time is chosen (window.go) and
// gets an axis (ticks.go). Nodes become rows of cells, which are columns of a terminal or pixels of
// SVG (paint.go, fold.go); rows that look the same become one row. Buckets become curves
// (count.go). Then the rows are drawn, as text (text.go and its neighbours) or as SVG (svg.go and
// its neighbours). The SVG primitives of all pictures are in canvas.go.
package chart

import (
	"slices"
	"strconv"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// Gantt is what nodes do over time.
type Gantt struct {
	Now     int64  // Unix seconds
	Rows    string // the rows' kind, in the singular; "": node
	Nodes   []Node
	Owners  []Owner
	Buckets []Bucket // in the order to be drawn in; only drawings by bucket need them
}

// Node is a node and what is planned for it.
type Node struct {
	Name   string
	State  index.State
	Partly bool  // in use now, and jobs could have some of it
	Aside  bool  // it is no node, and not counted: its row shows what is planned for others
	Bars   []Bar // by start
	lane   int   // its row, and the items there: lanes.go
	whole  []Bar
}

// Bar is a stretch of time for which a node is taken.
type Bar struct {
	Owner      int32 // among the owners
	Kind       Kind
	Start, End int64 // Unix seconds; the end as it is expected now
	Due        int64 // the end as it was meant, before now for an overdue job
}

// Kind is what a node does at some time.
type Kind uint8

// The kinds. Reserved and those after it have an owner.
const (
	Past Kind = iota // before now, and nothing that still goes on
	Free
	NotUp    // down, offline or drained, and nothing on it
	Reserved // a reservation's
	Planned  // a job's that is to begin
	Running
	Overdue // a job's that should have ended
	kinds
)

var kindWords = [kinds]string{"", "free", "not up", "reserved", "planned", "running", "overdue"}

// noun is what owns a stretch of the kind.
func (k Kind) noun() string {
	if k == Reserved {
		return "reservation"
	}
	return "job"
}

// StateAt is the word for what becomes of a stretch; those of reservations are
// the ones that lists of reservations have.
func (b *Bar) StateAt(now int64) string {
	switch {
	case b.Kind != Reserved:
		return kindWords[b.Kind]
	case b.Start > now:
		return "planned"
	}
	return "active"
}

// BarAt is the number of the stretch that a node is in, -1 for none. Of an overdue
// job and what was to follow it, that is the job.
func (n *Node) BarAt(now int64) int {
	return slices.IndexFunc(n.Bars, func(b Bar) bool { return b.Start <= now && now < b.End })
}

// Owner is a job or a reservation.
type Owner struct {
	Job         uint64 // 0 for a reservation
	Reservation string
	Name, User  string // a job's; only SVG shows them
}

func (o *Owner) String() string {
	if o.Job != 0 {
		return "job " + strconv.FormatUint(o.Job, 10)
	}
	return "reservation " + o.Reservation
}

// label is what stands in a bar.
func (o *Owner) label() string {
	if o.Job != 0 {
		return strconv.FormatUint(o.Job, 10)
	}
	return text.Printable(o.Reservation)
}

// Bucket is a bucket that has some of the nodes.
type Bucket struct {
	ID        uint32
	Signature string
	Queue     string
	Priority  int32
	Nodes     []*Node
}

// label is what is the same about a bucket's nodes.
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

// nodePointers is for counting all nodes.
func (g *Gantt) nodePointers() []*Node {
	out := make([]*Node, 0, len(g.Nodes))
	for i := range g.Nodes {
		if !g.Nodes[i].Aside {
			out = append(out, &g.Nodes[i])
		}
	}
	return out
}
