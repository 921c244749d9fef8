package index

import (
	"encoding/binary"
	"iter"
	"math"

	"github.com/RoaringBitmap/roaring/v2"
)

// Speed is how fast a node and its processors are; 0 if it is not set.
type Speed struct{ Node, Processors float64 }

// Speeds returns the speeds of nodes, and the nodes of each, for reading only. It omits nodes
// without a speed.
func (ix *Index) Speeds() iter.Seq2[Speed, *roaring.Bitmap] {
	return func(yield func(Speed, *roaring.Bitmap) bool) {
		for k, nodes := range ix.scan(BitsKey{Family: OfSpeed}) {
			if len(k.Value) != 16 {
				continue
			}
			b := []byte(k.Value)
			s := Speed{math.Float64frombits(binary.BigEndian.Uint64(b)),
				math.Float64frombits(binary.BigEndian.Uint64(b[8:]))}
			if !yield(s, nodes) {
				return
			}
		}
	}
}

func speedKey(n *Node) BitsKey {
	return BitsKey{Family: OfSpeed, Value: numKey(int64(math.Float64bits(n.Speed))) + numKey(
		int64(math.Float64bits(n.ProcSpeed)))}
}
