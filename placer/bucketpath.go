package placer

import (
	"cmp"
	"fmt"
	"math"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// Place decides whether a request can start at an instant, in Unix seconds, which is Now or later.
// The error is a *Refusal if the request does not fit.
func (s *Snapshot) Place(a Ask, at int64) (*Plan, error) {
	plan, err := s.placeNow(a, at)
	if err != nil {
		return nil, s.unlessAbsent(a, err)
	}
	return plan, nil
}

// placeNow decides a start on the nodes in service.
func (s *Snapshot) placeNow(a Ask, at int64) (*Plan, error) {
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

// manyReleases is the number of releases from which they are not examined one by one, because
// the calendar soon finds some of so many. On the bucket path fewReleases are enough if little
// is planned (see planned).
const (
	fewReleases  = 64
	manyReleases = 1024
)

// endedBy returns the nodes that are busy now and given back by an instant, nil for now. If there
// are many, it returns all nodes; the calendar then says which are given back.
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

// anyEnded returns all nodes, because any of them may be given back.
func (s *Snapshot) anyEnded() *roaring.Bitmap {
	return roaring.Flip(roaring.New(), 0, uint64(s.Index.Limits().Nodes))
}

// Route returns the path that a request takes, and the reason.
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

// notByBucket says why buckets cannot serve a request, apart from the policy's order of nodes; ""
// if they can.
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

// mapping is a request and the buckets that serve each of its chunks.
type mapping struct {
	*Snapshot
	Ask
	whole    [][]index.Candidate // by chunk, over all nodes of the queue
	sets     []setMapping        // the placement sets that could serve it, in the order to try
	unsure   bool                // whether each of them could hold it whole; see sureSets
	unproved bool                // whether all chunks together fit the empty cluster; see never
	swept    *timeline.Found     // the nodes with room at the current instant; nil without a sweep
	room     [1][]index.Candidate
	order    ordering // see exact.go
	searching
	path  Path
	nodes *roaring.Bitmap // nodes that serve any chunk; nil until needed

	plannedNodes *roaring.Bitmap // see planned
	plannedAsked bool

	*byNode // nil on the bucket path
}

// byNode holds what else the node path needs to know of a request.
type byNode struct {
	policy     Policy
	bucketable int64      // when the bucket path could serve it, apart from the policy: after its reservations
	shares     bool       // it may share nodes with others
	byUsage    bool       // its PRIORITYF depends on usage
	insists    bool       // on a reservation that it may use
	packed     []Chunk    // the chunks that place=pack combined into one
	onHosts    []*mapping // for place=pack: one for each host of several nodes that could hold it
	outer      *mapping   // for each of those: the request that it is packed for
	together   bool       // chunks of several kinds may share a whole node
	quantities []uint16   // the consumables it asks for, ascending
	ranked     *roaring.Bitmap
	ruled      *roaring.Bitmap
	hosts      map[string]bool // names of nodes that share their host
	guestNodes *roaring.Bitmap
}

// setMapping is the part of a mapping that lies in one placement set.
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

// prepareToPlace maps the request. If chunks of one kind might never fit together, it leaves that
// to never, because placing them finds out anyway.
func (m *mapping) prepareToPlace(s *Snapshot, a Ask) error {
	m.Snapshot, m.Ask, m.whole = s, a, m.room[:]
	if m.path, _ = s.route(&m.Ask); m.path == NodePath {
		if err := m.prepareNodes(); err != nil {
			return s.orFailure(err)
		}
	}
	if err := a.neverCounted(); err != nil { // a refused request is still explained node by node
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

// never returns the reason why all chunks together can never fit, or nil.
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

// candidates returns the buckets, and the nodes in them, that serve a chunk.
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

// notExcluded returns the candidates without the nodes that the request excludes.
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

// prepareNodes prepares a request for the node path.
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
	m.shares = !m.ruled.IsEmpty() || !m.Spec.Place.Exclusive() && m.Access != index.AccessSingleJob &&
		m.Access != index.AccessSingleTask
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

// bucketableFrom returns the instant from which the bucket path could serve the request, apart from
// its policy. Once the reservations that it may use are over, it is like a request that never had
// any.
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

// orFailure returns a failure to read the state, if there was one, in place of the answer made from
// it.
func (s *Snapshot) orFailure(answer error) error {
	if err := s.Index.Err(); err != nil {
		return err
	}
	if err := s.Calendar.Err(); err != nil {
		return err
	}
	return answer
}

// perNode returns how many chunks a node of a cell takes.
func (a *Ask) perNode(cell index.Cell) int {
	if a.Place.Arrange == Scatter || a.Place.Arrange == VScatter || a.Access == index.AccessSingleTask {
		return 1
	}
	return cell.Chunks
}

// capacity returns how many chunks all nodes that are up could hold if they were empty. It stops
// counting at enough.
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

// place decides a start at an instant, trying the placement sets first. ended is the set of nodes
// that are busy now and given back by then, nil for a start now. If the request does not fit, the
// plan is nil and the shortfall says why.
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
