package row

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/placectl/placectl/index"
)

const nodeVersion = 1

// nodeHeadSize is the size of the fixed part in front: version, state, bucket, priority.
const nodeHeadSize = 10

// The texts after the head, in order.
const (
	nodeName = iota
	nodeQueue
	nodeReason
	nodeAccess
	nodePriorityF
	nodeTexts
)

func nodeFields(f *Fields, n *index.Node) {
	nodeHead(f, n)
	nodeDeviceFields(f, n)
}

// nodeHead is a node without its devices.
func nodeHead(f *Fields, n *index.Node) {
	f.Version(nodeVersion)
	KeyPart(f, "number", 0, 4, 4, &n.Number)
	Byte(f, "state", &n.State)
	Fixed(f, "bucket", &n.Bucket)
	Fixed(f, "priority", &n.Priority)
	f.aloneText("name", &n.Name)
	f.Word("queue", &n.Queue)
	f.aloneText("reason", &n.Reason)
	accessWordField(f, &n.Access)
	f.Word("priorityF", &n.PriorityF)
	for i := range Again(f, "features", &n.Features) {
		f.Word("", &n.Features[i])
		f.Next()
	}
	measureFields(f, n)
	for i := range Again(f, "res", &n.Res) {
		a := &n.Res[i]
		Uint(f, "res", &a.Res)
		f.Word("value.str", &a.Value.Str)
		Int(f, "value.num", &a.Value.Num)
		f.Next()
	}
	if f.More(true) { // rows from before sharing end here
		Byte(f, "sharing", &n.Sharing)
	}
	if f.dir == reading {
		n.Lessened = true
	}
	if f.More(true) { // so do rows of formats without devices
		f.Bool("lessened", &n.Lessened)
	}
	f.Bound(n.Sharing.Valid())
}

// accessWordField is an access policy as a word, empty for shared. Documents have its number.
func accessWordField(f *Fields, a *index.Access) {
	word := ""
	switch {
	case !f.bytes():
		numberAside(f, "access", a)
		return
	case f.dir == writing && *a != index.AccessShared:
		word = a.String()
	}
	if f.Word("", &word); f.dir == reading {
		var err error
		*a, err = index.ParseAccess(word)
		f.Must(err == nil)
	}
}

// measureFields lists the measures that are not 0, after a byte that says which.
func measureFields(f *Fields, n *index.Node) {
	set, names := byte(0xff), [...]string{"speed", "procSpeed", "load", "usage"}
	list := [...]*float64{&n.Speed, &n.ProcSpeed, &n.Load, &n.Usage}
	if f.dir == writing {
		set = 0
		for i, v := range list {
			if *v != 0 {
				set |= 1 << i
			}
		}
	}
	f.raw(&set)
	for i, v := range list {
		if set&(1<<i) != 0 {
			f.Float(names[i], v)
		}
	}
}

// EncodeNode returns the row of a node.
func EncodeNode(n *index.Node) []byte { return encode(nodeFields, n) }

// ReadNodeOnly fills in a node like ReadNode, but without its devices, and returns the bytes
// of these.
func ReadNodeOnly(key, payload []byte, n *index.Node, words *Words) (devices []byte, err error) {
	f := Fields{dir: reading, b: payload, key: key, words: words}
	*n = index.Node{Features: n.Features[:0], Res: n.Res[:0]}
	nodeHead(&f, n)
	return f.b, f.done(Nodes)
}

// DecodeDevices reads the devices of a node, and the distances of their groups.
func DecodeDevices(key, part []byte, n *index.Node) error {
	f := Fields{dir: reading, b: part, key: key}
	nodeDeviceFields(&f, n)
	return f.done(Nodes)
}

// ReadTraits fills in what policies use: all of a node but its name and the reason why it is
// not up. Equal words share one string, and it reuses the node's slices.
func ReadTraits(key, payload []byte, n *index.Node, words *Words) error {
	f := Fields{dir: reading, b: payload, key: key, words: words, traits: true}
	*n = index.Node{Features: n.Features[:0], Res: n.Res[:0]}
	nodeHead(&f, n)
	return f.done(Nodes)
}

