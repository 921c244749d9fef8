package main

import (
	"slices"
	"strconv"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
	"github.com/placectl/placectl/timeline"
)

// ganttKind is what a node does at some time.
type ganttKind uint8

const (
	ganttPast ganttKind = iota // before now, and nothing that still goes on
	ganttFree
	ganttNotUp    // down, offline or drained, and nothing on it
	ganttReserved // a reservation's, from here on the kinds that have an owner
	ganttPlanned  // a job's that is to begin
	ganttRunning
	ganttOverdue // a job's that should have ended
	ganttKinds
)

var ganttWords = [ganttKinds]string{"", "free", "not up", "reserved", "planned", "running", "overdue"}

// ganttData is what one look at the database found.
type ganttData struct {
	now     int64
	title   string // "": how things stand now
	nodes   []ganttNode
	owners  []ganttOwner
	buckets []ganttBucket // in the order they are tried; with --by bucket
}

// ganttNode is a node and what is planned for it.
type ganttNode struct {
	name   string
	state  index.State
	partly bool // in use now, and jobs could have some of it
	bucket uint32
	bars   []ganttBar // by start
	lane   int        // which of its rows this is: gantt_lanes.go
}

// ganttBar is a stretch of time in which somebody has a node.
type ganttBar struct {
	owner      int32 // among the owners
	kind       ganttKind
	start, end int64 // the end as it is expected now
	due        int64 // the end as it was meant, before now for an overdue job
}

// ganttOwner is a job or a reservation.
type ganttOwner struct {
	store.Owner
	name, user string // a job's, read for SVG alone
}

// label is what stands in a bar.
func (o *ganttOwner) label() string {
	if o.Job != 0 {
		return strconv.FormatUint(o.Job, 10)
	}
	return spell.Printable(o.Reservation)
}

// ganttBucket is a bucket that has nodes of ours.
type ganttBucket struct {
	id        uint32
	signature string
	queue     string
	priority  int32
	nodes     []*ganttNode
}

// ganttReader copies out of a transaction.
type ganttReader struct {
	tx     *store.Tx
	data   *ganttData
	bars   []ganttBar       // of all nodes
	owners map[uint64]int32 // by the calendar's number
	named  bool             // read what jobs are called
}

// readGantt looks at the database once, and lets go of it before anything is
// drawn.
func (r *runner) readGantt(o *ganttOptions) (*ganttData, error) {
	g := &ganttData{}
	err := r.view(func(tx *store.Tx) (err error) {
		g.now = tx.Now()
		if _, err := tx.Resources(); err != nil { // what is left of shared nodes is told by these
			return err
		}
		in := &ganttReader{tx: tx, data: g, owners: map[uint64]int32{}, named: o.svg != ""}
		if o.nodes == "" {
			err = tx.EachNode(in.node)
		} else {
			err = eachNamed(tx, o.nodes, in.node)
		}
		if err == nil {
			err = tx.Calendar().Err()
		}
		if err != nil || !o.byBucket {
			return err
		}
		return in.buckets()
	})
	return g, err
}

func (in *ganttReader) node(n *index.Node) error {
	first := len(in.bars)
	for _, b := range in.tx.Calendar().At(n.Number) {
		bar, err := in.bar(b)
		if err != nil {
			return err
		}
		in.bars = append(in.bars, bar)
	}
	partly := in.tx.Occupancy(n).State == store.NodePartly
	in.data.nodes = append(in.data.nodes, ganttNode{name: n.Name, state: n.State, partly: partly, bucket: n.Bucket, bars: in.bars[first:len(in.bars):len(in.bars)]})
	return nil
}

func (in *ganttReader) bar(b timeline.Busy) (ganttBar, error) {
	owner, err := in.owner(b)
	bar := ganttBar{owner: owner, start: b.Start, end: in.tx.Calendar().End(b), due: b.End}
	switch {
	case err != nil:
	case in.data.owners[owner].Job == 0:
		bar.kind = ganttReserved
	case b.Start > in.data.now:
		bar.kind = ganttPlanned
	case bar.end > bar.due:
		bar.kind = ganttOverdue
	default:
		bar.kind = ganttRunning
	}
	return bar, err
}

// owner finds out whose a stretch is, once for all nodes that it has.
func (in *ganttReader) owner(b timeline.Busy) (int32, error) {
	if at, ok := in.owners[b.Owner]; ok {
		return at, nil
	}
	who, err := in.tx.Owner(b)
	if err != nil {
		return 0, err
	}
	o := ganttOwner{Owner: who}
	if in.named && who.Job != 0 {
		job, err := in.tx.Job(who.Job)
		if err != nil {
			return 0, err
		}
		o.name, o.user = job.Name, job.User
	}
	at := int32(len(in.data.owners))
	in.data.owners = append(in.data.owners, o)
	in.owners[b.Owner] = at
	return at, nil
}

// buckets sorts the nodes into their buckets.
func (in *ganttReader) buckets() error {
	ix, err := in.tx.Index()
	if err != nil {
		return err
	}
	members := map[uint32][]*ganttNode{}
	var heads []*index.Bucket
	for i := range in.data.nodes {
		n := &in.data.nodes[i]
		if members[n.bucket] == nil {
			if b := ix.Bucket(n.bucket); b != nil {
				heads = append(heads, b)
			}
		}
		members[n.bucket] = append(members[n.bucket], n)
	}
	slices.SortFunc(heads, index.CompareBuckets)
	for _, b := range heads {
		in.data.buckets = append(in.data.buckets, ganttBucket{b.ID, ix.Describe(b), b.Queue, b.Priority, members[b.ID]})
	}
	return ix.Err()
}
