package index

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// Demand is what one chunk asks of a node: the resource, and how much or which.
type Demand struct {
	Res   ResID
	Value Value
}

// Unlimited is how many chunks fit a node when none of them takes anything.
const Unlimited = 1 << 31

// Cell is a part of a bucket whose nodes hold the same number of chunks.
type Cell struct {
	Chunks int             // how many chunks fit one node
	Nodes  *roaring.Bitmap // nil: all of the bucket
}

// Candidate is a bucket that serves a chunk. Its cells are disjoint; there is
// more than one only where a consumable outside the signature is asked for.
type Candidate struct {
	Bucket *Bucket
	Cells  []Cell
}

// Candidates lists the buckets of a queue's nodes ("" for nodes of no queue)
// whose nodes serve the demands, in the order they are tried. Buckets that
// cannot serve them cost nothing.
func (ix *Index) Candidates(queue string, demands []Demand) []Candidate {
	if c, ok := ix.memo.get(ix, queue, demands); ok {
		return c
	}
	out := ix.candidates(queue, demands)
	ix.memo.put(ix, queue, demands, out)
	return out
}

func (ix *Index) candidates(queue string, demands []Demand) []Candidate {
	found, cells := ix.serving(queue, demands)
	if found.IsEmpty() || len(cells) == 0 {
		return nil
	}
	list := make([]*Bucket, 0, found.GetCardinality())
	for it := found.Iterator(); it.HasNext(); {
		if b := ix.Bucket(it.Next()); b != nil && b.Up() > 0 {
			list = append(list, b)
		}
	}
	sortBuckets(list)
	out := make([]Candidate, 0, len(list))
	for _, b := range list {
		if mine := ix.narrow(b, cells, demands); len(mine) > 0 {
			out = append(out, Candidate{b, mine})
		}
	}
	return out
}

// serving decides the demands: those on the signature give a set of buckets,
// the others cells of nodes.
func (ix *Index) serving(queue string, demands []Demand) (*roaring.Bitmap, []Cell) {
	found := ix.at(BitsKey{Family: OfQueue, Value: queue}).Clone()
	cells := []Cell{{Chunks: Unlimited}}
	for _, d := range demands {
		def, ok := ix.defs.Get(d.Res)
		switch {
		case !ok:
			return roaring.New(), nil
		case def.Directive || def.Type.Numeric() && d.Value.Num == 0:
		case ix.signed.has(d.Res):
			ix.keep(found, def, d.Value)
		case def.Consumable:
			cells = ix.splitCells(cells, d)
		default:
			cells = ix.narrowCells(cells, def, d.Value)
		}
	}
	return found, cells
}

// keep takes the buckets whose signature does not satisfy a demand out of found.
func (ix *Index) keep(found *roaring.Bitmap, def Def, v Value) {
	switch {
	case def.Type.Numeric():
		found.And(ix.atLeast(BitsKey{HavingValue, uint32(def.ID), numKey(v.Num)}))
	case def.Type == Boolean && v.Num == 0:
		found.AndNot(&ix.at(BitsKey{HavingValue, uint32(def.ID), numKey(1)}).Bitmap)
	case def.Type == Boolean:
		found.And(&ix.at(BitsKey{HavingValue, uint32(def.ID), numKey(1)}).Bitmap)
	default:
		found.And(&ix.at(BitsKey{HavingValue, uint32(def.ID), v.Str}).Bitmap)
	}
}

// narrowCells keeps the nodes that satisfy a demand outside the signature which
// uses nothing up.
func (ix *Index) narrowCells(cells []Cell, def Def, v Value) []Cell {
	key := BitsKey{NodesWith, uint32(def.ID), v.Str}
	if def.Type == Boolean {
		with := &ix.at(BitsKey{NodesWith, uint32(def.ID), numKey(1)}).Bitmap
		if v.Num != 0 {
			return andCells(cells, with)
		}
		return ix.andNotCells(cells, with)
	}
	if def.Type.Numeric() {
		key.Value = numKey(v.Num)
		return andCells(cells, ix.atLeast(key))
	}
	return andCells(cells, &ix.at(key).Bitmap)
}

