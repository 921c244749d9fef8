package placer

import (
	"errors"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// A refusal names the first thing that is short. An explanation goes on: for every chunk it counts
// each node of the cluster under the one reason for which it cannot serve the chunk now, or under
// those that could, so the numbers add up to all nodes. If time alone helps, it says when the first
// of the nodes could; and it tries what the user could change.
//
// Bitmaps classify most nodes: those that are down, of another queue, without a wanted value, idle.
// Only nodes that are taken, reserved or have their own sharing rules are examined one by one
// (explain_nodes.go).

// Explanation describes whether a request can start at the instant of a snapshot, and why.
type Explanation struct {
	Verdict Verdict
	Plan    *Plan    // the start now, else the earliest start; nil if there is none
	Refusal *Refusal // why it does not start now; nil if it does
	Path    Path
	Why     string // why that path
	Policy  Policy
	// Chunks are the chunks of the select or, if Packed, the one combined chunk that a node
	// must have room for.
	Chunks []ChunkView
	Packed bool
	Hosts  []HostView // hosts of several nodes that could also hold a packed request
	// Together says that each chunk would fit by itself: only room for all of them at once is
	// missing.
	Together bool
	Sets     []SetView  // the placement sets that could hold it, in the order they are tried
	Counters []string   // the pools and rules that it counts against, with the total of each
	Helps    []Help     // changes that would make it start now or, if it is Impossible, possible at all
	Ranking  []Ranked   // nodes that could serve it now, in the order of a policy that scores nodes
	Nodes    []NodeView // the nodes that the caller asked about
}

// Impossible reports whether no start is possible on the nodes in service, even when they are empty.
func (x *Explanation) Impossible() bool {
	return x.Verdict == NeverStarts || x.Refusal != nil && len(x.Refusal.Absent) > 0
}

// Verdict says whether a request starts. Programs read these words.
type Verdict string

// The verdicts.
const (
	StartsNow   Verdict = "now"
	StartsLater Verdict = "later" // it would fit the empty cluster, with all nodes in service
	NeverStarts Verdict = "never"
)

// ChunkView describes how many of a chunk could be placed now, and why not more.
type ChunkView struct {
	Chunk   Chunk
	Fits    int64    // how many fit now; in the best placement set if it must keep to one
	Reasons []Reason // every node counts under exactly one reason
	Buckets []BucketView
}

// BucketView describes the nodes of a bucket that are up and have what a chunk asks for.
type BucketView struct {
	ID                uint32
	Signature         string // as text: ncpus=8:color=red
	Queue             string // "" for none
	Priority          int32
	Free, Later, Busy int // by class
	Fits              int // how many of all these could serve the chunk now
}

// SetView is a placement set that could hold the request if it were empty.
type SetView struct {
	Name  string  // key=value
	Nodes int     // nodes that are up and could serve any of its chunks
	Fits  []int64 // by chunk: how many there is room for now
}

// HostView is a host of several nodes that could hold a packed request if it were empty.
type HostView struct {
	Name  string
	Nodes int     // nodes that are up and could serve any of its chunks
	Fits  []int64 // by chunk of the select: how many fit now, each chunk counted alone
	Wants []int   // by chunk: how many the request asks for
}

// NodeView describes a node's part in the explanation of one chunk.
type NodeView struct {
	Node   uint32
	Chunk  int
	Reason Reason // of this node alone
}

// Explain says what to explain besides the reasons of each chunk.
type Explain struct {
	Otherwise []Otherwise // variants of the request to try as well
	Nodes     []uint32    // nodes to explain one by one
	Rank      int         // how many nodes to rank for each chunk, if the policy scores nodes
}

// Otherwise is a request with a change that a snapshot cannot make itself, such as another queue.
// Its snapshot is the one to decide it on.
type Otherwise struct {
	Change, To string
	Ask        Ask
	In         *Snapshot
}

// Explain says why a request starts now or does not, the role of each node, and what would help. A
// request that does not fit is no error.
func (s *Snapshot) Explain(a Ask, o Explain) (*Explanation, error) {
	own := *s
	own.Rows = &lastRow{Rows: s.Rows}
	x := &explainer{out: Explanation{Policy: max(a.Policy, FirstAvailable)}}
	x.out.Path, x.out.Why = own.Route(a)
	if err := x.decide(&own, a); err != nil {
		return nil, err
	}
	if err := x.prepareAll(&own, a); err != nil {
		return nil, err
	}
	for kind := range x.Chunks {
		x.chunk(kind)
	}
	x.compareSets()
	x.compareHosts()
	for _, node := range o.Nodes {
		for kind := range x.Chunks {
			x.out.Nodes = append(x.out.Nodes, NodeView{node, kind, x.nodeReason(kind, node)})
		}
	}
	x.rank(o.Rank)
	for _, d := range a.Demands {
		x.out.Counters = append(x.out.Counters, d.Text(s.Now, a.Duration))
	}
	if x.out.Verdict != StartsNow {
		h := helper{s: &own, a: a, never: x.out.Impossible()}
		if err := h.tryAll(x.out.Refusal.Absent, o.Otherwise); err != nil {
			return nil, err
		}
		x.out.Helps = h.helps
	}
	return &x.out, own.orFailure(nil)
}

// lastRow caches the row read last, because the same node is examined several times in turn.
type lastRow struct {
	Rows
	node *index.Node
}

func (r *lastRow) Node(number uint32) (*index.Node, error) {
	if r.node != nil && r.node.Number == number {
		return r.node, nil
	}
	n, err := r.Rows.Node(number)
	if err == nil {
		r.node = n
	}
	return n, err
}

// explainer builds the explanation of a request.
type explainer struct {
	mapping
	out     Explanation
	all, up *roaring.Bitmap // nodes of the cluster
	probe   *seeker
	spot    spot
	sieves  []sieve // by chunk
}

// decide finds the verdict.
func (x *explainer) decide(s *Snapshot, a Ask) error {
	plan, err := s.Place(a, s.Now)
	if err == nil {
		x.out.Verdict, x.out.Plan = StartsNow, plan
		return nil
	}
	if !errors.As(err, &x.out.Refusal) {
		return err
	}
	if x.out.Refusal.Kind == ErrNever {
		x.out.Verdict = NeverStarts
		return nil
	}
	x.out.Verdict = StartsLater
	if x.out.Plan, err = s.Earliest(a, s.Now); err == nil {
		x.out.Refusal.Start, x.out.Refusal.HasStart = x.out.Plan.Start, true
	} else if !errors.Is(err, ErrNotNow) {
		return err
	}
	return nil
}

// prepareAll maps the request, even if it is refused, and prepares it for the node path, whichever
// path serves it.
func (x *explainer) prepareAll(s *Snapshot, a Ask) error {
	m := &x.mapping
	var refused *Refusal
	if err := m.prepare(s, a); err != nil && !errors.As(err, &refused) {
		return err
	}
	m.sureSets()
	if m.path == BucketPath {
		if err := m.prepareNodes(); err != nil {
			return err
		}
	}
	m.whole = make([][]index.Candidate, len(m.Chunks))
	for i := range m.whole {
		m.whole[i] = m.candidates(&m.Chunks[i])
	}
	x.probe = m.seek(s.Now, nil, false)
	var all, up []*roaring.Bitmap
	for _, b := range m.Index.Buckets() {
		all = append(all, m.Index.Nodes(b, index.None))
		for _, class := range []index.Class{index.Free, index.Later, index.Busy} {
			if b.Count[class] > 0 {
				up = append(up, m.Index.Nodes(b, class))
			}
		}
	}
	x.all, x.up = roaring.FastOr(all...), roaring.FastOr(up...)
	return m.orFailure(nil)
}

// Text returns a chunk's wants, without its count.
func (v *ChunkView) Text(defs *index.Defs) string {
	one := v.Chunk
	one.Count = 1
	if text := one.Text(defs); len(text) > 2 {
		return text[2:]
	}
	return "ncpus=1"
}

// never means that there is no such instant.
const never = timeline.Forever
