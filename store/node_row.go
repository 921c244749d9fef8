package store

import (
	"encoding/binary"
	"fmt"

	"github.com/placectl/placectl/index"
)

const nodeVersion = 1

// nodeHeadSize is the fixed part in front: version, state, bucket, priority.
const nodeHeadSize = 10

func encodeNode(n *index.Node) []byte {
	e := encoder{b: make([]byte, 0, 96)}
	e.byte(nodeVersion)
	e.byte(byte(n.State))
	e.fixed32(n.Bucket)
	e.fixed32(uint32(n.Priority))
	e.string(n.Name)
	e.string(n.Queue)
	e.string(n.Reason)
	e.string(accessWord(n.Access))
	e.string(n.PriorityF)
	e.strings(n.Features)
	encodeMeasures(&e, []float64{n.Speed, n.ProcSpeed, n.Load, n.Usage})
	e.uint(uint64(len(n.Res)))
	for _, a := range n.Res {
		e.uint(uint64(a.Res))
		e.string(a.Value.Str)
		e.int(a.Value.Num)
	}
	e.byte(byte(n.Sharing)) // rows of before there was sharing end above
	return e.b
}

// accessWord is how a row holds an access policy: by its word, and nothing for
// shared.
func accessWord(a index.Access) string {
	if a == index.AccessShared {
		return ""
	}
	return a.String()
}

// encodeMeasures writes which of the numbers are not 0, then those.
func encodeMeasures(e *encoder, list []float64) {
	var set byte
	for i, v := range list {
		if v != 0 {
			set |= 1 << i
		}
	}
	e.byte(set)
	for _, v := range list {
		if v != 0 {
			e.float(v)
		}
	}
}

func decodeNode(key, row []byte) (*index.Node, error) {
	d := decoder{b: row}
	d.byte()
	n := &index.Node{State: index.State(d.byte()), Bucket: d.fixed32(), Priority: int32(d.fixed32())}
	n.Name = d.string()
	n.Queue = d.string()
	n.Reason = d.string()
	var unknown error
	if n.Access, unknown = index.ParseAccess(d.string()); unknown != nil {
		d.bad = true
	}
	n.PriorityF = d.string()
	n.Features = d.strings()
	set := d.byte()
	for i, v := range []*float64{&n.Speed, &n.ProcSpeed, &n.Load, &n.Usage} {
		if set&(1<<i) != 0 {
			*v = d.float()
		}
	}
	n.Res = make([]index.Amount, d.count())
	for i := range n.Res {
		n.Res[i] = index.Amount{Res: index.ResID(d.uint()), Value: index.Value{Str: d.string(), Num: d.int()}}
	}
	if len(d.b) > 0 {
		n.Sharing = index.Sharing(d.byte())
		d.bad = d.bad || !n.Sharing.Valid()
	}
	if len(key) != 4 {
		d.bad = true
	} else {
		n.Number = binary.BigEndian.Uint32(key)
	}
	return n, d.done(tableNodes, key)
}

// nodeHead reads only the bucket and the state of a node.
func (tx *Tx) nodeHead(number uint32) (bucket uint32, state index.State, err error) {
	key := key32(number)
	row, err := tx.get(tableNodes, key)
	if err != nil {
		return 0, 0, err
	}
	if len(row) < nodeHeadSize {
		return 0, 0, missing("node", "#"+itoa(number))
	}
	return binary.LittleEndian.Uint32(row[2:]), index.State(row[1]), nil
}

// nodeName reads only the name of a node. One that was removed, but is on record
// in a job that has ended, is called by its number: #7.
func (tx *Tx) nodeName(number uint32) (string, error) {
	row, err := tx.get(tableNodes, key32(number))
	if err != nil {
		return "", err
	}
	if row == nil {
		return "#" + itoa(number), nil
	}
	if len(row) < nodeHeadSize {
		return "", fmt.Errorf("%w: node row %d is short", ErrDamaged, number)
	}
	d := decoder{b: row[nodeHeadSize:]}
	return d.string(), d.done(tableNodes, key32(number))
}
