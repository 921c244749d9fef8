package index

import (
	"iter"
	"math/bits"

	"github.com/RoaringBitmap/roaring/v2"
)

// A busy node may still have room. To find nodes with enough without visiting each, the index
// stores what is left of every consumable as a level: up to 31 the amount itself, above that the
// amount to five significant bits. So a range of amounts a thousand times as wide needs ten times
// as many levels, not a thousand. There is one bitmap for each level; a request for an amount takes
// the nodes of its level and all above. Only a node at the request's own level may have less than
// it asks for, by three percent at most, and callers check each node anyway.

// openNodes is the key of the bitmap of all shared nodes that may take more.
var openNodes = BitsKey{Family: Roomy, ID: 1 << 16}

// exactLevels is how many levels, from 0 on, are the amount itself.
const exactLevels = 32

// level grows with the amount, and no faster.
func level(n int64) int64 {
	if n < exactLevels {
		return max(n, 0)
	}
	shift := bits.Len64(uint64(n)) - 5
	return int64(exactLevels+16*(shift-1)) + n>>shift - 16
}

// mostAt returns the largest amount of a level.
func mostAt(level int64) int64 {
	if level < exactLevels {
		return level
	}
	shift := (level-exactLevels)/16 + 1
	return ((level-exactLevels)%16+17)<<shift - 1
}

// Rooms lists what shared nodes have left of a consumable, as upper bounds, with the nodes of each,
// for reading only. It omits nodes with none left.
func (ix *Index) Rooms(id ResID) iter.Seq2[int64, *roaring.Bitmap] {
	return func(yield func(int64, *roaring.Bitmap) bool) {
		for k, nodes := range ix.scan(BitsKey{Family: Roomy, ID: uint32(id)}) {
			if !yield(mostAt(keyNum(k.Value)), nodes) {
				return
			}
		}
	}
}

// SetRoom notes what a shared node has left of its consumables, before and now. nil means that it
// is not shared.
func (ix *Index) SetRoom(node uint32, before, now []Amount) {
	if before == nil && now == nil {
		return
	}
	if before == nil || now == nil {
		ix.flip(openNodes, node, now != nil)
	}
	for _, a := range before {
		if b, ok := find(now, a.Res); !ok || level(b.Num) != level(a.Value.Num) {
			ix.setLevel(node, a, false)
		}
	}
	for _, a := range now {
		if b, ok := find(before, a.Res); !ok || level(b.Num) != level(a.Value.Num) {
			ix.setLevel(node, a, true)
		}
	}
	for k, union := range ix.rooms {
		had, _ := find(before, ResID(k.ID))
		has, _ := find(now, ResID(k.ID))
		switch least := keyNum(k.Value); {
		case level(has.Num) >= least:
			union.Add(node)
		case level(had.Num) >= least:
			union.Remove(node)
		}
	}
}

// IsOpen reports whether it is noted what a node has left.
func (ix *Index) IsOpen(node uint32) bool { return ix.at(openNodes).Contains(node) }

// OpenNodes returns how many of a bucket's busy nodes have a cpu left for others.
func (ix *Index) OpenNodes(b *Bucket) int {
	room := ix.WithRoom([]Demand{{Res: NCPUs, Value: Value{Num: 1}}})
	return int(ix.Nodes(b, Busy).AndCardinality(room))
}

// Partly returns the busy nodes that jobs could still share: nodes with a cpu left, or, of the
// nodes without cpus, those with some of any consumable left. Read it only, and only until the
// index changes.
func (ix *Index) Partly() *roaring.Bitmap {
	open := &ix.at(openNodes).Bitmap
	if open.IsEmpty() {
		return open
	}
	withCPU := ix.roomFor(Demand{Res: NCPUs, Value: Value{Num: 1}})
	rest := roaring.AndNot(open, withCPU)
	ix.dropNodesWithCPUs(rest)
	if rest.IsEmpty() {
		return withCPU
	}
	parts := []*roaring.Bitmap{withCPU}
	for _, def := range ix.defs.All() {
		if def.Consumable && def.ID != NCPUs {
			parts = append(parts, roaring.And(rest, ix.roomFor(Demand{Res: def.ID, Value: Value{Num: 1}})))
		}
	}
	return roaring.FastOr(parts...)
}

// dropNodesWithCPUs removes the nodes that have cpus, taken or not.
func (ix *Index) dropNodesWithCPUs(nodes *roaring.Bitmap) {
	if nodes.IsEmpty() {
		return
	}
	if !ix.signed.has(NCPUs) {
		nodes.AndNot(ix.atLeast(BitsKey{NodesWith, uint32(NCPUs), numKey(1)}))
		return
	}
	for _, b := range ix.Buckets() {
		if v, _ := b.Get(NCPUs); v.Num > 0 && b.Count[Busy] > 0 {
			nodes.AndNot(ix.Nodes(b, Busy))
		}
	}
}

func (ix *Index) setLevel(node uint32, a Amount, in bool) {
	if l := level(a.Value.Num); l > 0 {
		ix.flip(BitsKey{Roomy, uint32(a.Res), numKey(l)}, node, in)
	}
}

func (ix *Index) flip(k BitsKey, node uint32, in bool) {
	bm := ix.edit(k)
	if in {
		ix.values.add(k)
		bm.Add(node)
		return
	}
	bm.Remove(node)
}

func find(list []Amount, id ResID) (Value, bool) {
	for i := range list {
		if list[i].Res == id {
			return list[i].Value, true
		}
	}
	return Value{}, false
}

// maxRooms limits how many unions are kept up to date; if there are more, all are dropped.
const maxRooms = 256

// WithRoom returns a superset of the shared nodes with room for the demands, in any bucket. Read it
// only, and only until the index changes.
func (ix *Index) WithRoom(demands []Demand) *roaring.Bitmap {
	var found *roaring.Bitmap
	for _, d := range demands {
		def, ok := ix.defs.Get(d.Res)
		if !ok || !def.Consumable || d.Value.Num == 0 {
			continue
		}
		if nodes := ix.roomFor(d); found == nil {
			found = nodes
		} else {
			found = roaring.And(found, nodes)
		}
	}
	if found == nil {
		return &ix.at(openNodes).Bitmap
	}
	return found
}

// roomFor returns the nodes whose level is the demand's or higher.
func (ix *Index) roomFor(d Demand) *roaring.Bitmap {
	k := BitsKey{Roomy, uint32(d.Res), numKey(level(d.Value.Num))}
	if union := ix.rooms[k]; union != nil {
		return union
	}
	if ix.rooms == nil || len(ix.rooms) >= maxRooms {
		ix.rooms = make(map[BitsKey]*roaring.Bitmap)
	}
	var parts []*roaring.Bitmap
	for _, bm := range ix.scan(k) {
		parts = append(parts, bm)
	}
	union := roaring.FastOr(parts...)
	union.CloneCopyOnWriteContainers() // the parts live no longer than the source's memory
	ix.rooms[k] = union
	return union
}
