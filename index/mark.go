package index

import "github.com/RoaringBitmap/roaring/v2"

// Mark says how a node differs from the others of its bucket. The numbers are on disk and must not
// change.
type Mark uint32

// The marks.
const (
	// Ranked nodes differ in something that a policy may use: a speed, a load, features, a resource
	// outside the signature.
	Ranked Mark = 1
	// Ruled nodes have their own rules on who may share them: a sharing, an access policy, a host
	// with other nodes.
	Ruled Mark = 2
	// Named nodes name devices: jobs that start there get some of them.
	Named Mark = 3
	// Judged nodes have a PRIORITYF of their own.
	Judged Mark = 4
)

// marks lists all marks.
var marks = [...]Mark{Ranked, Ruled, Named, Judged}

// MarkedNodes returns the nodes that have a mark, for reading only.
func (ix *Index) MarkedNodes(m Mark) *roaring.Bitmap { return &ix.at(markKey(m)).Bitmap }

func markKey(m Mark) BitsKey { return BitsKey{Family: Marked, ID: uint32(m)} }

// mark gives a node the marks that follow from its row.
func (ix *Index) mark(n *Node) {
	if ix.ranked(n) {
		ix.edit(markKey(Ranked)).Add(n.Number)
	}
	if host, ok := n.Get(Host); ok && host.Str != n.Name || n.Sharing != DefaultShared || n.Access != AccessShared {
		ix.edit(markKey(Ruled)).Add(n.Number)
	}
	if len(n.Devices) > 0 {
		ix.edit(markKey(Named)).Add(n.Number)
	}
	if n.PriorityF != "" {
		ix.edit(markKey(Judged)).Add(n.Number)
	}
}

// Remark updates the marks of a node whose row has otherwise not changed.
func (ix *Index) Remark(n *Node) {
	ix.unmark(n.Number)
	ix.mark(n)
}

func (ix *Index) unmark(number uint32) {
	for _, m := range marks {
		if ix.MarkedNodes(m).Contains(number) {
			ix.edit(markKey(m)).Remove(number)
		}
	}
}

func (ix *Index) ranked(n *Node) bool {
	if n.Speed != 0 || n.ProcSpeed != 0 || n.Load != 0 || n.Usage != 0 || n.PriorityF != "" || len(n.Features) > 0 {
		return true
	}
	for _, a := range n.Res {
		if !ix.signed.has(a.Res) && a.Res != VNode && a.Res != Host {
			return true
		}
	}
	return false
}
