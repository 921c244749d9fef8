// Package nodes reads the rows of nodes, each once in a transaction and of each no more than
// is asked for; says what may stand in one; and chooses which of a node's devices a job gets.
// It sees rows and nothing of a transaction besides.
package nodes

import (
	"strconv"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/timeline"
)

// Resources are those that a transaction has declared.
type Resources interface {
	Resources() (*index.Defs, error)
}

// Rows read rows of nodes in a transaction.
type Rows struct {
	Words     row.Words // scratch of who decodes many nodes
	resources Resources
	file      *file.Recorder
	finder    *file.Finder
	scratch   index.Node

	kept   map[uint32]*keptBlock // nodes that were read, by number / timeline.BlockNodes
	last   *keptBlock            // of them the one asked for last
	lastNo uint32
	asked  int                                     // how many names were asked for
	names  map[uint32]*[timeline.BlockNodes]string // the names read so far, by number / timeline.BlockNodes
	writes int                                     // as of so many writes of nodes

	alike map[string]*Named // devices by the part of the row: many nodes name the same
}

// keptBlock is nodes with neighbouring numbers, nil if one was not read, and what is
// known of them without that.
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

// Kept is a node as it was read, without its devices, and its consumables: a transaction
// that places much asks again and again what a node has.
type Kept struct {
	*index.Node
	Quantities []uint16
	Capacity   []int64
	Free       []devices.Bits // its free devices, by resource; nil if unknown
	part       string         // of the row: its devices
	named      *Named         // nil until they are asked for
}

// Kept is a node that is read once, as long as no row of a node is written. It is for
// reading only.
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

// Node is a node that is read once, for reading only.
func (r *Rows) Node(number uint32) (*index.Node, error) {
	k, err := r.Kept(number)
	if err != nil {
		return nil, err
	}
	return k.Node, nil
}

// Known is a node that was read before, nil if it was not.
func (r *Rows) Known(number uint32) *Kept {
	return r.block(number).nodes[number%timeline.BlockNodes]
}

func missing(number uint32) error { return row.Missing("node", called(number)) }

// called is how a node is called that is there no more.
func called(number uint32) string { return "#" + strconv.FormatUint(uint64(number), 10) }

// block is where a node is kept.
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

// Name reads only the name of a node. One that was removed, but is on record
// in a job that has ended, is called by its number: #7.
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

// Traits fills in what policies look at: all of a node but its name and the reason
// it is not up. The node's slices are reused.
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

// Amount is how much a node has of a resource, 0 if it says nothing of it.
func (r *Rows) Amount(number uint32, res index.ResID) (int64, error) {
	err := r.Traits(number, &r.scratch)
	v, _ := r.scratch.Get(res)
	return v.Num, err
}

// NotUp tells the state of each of some nodes that are not up.
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
