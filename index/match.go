package index

import (
	"encoding/binary"
	"iter"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// Demand is what a chunk wants of one resource: an amount or a value.
type Demand struct {
	Res   ResID
	Value Value
}

// Unlimited is how many chunks fit on a node if they take nothing.
const Unlimited = 1 << 31

// Cell is a part of a bucket whose nodes hold the same number of chunks.
type Cell struct {
	Chunks int             // how many chunks fit on one node
	Nodes  *roaring.Bitmap // nil: all of the bucket
}

// Candidate is a bucket that serves a chunk. Its cells are disjoint. There is more than one
// only if the chunk asks for a consumable outside the signature.
type Candidate struct {
	Bucket *Bucket
	Cells  []Cell
}

// Candidates lists the buckets whose nodes serve the demands, in the order in which they are
// tried. It considers a queue's nodes, or, for "", nodes of no queue. Buckets that cannot
// serve the demands cost nothing.
func (ix *Index) Candidates(queue string, demands []Demand) []Candidate {
	out, ok := ix.memo.find(ix.generation, queue, demands)
	if !ok {
		out = ix.candidates(queue, demands)
		ix.memo.keep(out)
	}
	return out
}

func (ix *Index) candidates(queue string, demands []Demand) []Candidate {
	found, cells := ix.serving(queue, demands)
	if found == nil || len(cells) == 0 {
		return nil
	}
	list := make([]*Bucket, 0, found.GetCardinality())
	for it := found.Iterator(); it.HasNext(); {
		if b := ix.Bucket(it.Next()); b != nil && b.Up() > 0 {
			list = append(list, b)
		}
	}
	slices.SortFunc(list, CompareBuckets)
	out := make([]Candidate, 0, len(list))
	room := make([]Cell, 0, len(list)*len(cells))
	for _, b := range list {
		from := len(room)
		room = ix.narrow(room, b, cells, demands)
		if mine := room[from:len(room):len(room)]; len(mine) > 0 {
			out = append(out, Candidate{b, mine})
		}
	}
	return out
}

// serving returns what the demands on the signature leave, as a set of buckets, and what the
// other demands leave, as cells of nodes. The set is nil if a resource is unknown.
func (ix *Index) serving(queue string, demands []Demand) (*roaring.Bitmap, []Cell) {
	parts := make([]*roaring.Bitmap, 0, 8)
	parts = append(parts, &ix.at(BitsKey{Family: OfQueue, Value: queue}).Bitmap)
	var without *roaring.Bitmap
	cells := []Cell{{Chunks: Unlimited}}
	for _, d := range demands {
		def, ok := ix.defs.Get(d.Res)
		switch {
		case !ok:
			return nil, nil
		case def.Directive || def.Type.Numeric() && d.Value.Num == 0:
		case ix.signed.has(d.Res) && def.Type == Boolean && d.Value.Num == 0:
			with := &ix.at(BitsKey{HavingValue, uint32(def.ID), numKey(1)}).Bitmap
			if without != nil {
				with = roaring.Or(without, with)
			}
			without = with
		case ix.signed.has(d.Res):
			parts = append(parts, ix.having(def, d.Value))
		case def.Consumable:
			cells = ix.splitCells(cells, d)
		default:
			cells = ix.narrowCells(cells, def, d.Value)
		}
	}
	found := intersection(parts)
	if without != nil {
		found = roaring.AndNot(found, without)
	}
	return found, cells
}

// intersection returns the intersection of bitmaps. It begins with the smallest, so that the
// cost is not that of the largest. The result may be one of the parts.
func intersection(parts []*roaring.Bitmap) *roaring.Bitmap {
	least := 0
	for i, bm := range parts {
		if bm.GetCardinality() < parts[least].GetCardinality() {
			least = i
		}
	}
	found := parts[least]
	for i, bm := range parts {
		if i != least {
			found = roaring.And(found, bm)
		}
	}
	return found
}

// having returns the buckets whose signature satisfies a demand, except for a false boolean.
func (ix *Index) having(def Def, v Value) *roaring.Bitmap {
	key := BitsKey{HavingValue, uint32(def.ID), v.Str}
	if def.Type.Numeric() {
		key.Value = numKey(v.Num)
		return ix.atLeast(key)
	}
	if def.Type == Boolean {
		key.Value = numKey(1)
	}
	return &ix.at(key).Bitmap
}

// narrowCells keeps the nodes that satisfy a demand outside the signature for something that
// is not consumable.
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

// splitCells splits cells by how many chunks a consumable outside the signature allows on a
// node.
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

// Only keeps of the candidates what is in nodes, in the same order.
func (ix *Index) Only(candidates []Candidate, nodes *roaring.Bitmap) []Candidate {
	var out []Candidate
	for _, c := range candidates {
		cells := andCells(c.Cells, nodes)
		cells = slices.DeleteFunc(cells, func(cell Cell) bool {
			return !cell.Nodes.Intersects(ix.Nodes(c.Bucket, None))
		})
		if len(cells) > 0 {
			out = append(out, Candidate{c.Bucket, cells})
		}
	}
	return out
}

// With returns the nodes that have a word as value of a resource outside the signature, which
// may be host. It is for reading only.
func (ix *Index) With(id ResID, word string) *roaring.Bitmap {
	return &ix.at(BitsKey{NodesWith, uint32(id), word}).Bitmap
}

// SharedHosts returns the hosts that nodes say they are on.
func (ix *Index) SharedHosts() map[string]bool {
	hosts := make(map[string]bool)
	for k := range ix.scan(BitsKey{Family: NodesWith, ID: uint32(Host)}) {
		hosts[k.Value] = true
	}
	return hosts
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

// andNotCells removes nodes from cells.
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

// narrow adds the cells of one bucket: the number of chunks that its consumables allow on a node,
// and the nodes that count.
func (ix *Index) narrow(out []Cell, b *Bucket, cells []Cell, demands []Demand) []Cell {
	fits := int64(Unlimited)
	for _, d := range demands {
		if d.Value.Num > 0 && ix.signed.has(d.Res) {
			if def, _ := ix.defs.Get(d.Res); def.Consumable {
				have, _ := b.Get(d.Res)
				fits = min(fits, have.Num/d.Value.Num)
			}
		}
	}
	for _, c := range cells {
		c.Chunks = min(c.Chunks, int(fits))
		if c.Nodes == nil || c.Nodes.Intersects(ix.Nodes(b, None)) {
			out = append(out, c)
		}
	}
	return out
}

// memo remembers answers of Candidates, by queue and demands, as long as no node is added,
// removed, or goes up or down.
type memo struct {
	generation uint64
	answers    map[string][]Candidate
	size       int // candidates that it holds
	key        []byte
}

// memoSize limits the candidates in a memo; a full one is emptied.
const memoSize = 1 << 16

// find returns the answer for a key that it leaves in m.key.
func (m *memo) find(generation uint64, queue string, demands []Demand) ([]Candidate, bool) {
	if m.generation != generation || m.size > memoSize || m.answers == nil {
		*m = memo{generation: generation, answers: make(map[string][]Candidate), key: m.key}
	}
	m.key = append(binary.AppendUvarint(m.key[:0], uint64(len(queue))), queue...)
	for i := range demands {
		d := &demands[i]
		m.key = binary.AppendUvarint(m.key, uint64(d.Res))
		m.key = binary.AppendUvarint(m.key, uint64(d.Value.Num))
		m.key = append(binary.AppendUvarint(m.key, uint64(len(d.Value.Str))), d.Value.Str...)
	}
	answer, ok := m.answers[string(m.key)]
	return answer, ok
}

// keep remembers the answer for the key that find left.
func (m *memo) keep(answer []Candidate) {
	m.answers[string(m.key)] = answer
	m.size += len(answer) + 1
}

// Words returns the words that nodes have as value of a string resource outside the signature,
// with the nodes of each. It is for reading only.
func (ix *Index) Words(id ResID) iter.Seq2[string, *roaring.Bitmap] {
	return func(yield func(string, *roaring.Bitmap) bool) {
		for k, nodes := range ix.scan(BitsKey{Family: NodesWith, ID: uint32(id)}) {
			if !yield(k.Value, nodes) {
				return
			}
		}
	}
}