// splitCells splits by how many chunks a consumable outside the signature
// allows on a node.
func (ix *Index) splitCells(cells []Cell, d Demand) []Cell {
	byCount := make(map[int]*roaring.Bitmap)
	for k, nodes := range ix.scan(BitsKey{NodesWith, uint32(d.Res), numKey(d.Value.Num)}) {
		fits := int(min(keyNum(k.Value)/d.Value.Num, Unlimited))
		for _, c := range cells {
			part := nodes
			if c.Nodes != nil {
				part = roaring.And(nodes, c.Nodes)
			}
			n := min(fits, c.Chunks)
			if byCount[n] == nil {
				byCount[n] = roaring.New()
			}
			byCount[n].Or(part)
		}
	}
	out := make([]Cell, 0, len(byCount))
	for n, nodes := range byCount {
		if !nodes.IsEmpty() {
			out = append(out, Cell{n, nodes})
		}
	}
	slices.SortFunc(out, func(a, b Cell) int { return b.Chunks - a.Chunks })
	return out
}

func andCells(cells []Cell, with *roaring.Bitmap) []Cell {
	out := make([]Cell, 0, len(cells))
	for _, c := range cells {
		nodes := with
		if c.Nodes != nil {
			nodes = roaring.And(c.Nodes, with)
		}
		if !nodes.IsEmpty() {
			out = append(out, Cell{c.Chunks, nodes})
		}
	}
	return out
}

// andNotCells takes nodes away.
func (ix *Index) andNotCells(cells []Cell, without *roaring.Bitmap) []Cell {
	if without.IsEmpty() {
		return cells
	}
	out := make([]Cell, 0, len(cells))
	for _, c := range cells {
		nodes := c.Nodes
		if nodes == nil {
			nodes = roaring.Flip(roaring.New(), 0, uint64(ix.limits.Nodes))
		}
		out = append(out, Cell{c.Chunks, roaring.AndNot(nodes, without)})
	}
	return out
}

// narrow gives the cells of one bucket: how many chunks the consumables of its
// signature allow on a node, and which of its nodes count.
func (ix *Index) narrow(b *Bucket, cells []Cell, demands []Demand) []Cell {
	fits := Unlimited
	for _, d := range demands {
		def, _ := ix.defs.Get(d.Res)
		if def.Consumable && d.Value.Num > 0 && ix.signed.has(d.Res) {
			have, _ := b.Get(d.Res)
			fits = int(min(int64(fits), have.Num/d.Value.Num))
		}
	}
	var out []Cell
	for _, c := range cells {
		c.Chunks = min(c.Chunks, fits)
		if c.Nodes == nil || c.Nodes.Intersects(ix.Nodes(b, None)) {
			out = append(out, c)
		}
	}
	return out
}

// memo remembers the last few answers of Candidates, for as long as no node is
// added, removed, or goes up or down.
type memo struct {
	generation uint64
	entries    []memoEntry
	next       int
}

type memoEntry struct {
	queue   string
	demands []Demand
	answer  []Candidate
}

const memoSize = 64

func (m *memo) get(ix *Index, queue string, demands []Demand) ([]Candidate, bool) {
	if m.generation != ix.generation {
		*m = memo{generation: ix.generation}
	}
	for i := range m.entries {
		if e := &m.entries[i]; e.queue == queue && slices.Equal(e.demands, demands) {
			return e.answer, true
		}
	}
	return nil, false
}

func (m *memo) put(ix *Index, queue string, demands []Demand, answer []Candidate) {
	e := memoEntry{queue, slices.Clone(demands), answer}
	if len(m.entries) < memoSize {
		m.entries = append(m.entries, e)
		return
	}
	m.entries[m.next%memoSize] = e
	m.next++
}
