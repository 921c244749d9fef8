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
// without a speed. After ForgetSpeeds they are unknown.
func (ix *Index) Speeds() (list iter.Seq2[Speed, *roaring.Bitmap], known bool) {
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
	}, !ix.speedless
}

// ForgetSpeeds makes Speeds return nothing, so that speeds come from the rows of nodes. It is
// for a store whose file is older than the bitmaps of speeds.
func (ix *Index) ForgetSpeeds() { ix.speedless = true }

func speedKey(n *Node) BitsKey {
	return BitsKey{Family: OfSpeed, Value: numKey(int64(math.Float64bits(n.Speed))) + numKey(
		int64(math.Float64bits(n.ProcSpeed)))}
}
