package store

import (
	"bytes"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store/internal/row"
	"go.etcd.io/bbolt"
)

// nodeReader reads node rows in about ascending order, as policies do: it steps
// from one to the next rather than search the tree for each, and hands out equal
// words as one.
type nodeReader struct {
	cursor  *bbolt.Cursor
	key     []byte // where the cursor stands, nil at first and at the end
	payload []byte
	writes  int // of nodes, when the cursor was made
	words   row.Words
}

// nearby is how many rows the reader steps over before it searches.
const nearby = 8

// nodeRow finds a node's row.
func (tx *Tx) nodeRow(number uint32) ([]byte, error) {
	r := &tx.loaded.reader
	if r.cursor == nil || r.writes != tx.file.writes[row.Nodes] {
		r.cursor, r.key, r.writes = tx.file.table(row.Nodes).Cursor(), nil, tx.file.writes[row.Nodes]
	}
	var want [4]byte
	want[0], want[1], want[2], want[3] = byte(number>>24), byte(number>>16), byte(number>>8), byte(number)
	for i := 0; i < nearby && r.key != nil && bytes.Compare(r.key, want[:]) < 0; i++ {
		r.key, r.payload = r.cursor.Next()
	}
	if r.key == nil || !bytes.Equal(r.key, want[:]) {
		r.key, r.payload = r.cursor.Seek(want[:])
	}
	if r.key == nil || !bytes.Equal(r.key, want[:]) {
		return nil, missing("node", "#"+itoa(number))
	}
	return row.Unseal(row.Nodes, r.key, r.payload)
}

// traits fills in what policies look at: all of a node but its name and the reason
// it is not up. The node's slices are reused.
func (tx *Tx) traits(number uint32, n *index.Node) error {
	payload, err := tx.nodeRow(number)
	if err != nil {
		return err
	}
	return row.ReadTraits(row.Key32(number), payload, n, &tx.loaded.reader.words)
}
