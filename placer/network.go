package placer

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
)

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
