package store

import (
	"bytes"
	"fmt"

	"github.com/placectl/placectl/index"
	"go.etcd.io/bbolt"
)

// nodeReader reads node rows in about ascending order, as policies do: it steps
// from one to the next rather than search the tree for each, and hands out equal
// words as one.
type nodeReader struct {
	cursor *bbolt.Cursor
	key    []byte // where the cursor stands, nil at first and at the end
	row    []byte
	writes int // of nodes, when the cursor was made
	words  map[string]string
}

// nearby is how many rows the reader steps over before it searches.
const nearby = 8

// nodeRow finds a node's row.
func (tx *Tx) nodeRow(number uint32) ([]byte, error) {
	r := &tx.loaded.reader
	if r.cursor == nil || r.writes != tx.file.writes[tableNodes] {
		r.cursor, r.key, r.writes = tx.file.table(tableNodes).Cursor(), nil, tx.file.writes[tableNodes]
	}
	var want [4]byte
	want[0], want[1], want[2], want[3] = byte(number>>24), byte(number>>16), byte(number>>8), byte(number)
	for i := 0; i < nearby && r.key != nil && bytes.Compare(r.key, want[:]) < 0; i++ {
		r.key, r.row = r.cursor.Next()
	}
	if r.key == nil || !bytes.Equal(r.key, want[:]) {
		r.key, r.row = r.cursor.Seek(want[:])
	}
	if r.key == nil || !bytes.Equal(r.key, want[:]) {
		return nil, missing("node", "#"+itoa(number))
	}
	return unseal(tableNodes, r.key, r.row)
}

// traits fills in what policies look at: all of a node but its name and the reason
// it is not up. The node's slices are reused.
func (tx *Tx) traits(number uint32, n *index.Node) error {
	row, err := tx.nodeRow(number)
	if err != nil {
		return err
	}
	r := &tx.loaded.reader
	d := decoder{b: row}
	d.byte()
	*n = index.Node{Number: number, State: index.State(d.byte()), Bucket: d.fixed32(), Priority: int32(d.fixed32()),
		Features: n.Features[:0], Res: n.Res[:0]}
	d.take(d.count())
	n.Queue = r.word(&d)
	d.take(d.count())
	if n.Access, err = index.ParseAccess(r.word(&d)); err != nil {
		return fmt.Errorf("%w: node %d: %v", ErrDamaged, number, err)
	}
	n.PriorityF = r.word(&d)
	for range d.count() {
		n.Features = append(n.Features, r.word(&d))
	}
	set := d.byte()
	for i, v := range [...]*float64{&n.Speed, &n.ProcSpeed, &n.Load, &n.Usage} {
		if set&(1<<i) != 0 {
			*v = d.float()
		}
	}
	for range d.count() {
		n.Res = append(n.Res, index.Amount{Res: index.ResID(d.uint()), Value: index.Value{Str: r.word(&d), Num: d.int()}})
	}
	if len(d.b) > 0 {
		n.Sharing = index.Sharing(d.byte())
	}
	return d.done(tableNodes, key32(number))
}

// word reads a string, the same one for equal bytes.
func (r *nodeReader) word(d *decoder) string {
	b := d.take(d.count())
	if len(b) == 0 {
		return ""
	}
	if s, ok := r.words[string(b)]; ok {
		return s
	}
	if r.words == nil {
		r.words = make(map[string]string)
	}
	s := string(b)
	r.words[s] = s
	return s
}
