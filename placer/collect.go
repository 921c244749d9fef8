package placer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// collector gathers nodes for the chunks of one request at one instant.
type collector struct {
	*mapping
	at, end int64
	ended   *roaring.Bitmap // nil: the instant is now
	taken   map[uint32]*roaring.Bitmap
	buf     []uint32
}

// collect goes through the chunks in order, each bucket by bucket: first the
// nodes with something planned that lies after the end, so that unconstrained
// ones stay whole, then the free ones. Where that fails for chunks that compete
// for nodes, an exact assignment is tried, if the rules say so.
func (m *mapping) collect(cands [][]index.Candidate, at int64, ended *roaring.Bitmap) (*Plan, *Refusal) {
	c := &collector{mapping: m, at: at, end: at + m.Duration, ended: ended}
	plan := &Plan{Path: BucketPath, Policy: "firstavailable", Start: at, End: c.end, Chunks: make([]Allotment, len(m.Chunks))}
	for i := range m.Chunks {
		picks, found := c.chunk(m.Chunks[i].Count, cands[i])
		if found < m.Chunks[i].Count {
			if chunks := m.reassign(c, cands); chunks != nil {
				plan.Chunks = chunks
				return plan, nil
			}
			return nil, m.notNow(i, found, cands)
		}
		plan.Chunks[i] = Allotment{emit(picks, m.Chunks[i].Count)}
		if i+1 < len(m.Chunks) {
			c.take(picks)
		}
	}
	return plan, nil
}

func (m *mapping) notNow(i, found int, cands [][]index.Candidate) *Refusal {
	c := m.Chunks[i]
	r := &Refusal{Kind: ErrNotNow, Chunk: i, Found: found, Need: c.Count,
		Why: fmt.Sprintf("chunk %d (%s): room for %d of %d", i+1, c.Text(m.Index.Defs()), found, c.Count)}
	if !m.Rules.ExactFit && m.stuck(cands) {
		r.Why += "; taking the chunks in this order would leave it short on the empty cluster too: write the most demanding chunk first, or set chunk_fit=exact"
	}
	return r
}

// chunk collects nodes until they hold need chunks, and says how many they do.
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
	nodes := c.available(cand, class)
	if nodes.IsEmpty() {
		return picks, found
	}
	per := min(c.perNode(cand.Cells[0]), need)
	if class == index.Free && need-found <= per && len(cand.Cells) == 1 {
		return append(picks, Pick{nodes.Minimum(), int32(per), class, cand.Bucket}), found + per
	}
	if class == index.Free && picks == nil {
		picks = make([]Pick, 0, min(int(nodes.GetCardinality()), (need-found+per-1)/per))
	}
	if c.buf == nil {
		c.buf = make([]uint32, 256)
	}
	for it := nodes.ManyIterator(); ; {
		n := it.NextMany(c.buf)
		if n == 0 {
			return picks, found
		}
		for _, node := range c.buf[:n] {
			if class == index.Later && !c.fits(node) {
				continue
			}
			if len(cand.Cells) > 1 {
				per = min(c.perNodeOf(cand, node), need)
			}
			picks = append(picks, Pick{node, int32(per), class, cand.Bucket})
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

// fits is the later test: nothing begins on the node before the end. Equality
// fits.
func (c *collector) fits(node uint32) bool {
	if c.ended == nil {
		return c.Calendar.NextBusy(node, c.at) >= c.end
	}
	return c.Calendar.FreeThrough(node, c.at, c.end)
}

// available is a bucket's nodes of a class at the collector's instant, less
// what earlier chunks took and what the cells leave out.
func (c *collector) available(cand index.Candidate, class index.Class) *roaring.Bitmap {
	nodes := c.classAt(cand.Bucket, class)
	if cand.Cells[0].Nodes != nil {
		within := cand.Cells[0].Nodes
		for _, cell := range cand.Cells[1:] {
			within = roaring.Or(within, cell.Nodes)
		}
		nodes = roaring.And(nodes, within)
	}
	if taken := c.taken[cand.Bucket.ID]; taken != nil {
		nodes = roaring.AndNot(nodes, taken)
	}
	return nodes
}

// classAt is a bucket's nodes of a class at the instant. At a later instant the
// nodes given back by then join: as free ones where nothing follows, else, with
// those that are free now and have something planned, as later ones, which
// fits then tells apart.
func (c *collector) classAt(b *index.Bucket, class index.Class) *roaring.Bitmap {
	nodes := c.Index.Nodes(b, class)
	if c.ended == nil {
		return nodes
	}
	back := roaring.And(c.Index.Nodes(b, index.Busy), c.ended)
	back.Or(c.Index.Nodes(b, index.Later))
	out := roaring.New()
	for it := back.Iterator(); it.HasNext(); {
		node := it.Next()
		lasting := c.Calendar.NextBusy(node, c.at) == timeline.Forever && c.Calendar.FreeThrough(node, c.at, timeline.Forever)
		if lasting == (class == index.Free) {
			out.Add(node)
		}
	}
	if class == index.Free {
		out.Or(nodes)
	}
	return out
}

// take keeps the collected nodes from the chunks that follow.
func (c *collector) take(picks []Pick) {
	if c.taken == nil {
		c.taken = make(map[uint32]*roaring.Bitmap)
	}
	for _, p := range picks {
		if c.taken[p.Bucket.ID] == nil {
			c.taken[p.Bucket.ID] = roaring.New()
		}
		c.taken[p.Bucket.ID].Add(p.Node)
	}
}

// emit hands out count chunks to the collected nodes in node order (priority
// descending, then as declared); the last may take fewer than it could, and a
// node that is not reached is not used.
func emit(picks []Pick, count int) []Pick {
	slices.SortFunc(picks, func(a, b Pick) int {
		return cmp.Or(cmp.Compare(b.Bucket.Priority, a.Bucket.Priority), cmp.Compare(a.Node, b.Node))
	})
	for i := range picks {
		picks[i].Chunks = int32(min(int(picks[i].Chunks), count))
		if count -= int(picks[i].Chunks); count == 0 {
			return picks[:i+1]
		}
	}
	return picks
}
