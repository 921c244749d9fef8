package row

import (
	"fmt"
	"math"

	"github.com/placectl/placectl/index"
)

// NodePast is how nodes were before something about them changed: who goes back from what is
// now, the newest change first, has them as they were at any instant since State.NodesSince.
// Nodes to which the same happened in a commit have one row. Measured loads are not on record,
// nor is what follows from the rest, as the bucket does.
type NodePast struct {
	Nodes  []uint32 // ascending
	Parts  NodeParts
	Was    index.Node    // of which only Parts counts
	Lacked []index.ResID // resources of which they had no value
}

// NodeParts are parts of a node, as bits. On disk; must not change.
type NodeParts uint16

// The parts. A node that was there no part is taken of: either it is PartAbsent alone, or
// PartWhole.
const (
	PartAbsent NodeParts = 1 << iota // it was not there
	PartWhole                        // it was there, and is not any more
	PartState                        // with its reason
	PartQueue
	PartPriority
	PartPriorityF
	PartAccess
	PartSharing
	PartSpeed
	PartProcSpeed
	PartUsage
	PartFeatures
	PartResources // those that were otherwise, Lacked among them
	PartDevices   // all of them, and their distances
	partEnd
)

// EncodeNodePast is the row of a change.
func EncodeNodePast(p *NodePast) []byte {
	e := encoder{}
	e.byte(1)
	e.uint(uint64(p.Parts))
	e.runs(p.Nodes)
	if p.Parts == PartAbsent {
		return e.b
	}
	was := p.Was
	was.Number = 0
	e.string(string(EncodeNode(&was)))
	e.uint(uint64(len(p.Lacked)))
	for _, id := range p.Lacked {
		e.uint(uint64(id))
	}
	return e.b
}

// DecodeNodePast reads it.
func DecodeNodePast(key, payload []byte) (*NodePast, error) {
	d := decoder{b: payload}
	d.byte()
	p := &NodePast{Parts: NodeParts(d.uint())}
	p.Nodes = d.runs()
	if p.Parts != PartAbsent {
		was, err := DecodeNode(Key32(0), d.take(d.count()))
		if err != nil {
			return nil, fmt.Errorf("%w: table %s: row %x: a node that cannot be decoded", ErrDamaged, NodePasts, key)
		}
		if p.Was = *was; len(was.Res) == 0 {
			p.Was.Res = nil
		}
		for range d.count() {
			p.Lacked = append(p.Lacked, index.ResID(d.uint()))
		}
	}
	alone := p.Parts == PartAbsent || p.Parts == PartWhole && len(p.Nodes) == 1
	if len(key) != 16 || len(p.Nodes) == 0 || p.Parts == 0 || p.Parts >= partEnd || p.Parts&(PartAbsent|PartWhole) != 0 && !alone {
		return nil, fmt.Errorf("%w: table %s: row %x tells of no change", ErrDamaged, NodePasts, key)
	}
	return p, d.done(NodePasts, key)
}

// runs writes ascending numbers, as runs of those that follow each other.
func (e *encoder) runs(list []uint32) {
	var runs [][2]uint32 // first, length
	for i, n := range list {
		if last := len(runs) - 1; i > 0 && n == list[i-1]+1 {
			runs[last][1]++
			continue
		}
		runs = append(runs, [2]uint32{n, 1})
	}
	e.uint(uint64(len(runs)))
	next := uint32(0)
	for _, r := range runs {
		e.uint(uint64(r[0] - next))
		e.uint(uint64(r[1]))
		next = r[0] + r[1]
	}
}

// mostNodes bounds what a row of a few bytes can ask to be made.
const mostNodes = 1 << 24

// runs reads them.
func (d *decoder) runs() (list []uint32) {
	next := uint64(0)
	for range d.count() {
		first, length := next+d.uint(), d.uint()
		if d.bad || length == 0 || first > math.MaxUint32 || length > mostNodes || first+length > math.MaxUint32 || uint64(len(list))+length > mostNodes {
			d.bad = true
			return nil
		}
		for n := first; n < first+length; n++ {
			list = append(list, uint32(n))
		}
		next = first + length
	}
	return list
}
