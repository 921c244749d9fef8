package store

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/timeline"
)

// nodeRows read rows of nodes, and of each no more than is asked for.
type nodeRows struct {
	file   *file.Recorder
	finder *file.Finder
	words  row.Words

	kept   map[uint32]*keptBlock // nodes that were read, by number / timeline.BlockNodes
	last   *keptBlock            // of them the one asked for last
	lastNo uint32
	asked  int                                     // how many names were asked for
	names  map[uint32]*[timeline.BlockNodes]string // those that were read, by number / timeline.BlockNodes
	writes int                                     // as of so many writes of nodes

	alike map[string]*namedDevices // devices by the part of the row: many nodes name the same
}

// keptBlock is nodes with neighbouring numbers, nil where one was not read, and what is
// known of them without that.
type keptBlock struct {
	nodes [timeline.BlockNodes]*keptNode
	heads [timeline.BlockNodes]keptHead
}

type keptHead struct {
	bucket uint32
	state  index.State
	known  bool
}

// keptNode is a node as it was read, without its devices, and its consumables: a
// transaction that places much asks again and again what a node has.
type keptNode struct {
	*index.Node
	quantities []uint16
	capacity   []int64
	part       string         // of the row: its devices
	named      *namedDevices  // nil until they are asked for
	free       []devices.Bits // those of named that nobody has, by resource; nil where that is not known
}

// kept is a node that is read once, as long as no row of a node is written. It is for
// reading only.
func (tx *Tx) kept(number uint32) (*keptNode, error) {
	place := &tx.loaded.nodes.block(number).nodes[number%timeline.BlockNodes]
	if *place != nil {
		return *place, nil
	}
	defs, err := tx.Resources()
	if err != nil {
		return nil, err
	}
	key := row.Key32(number)
	payload, err := tx.file.Get(row.Nodes, key)
	if err != nil {
		return nil, err
	}
	if payload == nil {
		return nil, row.Missing("node", "#"+itoa(number))
	}
	n, part, err := row.DecodeNodeOnly(key, payload)
	if err != nil {
		return nil, err
	}
	k := &keptNode{Node: n, part: string(part)}
	k.quantities, k.capacity = placer.Consumables(defs, n)
	*place = k
	return k, nil
}

// keptNode is a node that is read once, for reading only.
func (tx *Tx) keptNode(number uint32) (*index.Node, error) {
	k, err := tx.kept(number)
	if err != nil {
		return nil, err
	}
	return k.Node, nil
}

// block is where a node is kept.
func (r *nodeRows) block(number uint32) *keptBlock {
	if writes := r.file.Writes(row.Nodes); r.kept == nil || r.writes != writes {
		r.kept, r.names, r.last, r.writes = make(map[uint32]*keptBlock), nil, nil, writes
	}
	if no := number / timeline.BlockNodes; r.last == nil || r.lastNo != no {
		if r.last, r.lastNo = r.kept[no], no; r.last == nil {
			r.last = new(keptBlock)
			r.kept[no] = r.last
		}
	}
	return r.last
}

// view opens a view on a node's row; ok is false where there is none.
func (r *nodeRows) view(number uint32) (v row.NodeView, ok bool, err error) {
	key := row.Key32(number)
	payload, err := r.file.Get(row.Nodes, key)
	if err != nil || payload == nil {
		return v, false, err
	}
	return v, true, v.Open(key, payload)
}

// head reads only the bucket and the state of a node, once.
func (r *nodeRows) head(number uint32) (bucket uint32, state index.State, err error) {
	block, i := r.block(number), number%timeline.BlockNodes
	if k := block.nodes[i]; k != nil {
		return k.Bucket, k.State, nil
	}
	h := &block.heads[i]
	if h.known {
		return h.bucket, h.state, nil
	}
	v, ok, err := r.view(number)
	switch {
	case err != nil:
		return 0, 0, err
	case !ok:
		return 0, 0, row.Missing("node", "#"+itoa(number))
	}
	*h = keptHead{v.Bucket(), v.State(), true}
	return h.bucket, h.state, nil
}

// name reads only the name of a node. One that was removed, but is on record
// in a job that has ended, is called by its number: #7.
func (r *nodeRows) name(number uint32) (string, error) {
	if r.asked++; r.asked > timeline.BlockNodes {
		if name := r.namesAround(number)[number%timeline.BlockNodes]; name != "" {
			return name, nil
		}
	}
	var v row.NodeView
	key := row.Key32(number)
	payload, err := r.finder.Find(key)
	switch {
	case err != nil:
		return "", err
	case payload == nil:
		return "#" + itoa(number), nil
	}
	if err := v.Open(key, payload); err != nil {
		return "", err
	}
	return string(v.Name()), v.Err()
}

// namesAround are the names of the nodes with neighbouring numbers: who asks for many names
// asks for those, too. One that cannot be read is empty.
func (r *nodeRows) namesAround(number uint32) *[timeline.BlockNodes]string {
	if writes := r.file.Writes(row.Nodes); r.writes != writes {
		r.kept, r.names, r.last, r.writes = nil, nil, nil, writes
	}
	if names := r.names[number/timeline.BlockNodes]; names != nil {
		return names
	}
	if r.names == nil {
		r.names = make(map[uint32]*[timeline.BlockNodes]string)
	}
	names := new([timeline.BlockNodes]string)
	r.names[number/timeline.BlockNodes] = names
	first := number - number%timeline.BlockNodes
	var v row.NodeView
	for c := r.file.Range(row.Nodes, row.Key32(first), row.Key32(first+timeline.BlockNodes-1)); c.Next(); {
		if v.Open(c.Key, c.Payload) != nil {
			break
		}
		if name := v.Name(); v.Err() == nil {
			names[v.Number()%timeline.BlockNodes] = string(name)
		}
	}
	return names
}

// traits fills in what policies look at: all of a node but its name and the reason
// it is not up. The node's slices are reused.
func (r *nodeRows) traits(number uint32, n *index.Node) error {
	key := row.Key32(number)
	payload, err := r.finder.Find(key)
	switch {
	case err != nil:
		return err
	case payload == nil:
		return row.Missing("node", "#"+itoa(number))
	}
	return row.ReadTraits(key, payload, n, &r.words)
}

// notUp tells the state of each of some nodes that are not up.
func (r *nodeRows) notUp(nodes *roaring.Bitmap, tell func(number uint32, s NodeState)) error {
	for it := nodes.Iterator(); it.HasNext(); {
		number := it.Next()
		_, state, err := r.head(number)
		if err != nil {
			return err
		}
		tell(number, state.NotUp())
	}
	return nil
}
