package index

import (
	"cmp"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// Set is a placement set: the nodes of a queue that have the same value of a resource (its
// group key), or that have none. If the key is part of the signature, a set consists of whole
// buckets. Otherwise it is a bitmap of nodes, and its buckets are those parts of the queue's
// buckets.
type Set struct {
	Key     ResID
	Value   string // the value as written, "" for the nodes without one
	Unset   bool
	Buckets *roaring.Bitmap // bucket numbers, if the key is part of the signature
	Members *roaring.Bitmap // node numbers, if it is not

	Total, Free         int   // nodes; total also counts those that are not up
	TotalCPUs, FreeCPUs int64 // ncpus
	TotalMem, FreeMem   int64 // mem, in kb
	rank                int   // of the key among the requested keys; with first it breaks ties
	first               place
}

// place is where a set first appears in node order.
type place struct {
	priority int32
	node     uint32
	member   int // position among the values of a string_array in the signature
}

// Sets splits a queue's nodes by the values of the keys, in the order in which sets are tried:
// ascending by total ncpus, total mem, free ncpus, free mem. Equal ones go by the order of the
// keys, then by first node. The nodes without a value form a set of their own unless
// explicitOnly is set.
func (ix *Index) Sets(queue string, keys []ResID, explicitOnly bool) []*Set {
	scope := &ix.at(BitsKey{Family: OfQueue, Value: queue}).Bitmap
	var out []*Set
	for rank, key := range keys {
		for _, s := range ix.setsOf(scope, key, explicitOnly) {
			s.rank = rank
			out = append(out, s)
		}
	}
	out = slices.DeleteFunc(out, func(s *Set) bool { return s.Total == 0 })
	slices.SortStableFunc(out, compareSets)
	return out
}

func (ix *Index) setsOf(scope *roaring.Bitmap, key ResID, explicitOnly bool) []*Set {
	def, ok := ix.defs.Get(key)
	if !ok {
		return nil
	}
	fam := NodesWith
	if ix.signed.has(key) {
		fam = HavingValue
	}
	seen := roaring.New()
	var out []*Set
	for k, bm := range ix.scan(BitsKey{Family: fam, ID: uint32(key)}) {
		seen.Or(bm)
		s := &Set{Key: key, Value: def.Format(def.keyValue(k.Value))}
		out = append(out, ix.fill(s, scope, fam, bm))
	}
	if !explicitOnly {
		s := &Set{Key: key, Unset: true}
		limit := ix.limits.Nodes
		if fam == HavingValue {
			limit = ix.limits.Buckets
		}
		rest := roaring.Flip(seen, 0, uint64(limit))
		out = append(out, ix.fill(s, scope, fam, rest))
	}
	return out
}

// keyValue reads the value of a bitmap's key.
func (d Def) keyValue(s string) Value {
	if d.Type == String || d.Type == StringArray {
		return Value{Str: s}
	}
	return Value{Num: keyNum(s)}
}

// fill restricts a set to the scope, and sums up what it has.
func (ix *Index) fill(s *Set, scope *roaring.Bitmap, fam Family, bm *roaring.Bitmap) *Set {
	buckets := scope
	if fam == HavingValue {
		buckets = roaring.And(scope, bm)
		s.Buckets = buckets
	} else {
		s.Members = bm
	}
	for it := buckets.Iterator(); it.HasNext(); {
		if b := ix.Bucket(it.Next()); b != nil && b.Total > 0 {
			ix.sum(s, b)
		}
	}
	return s
}

func (ix *Index) sum(s *Set, b *Bucket) {
	total, free := int(b.Total), int(b.Count[Free]+b.Count[Later])
	if s.Members != nil {
		total = int(s.Members.AndCardinality(ix.Nodes(b, None)))
		if total == 0 {
			return
		}
		free = int(s.Members.AndCardinality(ix.Nodes(b, Free)) + s.Members.AndCardinality(ix.Nodes(b, Later)))
	}
	s.Total += total
	s.Free += free
	totalCPUs, freeCPUs := ix.amounts(s, b, NCPUs, total, free)
	totalMem, freeMem := ix.amounts(s, b, Mem, total, free)
	s.TotalCPUs, s.FreeCPUs = Plus(s.TotalCPUs, totalCPUs), Plus(s.FreeCPUs, freeCPUs)
	s.TotalMem, s.FreeMem = Plus(s.TotalMem, totalMem), Plus(s.FreeMem, freeMem)
	if at := ix.appears(s, b); s.Total == total || comparePlaces(at, s.first) < 0 {
		s.first = at
	}
}

// appears returns where a set's part of a bucket comes in node order. Nodes that are not up
// count, too.
func (ix *Index) appears(s *Set, b *Bucket) place {
	if s.Members != nil {
		return place{b.Priority, roaring.And(s.Members, ix.Nodes(b, None)).Minimum(), 0}
	}
	first := b.First
	if b.Count[None] > 0 {
		first = ix.Nodes(b, None).Minimum()
	}
	v, _ := b.Get(s.Key)
	if v.Str == s.Value {
		return place{b.Priority, first, 0}
	}
	return place{b.Priority, first, slices.Index(v.Members(), s.Value)}
}

// amounts returns the sums of a consumable over a set's nodes in a bucket.
func (ix *Index) amounts(s *Set, b *Bucket, res ResID, total, free int) (int64, int64) {
	if ix.signed.has(res) {
		v, _ := b.Get(res)
		return Times(v.Num, int64(total)), Times(v.Num, int64(free))
	}
	var sumTotal, sumFree int64
	idle := roaring.Or(ix.Nodes(b, Free), ix.Nodes(b, Later))
	for k, nodes := range ix.scan(BitsKey{NodesWith, uint32(res), ""}) {
		mine := roaring.And(nodes, ix.Nodes(b, None))
		if s.Members != nil {
			mine.And(s.Members)
		}
		sumTotal = Plus(sumTotal, Times(keyNum(k.Value), int64(mine.GetCardinality())))
		sumFree = Plus(sumFree, Times(keyNum(k.Value), int64(mine.AndCardinality(idle))))
	}
	return sumTotal, sumFree
}

func compareSets(a, b *Set) int {
	return cmp.Or(cmp.Compare(a.TotalCPUs, b.TotalCPUs), cmp.Compare(a.TotalMem, b.TotalMem),
		cmp.Compare(a.FreeCPUs, b.FreeCPUs), cmp.Compare(a.FreeMem, b.FreeMem),
		cmp.Compare(a.rank, b.rank), comparePlaces(a.first, b.first))
}

// FirstSets sorts sets by the order in which their first nodes were declared.
func FirstSets(list []*Set) {
	slices.SortStableFunc(list, func(a, b *Set) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), comparePlaces(a.first, b.first))
	})
}

