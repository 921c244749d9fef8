package row

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
)

// KeyFreed is the key of the table Invalidations.
var KeyFreed = []byte{1}

// Freed is where room was made since a cycle has looked at all plans: on nodes, or
// anywhere.
type Freed struct {
	Anywhere bool
	Nodes    []uint32 // ascending
}

// The row begins with its version, which says which of the two.
const (
	freedNodes    = 1
	freedAnywhere = 2
)

// EncodeFreed is the row.
func EncodeFreed(f *Freed) []byte {
	if f.Anywhere {
		return []byte{freedAnywhere}
	}
	content, err := roaring.BitmapOf(f.Nodes...).MarshalBinary()
	if err != nil {
		panic(err) // it writes to memory
	}
	return append([]byte{freedNodes}, content...)
}

// DecodeFreed reads it.
func DecodeFreed(payload []byte) (*Freed, error) {
	if len(payload) == 1 && payload[0] == freedAnywhere {
		return &Freed{Anywhere: true}, nil
	}
	if len(payload) == 0 || payload[0] != freedNodes {
		return nil, fmt.Errorf("%w: where room was made: %x", ErrDamaged, payload)
	}
	nodes := roaring.New()
	if err := nodes.UnmarshalBinary(payload[1:]); err != nil {
		return nil, fmt.Errorf("%w: where room was made: %v", ErrDamaged, err)
	}
	return &Freed{Nodes: nodes.ToArray()}, nil
}
