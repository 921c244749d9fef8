package placer

import (
	"cmp"
	"iter"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
)

// leaf is the members of the pool behind one leaf switch.
type leaf struct {
	at     int32   // the switch
	which  []int32 // their indexes in the pool, ascending
	holds  []int   // how many chunks of each kind they hold, each counted alone
	volume int     // of all kinds
}

// leaves groups members by leaf switch, in the order of their first members.
func (s *seeker) leaves(members []member) (list []*leaf) {
	by := make(map[int32]*leaf)
	var l *leaf
	for i := range members {
		m := &members[i]
		if l == nil || l.at != m.leaf { // neighbouring nodes are mostly behind the same switch
			if l = by[m.leaf]; l == nil {
				l = &leaf{at: m.leaf, holds: make([]int, len(s.Chunks))}
				by[m.leaf] = l
				list = append(list, l)
			}
		}
		l.which = append(l.which, int32(i))
		for kind, n := range m.per {
			l.holds[kind] += n
			l.volume += n
		}
	}
	return list
}

// underSwitches lists the subtrees of the network that hold the request. Those of the lowest level
// come first; among these, those with the fewest leaf switches, then the tightest. The network is
// built from the values of the topology's resources, the outermost first. A subtree's nodes come by
// leaf switch, so that few are used: the largest that are needed whole, then the smallest that
// takes the rest.
func (s *seeker) underSwitches(members []member) iter.Seq[[]member] {
	return func(yield func([]member) bool) {
		leaves := s.leaves(members)
		for level := len(s.Rules.Topology); level > 0; level-- {
			var parts []subtree
			for _, behind := range s.net.together(leaves, level) {
				if s.held(behind) {
					parts = append(parts, s.byLeaf(behind))
				}
			}
			slices.SortStableFunc(parts, func(a, b subtree) int {
				return cmp.Or(cmp.Compare(a.used, b.used), cmp.Compare(a.volume, b.volume))
			})
			for _, part := range parts[:min(len(parts), maxParts)] {
				if !yield(part.of(members)) {
					return
				}
			}
		}
		yield(s.byLeaf(leaves).of(members))
	}
}

// together groups leaf switches that are behind the same switch of a level, in the order of their
// first.
func (n *network) together(leaves []*leaf, level int) (out [][]*leaf) {
	at := make(map[int32]int)
	for _, l := range leaves {
		above := n.above(l.at, level)
		i, known := at[above]
		if !known {
			i = len(out)
			at[above] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], l)
	}
	return out
}

// held reports whether leaf switches hold every chunk, each counted alone.
func (s *seeker) held(leaves []*leaf) bool {
	for kind, c := range s.Chunks {
		n := 0
		for _, l := range leaves {
			n += l.holds[kind]
		}
		if n < c.Count {
			return false
		}
	}
	return true
}

// subtree is some leaf switches in the order in which the request takes their nodes.
type subtree struct {
	leaves []*leaf
	used   int // how many of them the request uses
	volume int
}

// of returns the members of the pool in the subtree.
func (t subtree) of(pool []member) (out []member) {
	for _, l := range t.leaves {
		for _, i := range l.which {
			out = append(out, pool[i])
		}
	}
	return out
}

// byLeaf sorts leaf switches in the order in which the request should use them.
func (s *seeker) byLeaf(leaves []*leaf) (out subtree) {
	rest, need := slices.Clone(leaves), 0
	for _, c := range s.Chunks {
		need += c.Count
	}
	slices.SortStableFunc(rest, func(a, b *leaf) int { return cmp.Compare(b.volume, a.volume) })
	for len(rest) > 0 {
		next := 0
		for i, l := range rest {
			if l.volume >= need && l.volume < rest[next].volume {
				next = i // leaves are sorted by size: this is the smallest that takes all the rest
			}
		}
		if need > 0 {
			out.used++
		}
		out.leaves = append(out.leaves, rest[next])
		out.volume += rest[next].volume
		need -= rest[next].volume
		rest = slices.Delete(rest, next, next+1)
	}
	return out
}

// network is the tree of switches above nodes, one level for each resource of the topology, the
// outermost first. Switches are numbered; a node's switch on the last level is its leaf switch.
// Nodes without a value are behind a switch of their own.
type network struct {
	*seeker
	levels []switchLevel
}

// switchLevel is one level of switches.
type switchLevel struct {
	id      index.ResID
	words   map[string]int32 // a number for each value
	named   []int32          // by node: the number of its value, if bitmaps hold it; 0 for none
	numbers map[joint]int32  // of the switches
	parents []int32          // by number
	last    joint            // the switch looked up last, and its number
	lastNo  int32            // nodes that follow each other are mostly behind the same one
	bucket  *index.Bucket    // the bucket looked up last, and the number of its value
	value   int32
}

// joint identifies a switch by its parent and its value.
type joint struct{ parent, value int32 }

func (s *seeker) network() *network {
	n := &network{seeker: s, levels: make([]switchLevel, len(s.Rules.Topology))}
	for i, id := range s.Rules.Topology {
		l := &n.levels[i]
		*l = switchLevel{id: id, words: make(map[string]int32), numbers: make(map[joint]int32), last: joint{-1, -1}}
		if def, ok := s.Index.Defs().Get(id); !ok || s.Index.Signed(id) || def.Type != index.String {
			continue
		}
		l.named = make([]int32, s.Index.Limits().Nodes)
		for word, nodes := range s.Index.Words(id) {
			number := l.word(word)
			eachOf(nodes, func(node uint32) { l.named[node] = number })
		}
	}
	return n
}

// eachOf calls fn for each node of a bitmap.
func eachOf(nodes *roaring.Bitmap, fn func(node uint32)) {
	var numbers [256]uint32
	it := nodes.ManyIterator()
	for n := it.NextMany(numbers[:]); n > 0; n = it.NextMany(numbers[:]) {
		for _, node := range numbers[:n] {
			fn(node)
		}
	}
}

func (l *switchLevel) word(word string) int32 {
	number, known := l.words[word]
	if !known {
		number = int32(len(l.words)) + 1
		l.words[word] = number
	}
	return number
}

// leaf returns the leaf switch of a spot's node.
func (n *network) leaf(sp *spot) int32 {
	at := int32(0)
	for i := range n.levels {
		l := &n.levels[i]
		j := joint{at, n.valueOf(l, sp)}
		if j != l.last {
			number, known := l.numbers[j]
			if !known {
				number = int32(len(l.parents))
				l.numbers[j] = number
				l.parents = append(l.parents, at)
			}
			l.last, l.lastNo = j, number
		}
		at = l.lastNo
	}
	return at
}

// valueOf returns the number of a node's value of a level's resource, or 0 if it has none.
func (n *network) valueOf(l *switchLevel, sp *spot) int32 {
	switch {
	case l.named != nil:
		return l.named[sp.node]
	case n.Index.Signed(l.id):
		if sp.bucket != l.bucket {
			l.bucket, l.value = sp.bucket, 0
			if v, ok := sp.bucket.Get(l.id); ok {
				l.value = l.word(v.Str)
			}
		}
		return l.value
	}
	v, ok := sp.bucket.Get(l.id)
	if row := n.traitsOf(sp); row != nil {
		v, ok = row.Get(l.id)
	}
	if !ok {
		return 0
	}
	return l.word(v.Str)
}

// above returns a leaf switch's ancestor on a level, counted from 1 for the outermost.
func (n *network) above(leaf int32, level int) int32 {
	for l := len(n.levels); l > level; l-- {
		leaf = n.levels[l-1].parents[leaf]
	}
	return leaf
}
