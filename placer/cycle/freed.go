package cycle

import "github.com/RoaringBitmap/roaring/v2"

// Freed records where room was made since a pass has looked at all plans: nodes were given
// back, a reservation has begun or ended, a node has come up. A planned job can start sooner
// only there, so a pass leaves all other plans in place. One pass hands the record on to the
// next.
type Freed struct {
	Nodes *roaring.Bitmap
	Any   bool // it may be on any node

	late    *roaring.Bitmap // of these, since the pass under way has begun
	lateAny bool
	times   int // how often it was made
	memory  *Memory
}

// NewFreed begins with the nodes that earlier passes have handed on.
func NewFreed(nodes *roaring.Bitmap, any bool) *Freed {
	return &Freed{Nodes: nodes, Any: any, late: roaring.New()}
}

// On records that room was made on nodes.
func (f *Freed) On(nodes []uint32) {
	f.count(nodes)
	f.Nodes.AddMany(nodes)
	f.late.AddMany(nodes)
}

// Anywhere records that any request may fit now.
func (f *Freed) Anywhere() {
	f.count(nil)
	f.Any, f.lateAny = true, true
}

func (f *Freed) count(nodes []uint32) {
	f.times++
	if f.memory != nil {
		f.memory.made = append(f.memory.made, nodes)
	}
}

func (f *Freed) begin() {
	f.late.Clear()
	f.lateAny = false
}

// looked records that the pass has looked at all plans.
func (f *Freed) looked() {
	f.Nodes, f.late = f.late, roaring.New()
	f.Any, f.lateAny = f.lateAny, false
}
