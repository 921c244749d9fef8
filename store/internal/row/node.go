package row

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/placectl/placectl/index"
)

const nodeVersion = 1

// nodeHeadSize is the fixed part in front: version, state, bucket, priority.
const nodeHeadSize = 10

// The texts behind the head, in their order.
const (
	nodeName = iota
	nodeQueue
	nodeReason
	nodeAccess
	nodePriorityF
	nodeTexts
)

// EncodeNode is the row of a node.
func EncodeNode(n *index.Node) []byte {
	e := encoder{b: make([]byte, 0, 96)}
	e.byte(nodeVersion)
	e.byte(byte(n.State))
	e.fixed32(n.Bucket)
	e.fixed32(uint32(n.Priority))
	for _, s := range [nodeTexts]string{n.Name, n.Queue, n.Reason, accessWord(n.Access), n.PriorityF} {
		e.string(s)
	}
	e.strings(n.Features)
	measures := nodeMeasures(n)
	var set byte
	for i, v := range measures {
		if *v != 0 {
			set |= 1 << i
		}
	}
	e.byte(set)
	for _, v := range measures {
		if *v != 0 {
			e.float(*v)
		}
	}
	e.uint(uint64(len(n.Res)))
	for _, a := range n.Res {
		e.uint(uint64(a.Res))
		e.string(a.Value.Str)
		e.int(a.Value.Num)
	}
	e.byte(byte(n.Sharing)) // rows of before there was sharing end above
	e.bool(n.Lessened)      // as do, here, those that do not know
	encodeDevices(&e, n)    // and here those of nodes that name none
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

// nodeMeasures are the numbers of which a row holds those that are not 0, after a byte
// that says which.
func nodeMeasures(n *index.Node) [4]*float64 {
	return [...]*float64{&n.Speed, &n.ProcSpeed, &n.Load, &n.Usage}
}

// DecodeNode reads the whole of a node.
func DecodeNode(key, payload []byte) (*index.Node, error) {
	n := new(index.Node)
	return n, ReadNode(key, payload, n, nil)
}

// ReadNode fills in the whole of a node. Equal words are one string, and the node's slices
// are used again.
func ReadNode(key, payload []byte, n *index.Node, words *Words) error {
	part, err := ReadNodeOnly(key, payload, n, words)
	if err != nil {
		return err
	}
	return DecodeDevices(key, part, n)
}

// DecodeNodeOnly reads a node without its devices, and returns the bytes of these, which
// are part of the payload: DecodeDevices reads them.
func DecodeNodeOnly(key, payload []byte) (n *index.Node, devices []byte, err error) {
	n = new(index.Node)
	devices, err = ReadNodeOnly(key, payload, n, nil)
	return n, devices, err
}

// ReadNodeOnly fills in a node without its devices, as ReadNode does, and returns the bytes
// of these.
func ReadNodeOnly(key, payload []byte, n *index.Node, words *Words) (devices []byte, err error) {
	*n = index.Node{Features: n.Features[:0], Res: n.Res[:0]}
	d := decoder{b: payload}
	readNodeHead(&d, n)
	n.Name, n.Queue, n.Reason = d.string(), words.next(&d), d.string()
	err = readNodeRest(key, &d, n, words)
	return d.b, err
}

// DecodeDevices reads the devices of a node, and the distances of their groups.
func DecodeDevices(key, part []byte, n *index.Node) error {
	d := decoder{b: part}
	decodeDevices(&d, n)
	return d.done(Nodes, key)
}

// ReadTraits fills in what policies look at: all of a node but its name and the reason
// it is not up. Equal words are one string, and the node's slices are used again.
func ReadTraits(key, payload []byte, n *index.Node, words *Words) error {
	*n = index.Node{Features: n.Features[:0], Res: n.Res[:0]}
	d := decoder{b: payload}
	readNodeHead(&d, n)
	d.skip()
	n.Queue = words.next(&d)
	d.skip()
	return readNodeRest(key, &d, n, words)
}

func readNodeHead(d *decoder, n *index.Node) {
	d.byte()
	n.State, n.Bucket, n.Priority = index.State(d.byte()), d.fixed32(), int32(d.fixed32())
}

// readNodeRest reads what comes after the reason.
func readNodeRest(key []byte, d *decoder, n *index.Node, words *Words) error {
	var unknown error
	n.Access, unknown = index.ParseAccess(words.next(d))
	n.PriorityF = words.next(d)
	for range d.count() {
		n.Features = append(n.Features, words.next(d))
	}
	set := d.byte()
	for i, v := range nodeMeasures(n) {
		if set&(1<<i) != 0 {
			*v = d.float()
		}
	}
	count := d.count()
	if n.Res == nil {
		n.Res = make([]index.Amount, 0, count)
	}
	for range count {
		n.Res = append(n.Res, index.Amount{Res: index.ResID(d.uint()), Value: index.Value{Str: words.next(d), Num: d.int()}})
	}
	if len(d.b) > 0 {
		n.Sharing = index.Sharing(d.byte())
	}
	n.Lessened = true
	if len(d.b) > 0 {
		n.Lessened = d.byte() == 1
	}
	d.bad = d.bad || unknown != nil || !n.Sharing.Valid() || len(key) != 4
	if len(key) == 4 {
		n.Number = binary.BigEndian.Uint32(key)
	}
	return d.done(Nodes, key)
}

// Words hands out equal words as one string. Nil makes each anew.
type Words struct{ known map[string]string }

// maxWords bounds how many words are known.
const maxWords = 1 << 16

// Of is the word of these bytes.
func (w *Words) Of(b []byte) string {
	if w == nil || len(b) == 0 {
		return string(b)
	}
	if s, ok := w.known[string(b)]; ok {
		return s
	}
	s := string(b)
	if w.known == nil {
		w.known = make(map[string]string)
	}
	if len(w.known) < maxWords {
		w.known[s] = s
	}
	return s
}

// next reads a word.
func (w *Words) next(d *decoder) string { return w.Of(d.take(d.count())) }

// NodeView reads a node's row in place, and only as far as what is asked for. What it
// returns lives as long as the row. One view may be opened on many rows, one after the
// other, until one is found to be damaged.
type NodeView struct {
	number uint32
	texts  texts

	behind   bool // the features and what follows are known
	features part
	set      byte // which of the measures are there,
	measures int  // from where on
	res      int  // where the resources are
}

// Open turns the view to a row.
func (v *NodeView) Open(key, payload []byte) error {
	if v.texts.bad {
		return v.Err()
	}
	if len(payload) < nodeHeadSize || len(key) != 4 {
		return fmt.Errorf("%w: node row %x is short", ErrDamaged, key)
	}
	v.number, v.behind = binary.BigEndian.Uint32(key), false
	v.texts.open(payload, nodeHeadSize)
	return nil
}

// Err is ErrDamaged when a row was not what it should be.
func (v *NodeView) Err() error {
	if v.texts.bad {
		return fmt.Errorf("%w: node row %d cannot be decoded", ErrDamaged, v.number)
	}
	return nil
}

// Number is the node's number.
func (v *NodeView) Number() uint32 { return v.number }

// State says whether the node is up.
func (v *NodeView) State() index.State { return index.State(v.texts.payload[1]) }

// Bucket is the number of the node's bucket.
func (v *NodeView) Bucket() uint32 { return binary.LittleEndian.Uint32(v.texts.payload[2:]) }

// Priority is the node's priority.
func (v *NodeView) Priority() int32 { return int32(binary.LittleEndian.Uint32(v.texts.payload[6:])) }

// Name is what the node is called.
func (v *NodeView) Name() []byte { return v.texts.get(nodeName) }

// Queue is the queue that owns the node.
func (v *NodeView) Queue() []byte { return v.texts.get(nodeQueue) }

// Reason is why the node is not up.
func (v *NodeView) Reason() []byte { return v.texts.get(nodeReason) }

// Access is the word of whose jobs may be on the node together, empty for shared.
func (v *NodeView) Access() []byte { return v.texts.get(nodeAccess) }

// PriorityF is the node's own formula of policy priority.
func (v *NodeView) PriorityF() []byte { return v.texts.get(nodePriorityF) }

// tail finds features, measures and resources.
func (v *NodeView) tail() {
	if v.behind {
		return
	}
	v.behind = true
	t := &v.texts
	t.find(nodeTexts - 1)
	v.features.from = t.at
	for range t.length() {
		t.at += t.length()
	}
	v.features.to = t.at
	if v.set = 0; t.at < len(t.payload) {
		v.set = t.payload[t.at]
		t.at++
	}
	v.measures = t.at
	if v.res = t.at + 8*bits.OnesCount8(v.set); v.res > len(t.payload) {
		v.set, v.res = 0, len(t.payload)
		t.damaged()
	}
}

// Features are the node's features, joined by commas.
func (v *NodeView) Features() []byte {
	v.tail()
	d := decoder{b: v.texts.payload[v.features.from:v.features.to]}
	var out []byte
	for i := range d.count() {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, d.take(d.count())...)
	}
	return out
}

