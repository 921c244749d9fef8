package placer

import (
	"cmp"
	"fmt"
	"math"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// Place decides a request for a start at an instant, which is Now or later. The error is a *Refusal
// if the request does not fit.
func (s *Snapshot) Place(a Ask, at int64) (*Plan, error) {
	var m mapping
	if err := m.prepareToPlace(s, a); err != nil {
		return nil, err
	}
	held := m.heldBack(at, false)
	if held != nil {
		return nil, cmp.Or(m.never(), error(held))
	}
	if held = m.heldBack(at, true); held != nil {
		return nil, cmp.Or(m.never(), error(held))
	}
	plan, short, err := m.place(at, m.endedBy(at))
	switch {
	case err != nil:
		return nil, err
	case plan != nil:
		return plan, nil
	}
	if err := m.never(); err != nil {
		return nil, err
	}
	if m.mayMissAll() {
		plans, err := m.starts(s.Now, 1)
		if err != nil {
			return nil, err
		}
		if plans[0].Start == at {
			return plans[0], nil
		}
	}
	return nil, m.notNow(short)
}

// manyReleases: from this many releases on they are not examined one by one, because the calendar
// soon finds some of so many. On the bucket path fewReleases are enough for that, as long as little
// is planned (see planned).
const (
	fewReleases  = 64
	manyReleases = 1024
)

// endedBy is the nodes that are busy now and given back by an instant, nil for now. Where
// that is many it is all nodes: the calendar says which are.
func (m *mapping) endedBy(at int64) *roaring.Bitmap {
	if at <= m.Now {
		return nil
	}
	ended, releases := roaring.New(), 0
	for t, nodes := range m.Releases(m.Now) {
		if t > at {
			break
		}
		releases++
		if releases > manyReleases || releases == fewReleases && m.path == BucketPath && m.planned() != nil {
			return m.anyEnded()
		}
		ended.AddMany(nodes)
	}
	return ended
}

// anyEnded is all nodes, any of which may be given back.
func (s *Snapshot) anyEnded() *roaring.Bitmap {
	return roaring.Flip(roaring.New(), 0, uint64(s.Index.Limits().Nodes))
}

// Route tells which path a request takes, and why.
func (s *Snapshot) Route(a Ask) (Path, string) { return s.route(&a) }

func (s *Snapshot) route(a *Ask) (Path, string) {
	if why := s.notByBucket(a); why != "" {
		return NodePath, why
	}
	if a.Policy > FirstAvailable {
		return NodePath, "the policy " + a.Policy.String() + " looks at nodes one by one"
	}
	return BucketPath, "whole nodes, none of them by name"
}

// notByBucket is what buckets cannot tell of a request, other than the policy's
// order of nodes; "" when they can.
func (s *Snapshot) notByBucket(a *Ask) string {
	switch {
	case !a.Place.Exclusive():
		return "it shares its nodes (place=excl takes whole ones)"
	case a.Place.Arrange == Pack:
		return "place=pack puts all chunks on one host"
	case len(a.Grants) > 0:
		return "it may use a reservation"
	case a.Access == index.AccessSingleTask || s.Rules.Access == index.AccessSingleTask:
		return "no node takes more than one of its chunks"
	}
	for i, c := range a.Chunks {
		for _, w := range c.Wants {
			if w.Res == index.Host || w.Res == index.VNode {
				return fmt.Sprintf("chunk %d names a node", i+1)
			}
		}
	}
	if !s.Index.MarkedNodes(index.Ruled).IsEmpty() {
		return "nodes have rules of their own about sharing"
	}
	return ""
}

// mapping is a request with the buckets that serve each of its chunks.
type mapping struct {
	*Snapshot
	Ask
	whole    [][]index.Candidate // by chunk, over all nodes of the queue
	sets     []setMapping        // the placement sets that could serve it, in order
	unsure   bool                // whether each of them could hold it whole; see sureSets
	unproved bool                // whether all chunks together fit the empty cluster; see never
	swept    *timeline.Found     // the nodes with room at the instant that is looked at; nil if no sweep has told
	room     [1][]index.Candidate
	order    ordering // see exact.go
	searching
	path  Path
	nodes *roaring.Bitmap // that serve any chunk; nil until they are asked for

	plannedNodes *roaring.Bitmap // see planned
	plannedAsked bool

	*byNode // nil on the bucket path
}

// byNode is what the node path knows of a request besides.
type byNode struct {
	policy     Policy
	bucketable int64      // from when on the bucket path could serve it, but for the policy: once its reservations are over
	shares     bool       // it may be on nodes together with others
	byUsage    bool       // its PRIORITYF goes by usage
	insists    bool       // on a reservation
	packed     []Chunk    // the chunks that were made one for place=pack
	onHosts    []*mapping // for place=pack, on each host of several nodes that could hold it
	outer      *mapping   // of one of those: the request that it is packed for
	together   bool       // chunks of several kinds may be on a whole node
	quantities []uint16   // the consumables it asks for, ascending
	ranked     *roaring.Bitmap
	ruled      *roaring.Bitmap
	hosts      map[string]bool // names of nodes whose host other nodes share
	guestNodes *roaring.Bitmap
}

// setMapping is what of a mapping lies in one placement set.
type setMapping struct {
	set   *index.Set
	cands [][]index.Candidate
}

// prepare maps the request and decides whether it can ever run.
func (m *mapping) prepare(s *Snapshot, a Ask) error {
	if err := m.prepareToPlace(s, a); err != nil {
		return err
	}
	return m.never()
}

// prepareToPlace maps the request. Of chunks of one kind that together might never fit it
// leaves to never to find out: where they are placed they do.
func (m *mapping) prepareToPlace(s *Snapshot, a Ask) error {
	m.Snapshot, m.Ask, m.whole = s, a, m.room[:]
	if m.path, _ = s.route(&m.Ask); m.path == NodePath {
		if err := m.prepareNodes(); err != nil {
			return s.orFailure(err)
		}
	}
	if err := a.neverCounted(); err != nil { // what is refused is explained node by node all the same
		return err
	}
	if len(m.Chunks) != 1 {
		m.whole = make([][]index.Candidate, len(m.Chunks))
	}
	for i := range m.Chunks {
		c := &m.Chunks[i]
		m.whole[i] = m.candidates(c)
		if n := s.capacity(&m.Ask, m.whole[i], c.Count); n < c.Count {
			return s.orFailure(m.orOnHosts(m.explainNever(i, n)))
		}
	}
	m.unproved = true
	if len(m.Chunks) != 1 || m.path == NodePath && len(m.onHosts) > 0 {
		if err := m.never(); err != nil {
			return err
		}
	}
	if err := m.mapSets(); err != nil {
		return s.orFailure(cmp.Or(m.never(), err))
	}
	return s.orFailure(nil)
}

// never is why all chunks together never fit, if that is so.
func (m *mapping) never() error {
	if !m.unproved {
		return nil
	}
	m.unproved = false
	if err := m.neverTogether(m.whole); err != nil {
		return m.orFailure(m.orOnHosts(err))
	}
	return nil
}

// candidates are the buckets, and the nodes in them, that serve a chunk.
func (m *mapping) candidates(c *Chunk) []index.Candidate {
	if m.path == BucketPath {
		return m.notExcluded(m.Index.Candidates(m.Queue, c.Wants))
	}
	wants, named := m.named(c.Wants)
	cands := m.notExcluded(m.Index.Candidates(m.Queue, wants))
	if named != nil {
		cands = m.Index.Only(cands, named)
	}
	if m.insists {
		cands = m.Index.Only(cands, m.granting())
	}
	return cands
}

// notExcluded keeps of candidates what the request may get.
func (m *mapping) notExcluded(cands []index.Candidate) []index.Candidate {
	if len(m.Excluded) == 0 {
		return cands
	}
	left := m.anyEnded()
	for _, node := range m.Excluded {
		left.Remove(node)
	}
	return m.Index.Only(cands, left)
}

// prepareNodes gets a request ready for the node path.
func (m *mapping) prepareNodes() error {
	m.byNode = new(byNode)
	m.policy = max(m.Ask.Policy, FirstAvailable)
	m.bucketable = m.bucketableFrom()
	m.Access = m.Access.Stricter(m.Rules.Access)
	m.ranked, m.ruled = m.Index.MarkedNodes(index.Ranked), m.Index.MarkedNodes(index.Ruled)
	if m.policy == Priority && m.PriorityF != nil && m.PriorityF.ByUsage() {
		m.byUsage = true
		m.ranked = roaring.Flip(roaring.New(), 0, uint64(m.Index.Limits().Nodes))
	}
	m.shares = !m.ruled.IsEmpty() || !m.Spec.Place.Exclusive() && m.Access != index.AccessSingleJob && m.Access != index.AccessSingleTask
	if !m.ruled.IsEmpty() {
		m.hosts = m.Index.SharedHosts()
	}
	if m.Spec.Place.Arrange == Pack && len(m.Chunks) > 0 {
		m.packed, m.Chunks = m.Chunks, []Chunk{onOneHost(m.Index.Defs(), m.Chunks)}
	}
	m.quantities = quantitiesOf(m.Index.Defs(), m.Chunks)
	if err := m.insist(); err != nil {
		return err
	}
	if m.packed != nil && len(m.hosts) > 0 {
		m.packOnHosts()
	}
	return nil
}

// bucketableFrom is from when on the bucket path could serve the request, whatever its
// policy. Reservations that it may use are of no more use to it once they are over, and
// it is the same as one that never had any.
func (m *mapping) bucketableFrom() int64 {
	a, from := m.Ask, int64(math.MinInt64)
	for _, g := range a.Grants {
		if from = max(from, g.End); g.Affinity == Required {
			from = math.MaxInt64
		}
	}
	if a.Grants = nil; m.notByBucket(&a) != "" {
		return math.MaxInt64
	}
	return from
}

// orFailure puts a failure to read the state before an answer made of it.
func (s *Snapshot) orFailure(answer error) error {
	if err := s.Index.Err(); err != nil {
		return err
	}
	if err := s.Calendar.Err(); err != nil {
		return err
	}
	return answer
}

// perNode is how many chunks a node of a cell takes.
func (a *Ask) perNode(cell index.Cell) int {
	if a.Place.Arrange == Scatter || a.Place.Arrange == VScatter || a.Access == index.AccessSingleTask {
		return 1
	}
	return cell.Chunks
}

// capacity is how many chunks all nodes that are up could hold, empty. It counts
// no further than enough.
func (s *Snapshot) capacity(a *Ask, cands []index.Candidate, enough int) int {
	n := 0
	for _, c := range cands {
		for _, cell := range c.Cells {
			if n += s.Index.Up(c, cell) * a.perNode(cell); n >= enough {
				return n
			}
		}
	}
	return n
}

// place decides a start at an instant, trying the placement sets first. ended
// is the nodes that are busy now and given back by then, nil for a start now.
// Where it does not fit, the shortfall says how, and the plan is nil.
func (m *mapping) place(at int64, ended *roaring.Bitmap) (*Plan, shortfall, error) {
	plan, short := (*Plan)(nil), shortfall{}
	decide := m.collect
	if m.path == NodePath {
		decide = m.choose
	}
	sets := m.sets
	if len(sets) == 0 {
		plan, short = decide(m.whole, at, ended)
	}
	for _, sm := range sets {
		if plan, short = decide(sm.cands, at, ended); plan != nil {
			plan.Set = SetName(m.Index.Defs(), sm.set)
			break
		}
	}
	for i := 0; m.path == NodePath && plan == nil && i < len(m.onHosts); i++ {
		plan, _ = m.onHosts[i].choose(m.onHosts[i].whole, at, ended)
	}
	if plan == nil && len(sets) > 0 && (len(m.sureSets()) == 0 || m.maySpan(at)) {
		plan, short = decide(m.whole, at, ended)
	}
	return plan, short, m.orFailure(nil)
}
