package placer

import (
	"fmt"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// collector gathers nodes for the chunks of one request at one instant.
type collector struct {
	*mapping
	at, end int64
	ended   *roaring.Bitmap // nil: the instant is now
	empty   bool            // treat all nodes that are up as free
	taken   map[uint32]*roaring.Bitmap
	then    map[uint32]*classes // by bucket, for a later instant
	block   uint32              // the calendar block that fits examined last, plus one
	reaches bool                // whether some node of that block may fit
	buf     []uint32
}

// classes are the nodes of a bucket that are free for good, or for a while, at a later instant. For
// the free nodes that are also in unsure, which may be nil, the calendar says whether they are
// given back by then. It is asked when their turn comes.
type classes struct{ free, later, unsure *roaring.Bitmap }

// shortfall is a chunk for which too few nodes were found, and the candidates that were examined.
type shortfall struct {
	chunk, found int
	alone        bool // no other chunk played a part
	row          bool // the policy required nodes in a row
	cands        [][]index.Candidate
}

// collect goes through the chunks in order, each bucket by bucket. It takes nodes with a later plan
// first, so that nodes without plans stay whole, then the free ones. If that fails for chunks that
// compete for nodes, it tries an exact assignment, if the rules allow one (exact.go).
func (m *mapping) collect(cands [][]index.Candidate, at int64, ended *roaring.Bitmap) (*Plan, shortfall) {
	if ended != nil {
		if i, most := m.tooFew(cands, ended); i >= 0 {
			return nil, shortfall{chunk: i, found: most, alone: true, cands: cands}
		}
	}
	c := collector{mapping: m, at: at, end: at + m.Duration, ended: ended}
	plan := newPlan(len(m.Chunks))
	plan.Start, plan.End = at, c.end
	for i := range m.Chunks {
		picks, found := c.chunk(m.Chunks[i].Count, cands[i])
		if found < m.Chunks[i].Count {
			if i > 0 { // if one chunk alone falls short, no assignment helps
				if plan.Chunks = m.reassign(&c, cands); plan.Chunks != nil {
					return plan, shortfall{}
				}
			}
			return nil, shortfall{chunk: i, found: found, alone: i == 0, cands: cands}
		}
		c.take(picks, cands[i+1:])
		plan.Chunks[i] = Allotment{emit(picks, m.Chunks[i].Count)}
	}
	return plan, shortfall{}
}

// newPlan allocates a plan and its chunks, in one allocation for one chunk.
func newPlan(chunks int) *Plan {
	p := &struct {
		Plan
		one [1]Allotment
	}{Plan: Plan{Path: BucketPath, Policy: "firstavailable"}}
	if p.Chunks = p.one[:]; chunks != 1 {
		p.Chunks = make([]Allotment, chunks)
	}
	return &p.Plan
}

// tooFew finds a chunk that a later instant cannot serve even if all nodes given back by then stay
// free. It counts nodes and collects none. It returns -1 if there is no such chunk.
func (m *mapping) tooFew(cands [][]index.Candidate, ended *roaring.Bitmap) (int, int) {
	for i, list := range cands {
		most := 0
		for _, c := range list {
			back := int(m.Index.Nodes(c.Bucket, index.Busy).AndCardinality(ended))
			idle := int(c.Bucket.Count[index.Free] + c.Bucket.Count[index.Later])
			if most += (idle + back) * m.perNode(c.Cells[0]); most >= m.Chunks[i].Count {
				break
			}
		}
		if most < m.Chunks[i].Count {
			return i, most
		}
	}
	return -1, 0
}

// notNow makes a refusal of a shortfall.
func (m *mapping) notNow(short shortfall) *Refusal {
	c := m.Chunks[short.chunk]
	r := &Refusal{Kind: ErrNotNow, Chunk: short.chunk, Found: short.found, Need: c.Count, Until: m.until(),
		Why: fmt.Sprintf("chunk %d (%s): room for %d of %d", short.chunk+1, c.Text(m.Index.Defs()), short.found,
			c.Count)}
	if m.path == NodePath && m.packed != nil {
		r.Why = "no host has room for all chunks: " + strings.TrimPrefix(c.Text(m.Index.Defs()), "1:")
	}
	if short.row {
		r.Why = fmt.Sprintf("no nodes in a row have room for it: for %d of %d chunks at most", short.found, c.Count)
	}
	if len(m.sets) > 0 {
		r.Why += fmt.Sprintf("; it waits for one of %d placement sets that could hold it", len(m.sets))
	}
	return r
}

// chunk collects nodes until they hold need chunks, and returns how many they hold.
func (c *collector) chunk(need int, cands []index.Candidate) ([]Pick, int) {
	var picks []Pick
	found := 0
	for _, cand := range cands {
		for _, class := range []index.Class{index.Later, index.Free} {
			if found >= need {
				return picks, found
			}
			picks, found = c.fromClass(picks, found, need, cand, class)
		}
	}
	return picks, found
}

// fromClass adds a bucket's nodes of one class.
func (c *collector) fromClass(picks []Pick, found, need int, cand index.Candidate, class index.Class) ([]Pick, int) {
	if c.ended == nil && !c.empty && cand.Bucket.Count[class] == 0 {
		return picks, found
	}
	nodes := c.available(cand, class)
	if nodes.IsEmpty() {
		return picks, found
	}
	per := min(c.perNode(cand.Cells[0]), need)
	unsure := c.unsure(cand.Bucket, class)
	if class == index.Free && need-found <= per && len(cand.Cells) == 1 && unsure == nil {
		return append(picks, Pick{Node: nodes.Minimum(), Chunks: int32(per), Class: class, Bucket: cand.Bucket}),
			found + per
	}
	if class == index.Free && picks == nil {
		picks = make([]Pick, 0, min(int(nodes.GetCardinality()), (need-found+per-1)/per))
	}
	if len(c.buf) == 0 {
		c.buf = make([]uint32, min(max(need, 16), 1024))
	}
	for it := nodes.ManyIterator(); ; {
		n := it.NextMany(c.buf)
		if n == 0 {
			return picks, found
		}
		for _, node := range c.buf[:n] {
			if !c.fits(node, class, unsure) {
				continue
			}
			if len(cand.Cells) > 1 {
				per = min(c.perNodeOf(cand, node), need)
			}
			picks = append(picks, Pick{Node: node, Chunks: int32(per), Class: class, Bucket: cand.Bucket})
			if found += per; found >= need {
				return picks, found
			}
		}
	}
}

func (c *collector) perNodeOf(cand index.Candidate, node uint32) int {
	for _, cell := range cand.Cells {
		if cell.Nodes == nil || cell.Nodes.Contains(node) {
			return c.perNode(cell)
		}
	}
	return 0
}

// fits tests a node. A free one must have been given back, if that is unsure. On a later one
// nothing may begin before the end; beginning exactly at the end is fine. Whole blocks of nodes are
// skipped by how far they reach.
func (c *collector) fits(node uint32, class index.Class, unsure *roaring.Bitmap) bool {
	if class == index.Free {
		return unsure == nil || !unsure.Contains(node) || c.Calendar.FreeThrough(node, c.at, timeline.Forever)
	}
	if c.swept != nil {
		return true
	}
	if c.ended != nil && c.ended.Contains(node) {
		return c.Calendar.FreeThrough(node, c.at, c.end)
	}
	if block := node/timeline.BlockNodes + 1; block != c.block {
		c.block, c.reaches = block, c.Calendar.Reach(block-1) >= c.end
	}
	return c.reaches && c.Calendar.NextBusy(node, c.Now+1) >= c.end
}

// available returns a bucket's nodes of a class at the collector's instant, without those that
// earlier chunks took or that are outside the cells.
func (c *collector) available(cand index.Candidate, class index.Class) *roaring.Bitmap {
	nodes := within(c.classAt(cand.Bucket, class), cand.Cells)
	if taken := c.taken[cand.Bucket.ID]; taken != nil {
		nodes = roaring.AndNot(nodes, taken)
	}
	return nodes
}

// classAt returns a bucket's nodes of a class at the instant.
func (c *collector) classAt(b *index.Bucket, class index.Class) *roaring.Bitmap {
	switch {
	case c.empty && class == index.Later:
		return roaring.New()
	case c.empty:
		return c.up(b)
	case c.ended == nil:
		return c.Index.Nodes(b, class)
	}
	then := c.then[b.ID]
	if then == nil {
		if c.then == nil {
			c.then = make(map[uint32]*classes)
		}
		then = c.classesThen(b)
		c.then[b.ID] = then
	}
	if class == index.Free {
		return then.free
	}
	return then.later
}

// unsure returns the nodes of a bucket's class for which fits must ask the calendar whether they
// are given back; nil for none.
func (c *collector) unsure(b *index.Bucket, class index.Class) *roaring.Bitmap {
	if then := c.then[b.ID]; then != nil && class == index.Free {
		return then.unsure
	}
	return nil
}

// classesThen sorts a bucket's nodes at a later instant. Nodes given back by then become free if
// nothing follows on them, else later. A node that is free now and not given back by then keeps its
// plans ahead of it.
func (c *collector) classesThen(b *index.Bucket) *classes {
	if c.swept != nil {
		up := c.up(b)
		free := roaring.And(up, c.swept.Free)
		return &classes{free: free, later: roaring.AndNot(roaring.And(up, c.swept.Fit), free)}
	}
	out := &classes{free: c.Index.Nodes(b, index.Free), later: c.Index.Nodes(b, index.Later)}
	back := roaring.And(c.Index.Nodes(b, index.Busy), c.ended)
	back.Or(roaring.And(out.later, c.ended))
	if out.unsure = c.unplanned(back); out.unsure != nil {
		back.AndNot(out.unsure)
		out.free = roaring.Or(out.free, out.unsure)
	}
	free := c.Calendar.FreeThroughout(back, c.at, timeline.Forever)
	if back.AndNot(free); !back.IsEmpty() {
		out.later = roaring.Or(out.later, back)
	}
	if !free.IsEmpty() {
		out.free = roaring.Or(out.free, free)
		out.later = roaring.AndNot(out.later, free)
	}
	return out
}

// unplanned returns the nodes on which nothing more begins. They are free for good once they
// are given back. It is nil if the nodes given back by the instant were listed, or if much is
// planned; then all are looked up.
func (c *collector) unplanned(nodes *roaring.Bitmap) *roaring.Bitmap {
	if c.ended.GetCardinality() < uint64(c.Index.Limits().Nodes) {
		return nil
	}
	planned := c.planned()
	if planned == nil {
		return nil
	}
	return roaring.AndNot(nodes, planned)
}

// planned returns the nodes of everything planned, or nil if that is much or unknown.
func (m *mapping) planned() *roaring.Bitmap {
	if m.plannedAsked || m.Planned == nil {
		return m.plannedNodes
	}
	m.plannedAsked = true
	nodes, changes := roaring.New(), 0
	for _, list := range m.Planned(0) {
		if changes++; changes > manyReleases {
			return nil
		}
		nodes.AddMany(list)
	}
	m.plannedNodes = nodes
	return nodes
}

// take hides the collected nodes from the chunks that follow. They are sorted by bucket.
func (c *collector) take(picks []Pick, following [][]index.Candidate) {
	for len(following) > 0 && len(picks) > 0 {
		bucket, n := picks[0].Bucket, 0
		c.buf = c.buf[:0]
		for ; n < len(picks) && picks[n].Bucket == bucket; n++ {
			c.buf = append(c.buf, picks[n].Node)
		}
		picks = picks[n:]
		if !wanted(bucket, following) {
			continue
		}
		if c.taken == nil {
			c.taken = make(map[uint32]*roaring.Bitmap)
		}
		if c.taken[bucket.ID] == nil {
			c.taken[bucket.ID] = roaring.New()
		}
		c.taken[bucket.ID].AddMany(c.buf)
	}
	c.buf = c.buf[:cap(c.buf)]
}

func wanted(b *index.Bucket, chunks [][]index.Candidate) bool {
	for _, list := range chunks {
		for i := range list {
			if list[i].Bucket == b {
				return true
			}
		}
	}
	return false
}

// emit distributes count chunks over the collected nodes in node order. The last node may take
// fewer than it could, and nodes beyond it are not used.
func emit(picks []Pick, count int) []Pick {
	picks = inNodeOrder(picks)
	for i := range picks {
		picks[i].Chunks = int32(min(int(picks[i].Chunks), count))
		if count -= int(picks[i].Chunks); count == 0 {
			return picks[:i+1]
		}
	}
	return picks
}
