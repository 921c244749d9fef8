package nodes

import (
	"strconv"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// Resources returns the declared resources.
type Resources interface {
	Resources() (*index.Defs, error)
}

// Rows reads rows of nodes in a transaction.
type Rows struct {
	Words     row.Words // scratch for callers that decode many nodes
	resources Resources
	file      *file.Recorder
	finder    *file.Finder
	scratch   index.Node

	kept   map[uint32]*keptBlock // nodes that were read, by number / timeline.BlockNodes
	last   *keptBlock            // the block used last
	lastNo uint32
	asked  int                                     // number of names asked for
	names  map[uint32]*[timeline.BlockNodes]string // the names read so far, by number / timeline.BlockNodes
	writes int                                     // the number of node writes when names was read

	alike map[string]*Named // devices by their part of the row, because many nodes name the same
}

// keptBlock holds nodes with neighbouring numbers, nil for those not read, and what is known
// of them without reading.
type keptBlock struct {
	nodes [timeline.BlockNodes]*Kept
	heads [timeline.BlockNodes]keptHead
}

type keptHead struct {
	bucket uint32
	state  index.State
	known  bool
}

// NewRows reads the rows of a file.
func NewRows(rows *file.Recorder, resources Resources) *Rows {
	return &Rows{resources: resources, file: rows, finder: rows.Finder(row.Nodes)}
}

// Kept is a node as read, without its devices, and its consumables. A transaction that places
// many jobs asks for these again and again.
type Kept struct {
	*index.Node
	Quantities []uint16
	Capacity   []int64
	Free       []devices.Bits // its free devices, by resource; nil if unknown
	part       string         // the row's part with its devices
	named      *Named         // nil until needed
}

// Kept returns a node, which is read once until a row of a node is written. Do not change it.
func (r *Rows) Kept(number uint32) (*Kept, error) {
	place := &r.block(number).nodes[number%timeline.BlockNodes]
	if *place != nil {
		return *place, nil
	}
	defs, err := r.resources.Resources()
	if err != nil {
		return nil, err
	}
	key := row.Key32(number)
	payload, err := r.file.Get(row.Nodes, key)
	if err != nil {
		return nil, err
	}
	if payload == nil {
		return nil, missing(number)
	}
	n, part, err := row.DecodeNodeOnly(key, payload)
	if err != nil {
		return nil, err
	}
	k := &Kept{Node: n, part: string(part)}
	k.Quantities, k.Capacity = placer.Consumables(defs, n)
	*place = k
	return k, nil
}

// Node returns a node, which is read once. Do not change it.
func (r *Rows) Node(number uint32) (*index.Node, error) {
	k, err := r.Kept(number)
	if err != nil {
		return nil, err
	}
	return k.Node, nil
}

// Known returns a node that was read before, or nil.
func (r *Rows) Known(number uint32) *Kept {
	return r.block(number).nodes[number%timeline.BlockNodes]
}

func missing(number uint32) error { return row.Missing("node", called(number)) }

// called returns the name for a node that no longer exists.
func called(number uint32) string { return "#" + strconv.FormatUint(uint64(number), 10) }

// block returns the block that keeps a node.
func (r *Rows) block(number uint32) *keptBlock {
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

// view opens a view on a node's row; ok is false if there is none.
func (r *Rows) view(number uint32) (v row.NodeView, ok bool, err error) {
	key := row.Key32(number)
	payload, err := r.file.Get(row.Nodes, key)
	if err != nil || payload == nil {
		return v, false, err
	}
	return v, true, v.Open(key, payload)
}

// Head reads only the bucket and the state of a node, once.
func (r *Rows) Head(number uint32) (bucket uint32, state index.State, err error) {
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
		return 0, 0, missing(number)
	}
	*h = keptHead{v.Bucket(), v.State(), true}
	return h.bucket, h.state, nil
}

// Name reads only the name of a node. A removed node, which ended jobs may still name, is
// called by its number: #7.
func (r *Rows) Name(number uint32) (string, error) {
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
		return called(number), nil
	}
	if err := v.Open(key, payload); err != nil {
		return "", err
	}
	return string(v.Name()), v.Err()
}

// namesAround returns the names of the nodes with neighbouring numbers, because callers usually ask
// for many names. The name of an unreadable node is empty.
func (r *Rows) namesAround(number uint32) *[timeline.BlockNodes]string {
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

// Traits fills in what policies use: all of a node but its name and the reason why it is not
// up. It reuses the node's slices.
func (r *Rows) Traits(number uint32, n *index.Node) error {
	key := row.Key32(number)
	payload, err := r.finder.Find(key)
	switch {
	case err != nil:
		return err
	case payload == nil:
		return missing(number)
	}
	return row.ReadTraits(key, payload, n, &r.Words)
}

// Amount returns how much a node has of a resource, or 0 if it does not name the resource.
func (r *Rows) Amount(number uint32, res index.ResID) (int64, error) {
	err := r.Traits(number, &r.scratch)
	v, _ := r.scratch.Get(res)
	return v.Num, err
}

// NotUp calls tell with the state of each of some nodes that are not up.
func (r *Rows) NotUp(nodes *roaring.Bitmap, tell func(number uint32, s index.NodeState)) error {
	for it := nodes.Iterator(); it.HasNext(); {
		number := it.Next()
		_, state, err := r.Head(number)
		if err != nil {
			return err
		}
		tell(number, state.NotUp())
	}
	return nil
}
