package store

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// nodeRows read rows of nodes, and of each no more than is asked for.
type nodeRows struct {
	file   *file.Recorder
	finder *file.Finder
	words  row.Words
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

// head reads only the bucket and the state of a node.
func (r *nodeRows) head(number uint32) (bucket uint32, state index.State, err error) {
	v, ok, err := r.view(number)
	switch {
	case err != nil:
		return 0, 0, err
	case !ok:
		return 0, 0, row.Missing("node", "#"+itoa(number))
	}
	return v.Bucket(), v.State(), nil
}

// name reads only the name of a node. One that was removed, but is on record
// in a job that has ended, is called by its number: #7.
func (r *nodeRows) name(number uint32) (string, error) {
	v, ok, err := r.view(number)
	switch {
	case err != nil:
		return "", err
	case !ok:
		return "#" + itoa(number), nil
	}
	return string(v.Name()), v.Err()
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