// LargestSets sorts sets so that those with the most cpus come first, then those with the most
// memory.
func LargestSets(list []*Set) {
	slices.SortStableFunc(list, func(a, b *Set) int {
		return cmp.Or(cmp.Compare(b.TotalCPUs, a.TotalCPUs), cmp.Compare(b.TotalMem, a.TotalMem),
			comparePlaces(a.first, b.first))
	})
}

func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.node, b.node), cmp.Compare(a.member, b.member))
}

// Finder finds a chunk's candidates by bucket.
type Finder struct {
	candidates []Candidate
	at         map[uint32]int
}

// NewFinder returns a Finder for what Candidates returned.
func NewFinder(candidates []Candidate) *Finder {
	f := &Finder{candidates, make(map[uint32]int, len(candidates))}
	for i, c := range candidates {
		f.at[c.Bucket.ID] = i
	}
	return f
}

// Restrict returns the chunk's candidates that are in the set, in the order of the set's own
// first nodes. If the set consists of whole buckets, the cost depends on the set's size, not
// on the number of candidates.
func (ix *Index) Restrict(f *Finder, s *Set) []Candidate {
	if s.Members != nil {
		return ix.restrictMembers(f.candidates, s)
	}
	at := make([]int, 0, 8)
	for it := s.Buckets.Iterator(); it.HasNext(); {
		if i, ok := f.at[it.Next()]; ok {
			at = append(at, i)
		}
	}
	slices.Sort(at)
	out := make([]Candidate, len(at))
	for k, i := range at {
		out[k] = f.candidates[i]
	}
	return out
}

func (ix *Index) restrictMembers(candidates []Candidate, s *Set) []Candidate {
	out := ix.Only(candidates, s.Members)
	slices.SortStableFunc(out, func(a, b Candidate) int {
		return comparePlaces(ix.firstUp(s, a.Bucket), ix.firstUp(s, b.Bucket))
	})
	return out
}

// firstUp returns where the first node that is up, of a set's part of a bucket, comes in node
// order.
func (ix *Index) firstUp(s *Set, b *Bucket) place {
	first := place{b.Priority, NoNode, 0}
	for _, class := range []Class{Free, Later, Busy} {
		if in := roaring.And(s.Members, ix.Nodes(b, class)); !in.IsEmpty() {
			first.node = min(first.node, in.Minimum())
		}
	}
	return first
}

// Up returns how many of a candidate's nodes are up, cell by cell.
func (ix *Index) Up(c Candidate, cell Cell) int {
	if cell.Nodes == nil {
		return c.Bucket.Up()
	}
	n := uint64(0)
	for _, class := range []Class{Free, Later, Busy} {
		n += cell.Nodes.AndCardinality(ix.Nodes(c.Bucket, class))
	}
	return int(n)
}