// aloneText is a text that hardly any two nodes share.
func (f *Fields) aloneText(name string, v *string) {
	if f.traits {
		f.take(f.count(0))
		return
	}
	f.Text(name, v)
}

// Word is a text that many rows have. Equal texts share one string.
func (f *Fields) Word(name string, v *string) {
	if f.dir == reading {
		*v = f.words.Of(f.take(f.count(0)))
		return
	}
	f.Text(name, v)
}

// DecodeNode reads the whole of a node.
func DecodeNode(key, payload []byte) (*index.Node, error) {
	n := new(index.Node)
	return n, ReadNode(key, payload, n, nil)
}

// ReadNode fills in the whole of a node. Equal words share one string, and it reuses the
// node's slices.
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

// Words returns equal words as one string. A nil Words allocates each.
type Words struct{ known map[string]string }

// maxWords is the most words that are kept.
const maxWords = 1 << 16

// Of returns the word for these bytes.
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

// NodeView reads single fields of a node's row in place. What it returns is valid as long as
// the row. One view may be opened on many rows, one after the other, until one is found to be
// damaged.
type NodeView struct {
	number uint32
	texts  texts

	behind   bool // the features and what follows are known
	features part
	set      byte // the measures that the row has
	measures int  // their offset
	res      int  // the offset of the resources
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

// Err returns ErrDamaged if a row was invalid.
func (v *NodeView) Err() error {
	if v.texts.bad {
		return fmt.Errorf("%w: node row %d cannot be decoded", ErrDamaged, v.number)
	}
	return nil
}

// Number returns the node's number.
func (v *NodeView) Number() uint32 { return v.number }

// State reports whether the node is up.
func (v *NodeView) State() index.State { return index.State(v.texts.payload[1]) }

// Bucket returns the number of the node's bucket.
func (v *NodeView) Bucket() uint32 { return binary.LittleEndian.Uint32(v.texts.payload[2:]) }

// Priority returns the node's priority.
func (v *NodeView) Priority() int32 { return int32(binary.LittleEndian.Uint32(v.texts.payload[6:])) }

// Name returns the node's name.
func (v *NodeView) Name() []byte { return v.texts.get(nodeName) }

// Queue returns the queue that owns the node.
func (v *NodeView) Queue() []byte { return v.texts.get(nodeQueue) }

// Reason returns why the node is not up.
func (v *NodeView) Reason() []byte { return v.texts.get(nodeReason) }

// Access returns the word of the node's access policy, empty for shared.
func (v *NodeView) Access() []byte { return v.texts.get(nodeAccess) }

// PriorityF returns the node's own PRIORITYF, or nothing.
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

// Features returns the node's features, joined by commas.
func (v *NodeView) Features() []byte {
	v.tail()
	d := Reader{B: v.texts.payload[v.features.from:v.features.to]}
	var out []byte
	for i := range d.Count() {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, d.Take(d.Count())...)
	}
	return out
}

// Speed returns the node's speed, or 0 if it is not set.
func (v *NodeView) Speed() float64 { return v.measure(0) }

// ProcSpeed returns the speed of its processors.
func (v *NodeView) ProcSpeed() float64 { return v.measure(1) }

// Load returns the node's measured load.
func (v *NodeView) Load() float64 { return v.measure(2) }

// Usage returns its declared usage.
func (v *NodeView) Usage() float64 { return v.measure(3) }

// measure returns one of the measures.
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
	d := Reader{B: v.texts.payload[v.res:]}
	for range d.Count() {
		is, text, num := index.ResID(d.Uint()), d.Take(d.Count()), d.Int()
		if is >= id { // they are sorted by number
			return text, num, is == id
		}
	}
	return nil, 0, false
}

// Node reads the whole of the node.
func (v *NodeView) Node() (*index.Node, error) { return DecodeNode(Key32(v.number), v.texts.payload) }