// Speed is the node's speed, 0 where it is not set.
func (v *NodeView) Speed() float64 { return v.measure(0) }

// ProcSpeed is the speed of its processors.
func (v *NodeView) ProcSpeed() float64 { return v.measure(1) }

// Load is the load that was measured on it.
func (v *NodeView) Load() float64 { return v.measure(2) }

// Usage is its usage as declared.
func (v *NodeView) Usage() float64 { return v.measure(3) }

// measure is one of nodeMeasures.
func (v *NodeView) measure(i int) float64 {
	v.tail()
	if v.set&(1<<i) == 0 {
		return 0
	}
	at := v.measures + 8*bits.OnesCount8(v.set&(1<<i-1))
	return math.Float64frombits(binary.LittleEndian.Uint64(v.texts.payload[at:]))
}

// Resource finds the node's value of a resource: a text or a number.
func (v *NodeView) Resource(id index.ResID) (text []byte, num int64, ok bool) {
	v.tail()
	d := decoder{b: v.texts.payload[v.res:]}
	for range d.count() {
		is, text, num := index.ResID(d.uint()), d.take(d.count()), d.int()
		if is >= id { // they come by number
			return text, num, is == id
		}
	}
	return nil, 0, false
}

// Node reads the whole of the node.
func (v *NodeView) Node() (*index.Node, error) { return DecodeNode(Key32(v.number), v.texts.payload) }
