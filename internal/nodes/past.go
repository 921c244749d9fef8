package nodes

import (
	"bytes"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// PastChange is a recorded change.
type PastChange struct {
	At   int64
	Past *row.NodePast
}

// PastRows reads rows of a store, as package file does.
type PastRows interface {
	Get(t row.Table, key []byte) ([]byte, error)
	EachFrom(t row.Table, from, prefix []byte, fn func(key, payload []byte) (more bool, err error)) error
}

// PastSince reads the changes after an instant, the oldest first.
func PastSince(rows PastRows, at int64) (list []PastChange, err error) {
	return list, rows.EachFrom(row.NodePasts, row.TimeKey(at+1, 0), nil, func(key, payload []byte) (bool, error) {
		p, err := row.NodePastRow.Decode(key, payload)
		then, _ := row.SplitTimeKey(key)
		list = append(list, PastChange{then, p})
		return true, err
	})
}

// PastNodes are the nodes of an earlier instant. Changed holds those that differ from now.
type PastNodes struct {
	rows    PastRows
	Changed map[uint32]*index.Node // nil for a node that did not exist
}

// NodesNow returns the present nodes. To go back, pass the changes to Back, the newest first.
func NodesNow(rows PastRows) *PastNodes { return &PastNodes{rows, make(map[uint32]*index.Node)} }

// Node returns a node by its number, or nil if there is none.
func (n *PastNodes) Node(number uint32) (*index.Node, error) {
	if node, ok := n.Changed[number]; ok {
		return node, nil
	}
	key := row.Key32(number)
	payload, err := n.rows.Get(row.Nodes, key)
	if err != nil || payload == nil {
		return nil, err
	}
	return row.DecodeNode(key, payload)
}

// Back goes back to before a change, and calls fn, if not nil, for each changed node.
func (n *PastNodes) Back(p *row.NodePast, fn func(is, was *index.Node) error) error {
	for _, number := range p.Nodes {
		is, err := n.Node(number)
		if err != nil {
			return err
		}
		was := PastBefore(p, is, number)
		n.Changed[number] = was
		if fn != nil {
			if err := fn(is, was); err != nil {
				return err
			}
		}
	}
	return nil
}

// NodesAt returns the nodes as they were at a recorded instant.
func NodesAt(rows PastRows, at int64) (*PastNodes, error) {
	list, err := PastSince(rows, at)
	if err != nil {
		return nil, err
	}
	n := NodesNow(rows)
	for i := len(list) - 1; i >= 0; i-- {
		if err := n.Back(list[i].Past, nil); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// ForgetPast deletes the changes before an instant, and reports whether there were any.
func ForgetPast(rows *file.Recorder, before int64) (gone bool, err error) {
	var old [][]byte
	err = rows.Each(row.NodePasts, nil, func(key, _ []byte) (bool, error) {
		at, _ := row.SplitTimeKey(key)
		if at < before {
			old = append(old, bytes.Clone(key))
		}
		return at < before, nil
	})
	for _, key := range old {
		if err == nil {
			err = rows.Remove(row.NodePasts, key)
		}
	}
	return len(old) > 0, err
}

// Contradiction goes back through all changes from the present nodes. It returns the first
// change that is impossible, by its instant and the reason, or "".
func Contradiction(list []PastChange, present *roaring.Bitmap, state *row.State) (at int64, why string) {
	there := present.Clone()
	for i := len(list) - 1; i >= 0; i-- {
		c := list[i]
		switch last := c.Past.Nodes[len(c.Past.Nodes)-1]; {
		case c.At > state.AsOf:
			return c.At, fmt.Sprintf("nodes changed at @%d, and it is @%d", c.At, state.AsOf)
		case last >= state.NextNode:
			return c.At, fmt.Sprintf("node %d changed at @%d, and the next number is %d", last, c.At, state.NextNode)
		}
		for _, number := range c.Past.Nodes {
			if there.Contains(number) == (c.Past.Parts == row.PartWhole) {
				return c.At, fmt.Sprintf("node %d changed at @%d otherwise than later changes say", number, c.At)
			}
		}
		switch c.Past.Parts {
		case row.PartAbsent:
			there.AndNot(roaring.BitmapOf(c.Past.Nodes...))
		case row.PartWhole:
			there.AddMany(c.Past.Nodes)
		}
	}
	return 0, ""
}
