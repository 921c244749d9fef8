package placer

import (
	"encoding/binary"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
)

// Chunks that compete for nodes form an assignment problem. Equal nodes form an atom. Each node
// goes to one chunk, and every chunk must get its count. First fit, in the order of the select,
// solves most cases. The rest is solved exactly. If every node that serves a chunk holds the same
// number of it, as with scatter, the problem is a flow; otherwise a bounded search solves it.

// atom is a group of nodes that are alike for every chunk of a request.
type atom struct {
	per   []int // by chunk: how many of it a node holds, 0 if it cannot serve it
	count int
	nodes []Pick     // the nodes, if the caller wants them
	items [][]member // and on the node path: see seeker.items
}

// assignable reports whether the nodes that are up could hold all chunks at once if they were
// empty. It says perhaps if it gave up the search.
func (m *mapping) assignable(cands [][]index.Candidate) verdict {
	if m.oneByOne() {
		return m.fitsEmpty(cands)
	}
	p := problem{needs: m.needs(), atoms: m.atoms(cands)}
	v, _ := p.solve(searchSteps)
	return v
}

// up returns the nodes of a bucket that are up.
func (m *mapping) up(b *index.Bucket) *roaring.Bitmap {
	return roaring.FastOr(m.Index.Nodes(b, index.Free), m.Index.Nodes(b, index.Later), m.Index.Nodes(b, index.Busy))
}

func (m *mapping) needs() []int {
	needs := make([]int, len(m.Chunks))
	for i, c := range m.Chunks {
		needs[i] = c.Count
	}
	return needs
}

// atoms groups the candidates' nodes that are up by how many of each chunk they hold.
func (m *mapping) atoms(cands [][]index.Candidate) []*atom {
	byPer := make(map[string]*atom)
	var order []*atom
	for _, b := range bucketsOf(cands) {
		for _, a := range m.split(b, cands) {
			key := perKey(a.per)
			if same := byPer[key]; same != nil {
				same.count += a.count
				continue
			}
			byPer[key] = a
			order = append(order, a)
		}
	}
	return order
}

func perKey(per []int) string {
	var key []byte
	for _, n := range per {
		key = binary.AppendUvarint(key, uint64(n))
	}
	return string(key)
}

func bucketsOf(cands [][]index.Candidate) []*index.Bucket {
	seen := make(map[uint32]bool)
	var out []*index.Bucket
	for _, list := range cands {
		for _, c := range list {
			if !seen[c.Bucket.ID] {
				seen[c.Bucket.ID] = true
				out = append(out, c.Bucket)
			}
		}
	}
	return out
}

// part is some nodes of one bucket, to be split into atoms.
type part struct {
	per   []int
	nodes *roaring.Bitmap // nil: as many as the bucket counts
}

// split divides a bucket's nodes by the cells of every chunk.
func (m *mapping) split(b *index.Bucket, cands [][]index.Candidate) []*atom {
	parts := []part{{per: make([]int, len(cands))}}
	for i, list := range cands {
		for _, c := range list {
			if c.Bucket == b {
				parts = m.cut(parts, i, c)
			}
		}
	}
	var out []*atom
	for _, p := range parts {
		a := &atom{per: p.per, count: b.Up()}
		if p.nodes != nil {
			a.count = int(p.nodes.GetCardinality())
		}
		if a.count > 0 {
			out = append(out, a)
		}
	}
	return out
}

func (m *mapping) cut(parts []part, chunk int, c index.Candidate) []part {
	cells := c.Cells
	if len(cells) == 1 && cells[0].Nodes == nil {
		for i := range parts {
			parts[i].per[chunk] = min(m.perNode(cells[0]), m.Chunks[chunk].Count)
		}
		return parts
	}
	var out []part
	for _, p := range parts {
		rest := p.nodes
		if rest == nil {
			rest = m.up(c.Bucket)
		}
		for _, cell := range cells {
			per := append([]int(nil), p.per...)
			per[chunk] = min(m.perNode(cell), m.Chunks[chunk].Count)
			out = append(out, part{per, roaring.And(rest, cell.Nodes)})
			rest = roaring.AndNot(rest, cell.Nodes)
		}
		out = append(out, part{p.per, rest})
	}
	return out
}

// reassign looks for an assignment to the nodes that are free for the request's whole time, after
// first fit found none. It returns nil if none exists.
func (m *mapping) reassign(c *collector, cands [][]index.Candidate) []Allotment {
	if len(m.Chunks) < 2 || !m.exactly() {
		return nil
	}
	p := problem{needs: m.needs(), atoms: m.freeAtoms(c, cands)}
	if m.search(p.solve) != yes {
		return nil
	}
	out := make([]Allotment, len(m.Chunks))
	for i := range m.Chunks {
		var picks []Pick
		for a, atom := range p.atoms {
			for range p.given[a][i] {
				pick := atom.nodes[0]
				atom.nodes = atom.nodes[1:]
				pick.Chunks = int32(atom.per[i])
				picks = append(picks, pick)
			}
		}
		out[i] = Allotment{emit(picks, m.Chunks[i].Count)}
	}
	return out
}

// freeAtoms groups, node by node, those that a collector could still take.
func (m *mapping) freeAtoms(c *collector, cands [][]index.Candidate) []*atom {
	c.taken = nil
	byPer := make(map[string]*atom)
	var order []*atom
	for _, b := range bucketsOf(cands) {
		mine := make([]index.Candidate, len(cands))
		for i, list := range cands {
			for _, cand := range list {
				if cand.Bucket == b {
					mine[i] = cand
				}
			}
		}
		for _, class := range []index.Class{index.Later, index.Free} {
			nodes := c.classAt(b, class)
			unsure := c.unsure(b, class)
			for it := nodes.Iterator(); it.HasNext(); {
				node := it.Next()
				if !c.fits(node, class, unsure) {
					continue
				}
				per := make([]int, len(cands))
				for i, cand := range mine {
					per[i] = min(c.perNodeOf(cand, node), m.Chunks[i].Count)
				}
				key := perKey(per)
				if byPer[key] == nil {
					byPer[key] = &atom{per: per}
					order = append(order, byPer[key])
				}
				byPer[key].count++
				byPer[key].nodes = append(byPer[key].nodes, Pick{Node: node, Class: class, Bucket: b})
			}
		}
	}
	return order
}
