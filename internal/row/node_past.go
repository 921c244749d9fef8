package row

import (
	"math"

	"github.com/placectl/placectl/index"
)

// NodePast holds the properties of nodes before a change. Going back from the present nodes,
// the newest change first, gives the nodes at any instant since State.NodesSince. Nodes with
// the same change in a commit share one row. Measured loads and derived values such as the
// bucket are not recorded.
type NodePast struct {
	Nodes  []uint32 // ascending
	Parts  NodeParts
	Was    index.Node    // only the fields in Parts count
	Lacked []index.ResID // resources without a value then
}

// NodeParts are parts of a node, as bits. On disk; must not change.
type NodeParts uint16

// The parts. PartAbsent and PartWhole each stand alone.
const (
	PartAbsent NodeParts = 1 << iota // the node did not exist
	PartWhole                        // the node existed, and was removed
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
	PartResources // resources with other values, including Lacked
	PartDevices   // all of them, and their distances
	partEnd
)

func nodePastFields(f *Fields, p *NodePast) {
	f.Version(1)
	Uint(f, "parts", &p.Parts)
	runFields(f, "nodes", &p.Nodes)
	if p.Parts != PartAbsent {
		wasFields(f, &p.Was)
		Uints(f, "lacked", &p.Lacked)
	}
	alone := p.Parts == PartAbsent || p.Parts == PartWhole && len(p.Nodes) == 1
	f.Must(len(f.key) == 16 && len(p.Nodes) > 0 && p.Parts != 0 && p.Parts < partEnd &&
		(p.Parts&(PartAbsent|PartWhole) == 0 || alone))
}

// wasFields is a node as part of a row.
func wasFields(f *Fields, n *index.Node) {
	switch f.dir {
	case writing:
		row := string(EncodeNode(n))
		f.Text("", &row)
	case reading:
		was, err := DecodeNode(Key32(0), f.take(f.count(0)))
		f.Must(err == nil)
		*n = *was
	default:
		f.Object("was")
		nodeFields(f, n)
		f.End()
	}
}

// runFields lists ascending numbers, as runs of consecutive ones.
func runFields(f *Fields, name string, list *[]uint32) {
	switch f.dir {
	case writing:
		writeRuns(f, *list)
	case reading:
		*list = readRuns(f)
	default:
		Uints(f, name, list)
	}
}

// NodePastRow is the row of a change.
var NodePastRow = Kind[NodePast]{NodePasts, nodePastFields}

func writeRuns(f *Fields, list []uint32) {
	var runs [][2]uint32 // first, length
	for i, n := range list {
		if last := len(runs) - 1; i > 0 && n == list[i-1]+1 {
			runs[last][1]++
			continue
		}
		runs = append(runs, [2]uint32{n, 1})
	}
	f.uvar(uint64(len(runs)))
	next := uint32(0)
	for _, r := range runs {
		f.uvar(uint64(r[0] - next))
		f.uvar(uint64(r[1]))
		next = r[0] + r[1]
	}
}

// readRuns reads at most mostNodes numbers, because a row of a few bytes could name more.
func readRuns(f *Fields) (list []uint32) {
	next := uint64(0)
	for range f.count(0) {
		first, length := next+f.uvar(0), f.uvar(0)
		if f.bad || length == 0 || first > math.MaxUint32 || length > mostNodes || first+length > math.MaxUint32 ||
			uint64(len(list))+length > mostNodes {
			f.bad = true
			return nil
		}
		for n := first; n < first+length; n++ {
			list = append(list, uint32(n))
		}
		next = first + length
	}
	return list
}
