package row

import (
	"github.com/RoaringBitmap/roaring/v2"
)

// KeyFreed is the key of the table Invalidations.
var KeyFreed = []byte{1}

// Freed is where room was made since a cycle last examined all plans: on nodes, or anywhere.
type Freed struct {
	Anywhere bool
	Nodes    []uint32 // ascending
}

// The row begins with its version, which tells which of the two applies.
const (
	freedNodes    = 1
	freedAnywhere = 2
)

func freedFields(f *Fields, x *Freed) {
	version := byte(freedNodes)
	if x.Anywhere {
		version = freedAnywhere
	}
	switch version = f.Version(version); f.dir {
	case writing:
		if !x.Anywhere {
			content, err := roaring.BitmapOf(x.Nodes...).MarshalBinary()
			if err != nil {
				panic(err) // it writes to memory
			}
			f.b = append(f.b, content...)
		}
	case reading:
		nodes := roaring.New()
		x.Anywhere = version == freedAnywhere
		f.Must(version == freedNodes || x.Anywhere && len(f.b) == 0)
		f.Must(x.Anywhere || nodes.UnmarshalBinary(f.b) == nil)
		if !f.bad && !x.Anywhere {
			x.Nodes = nodes.ToArray()
		}
	default:
		f.fact("anywhere", &x.Anywhere)
		Uints(f, "nodes", &x.Nodes)
	}
}

// EncodeFreed returns the row.
func EncodeFreed(x *Freed) []byte { return encode(freedFields, x) }

// DecodeFreed reads it.
func DecodeFreed(payload []byte) (*Freed, error) {
	return decode(Invalidations, freedFields, KeyFreed, payload)
}
