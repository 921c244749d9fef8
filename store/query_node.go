package store

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/query"
)

// The texts of a node's row, in their order.
const (
	nodeNameField = iota
	nodeQueueField
	nodeReasonField
	nodeAccessField
	nodePriorityFField
	nodeTexts
)

// nodeCursor goes through nodes. A row is read only as far as the columns that are
// asked for.
type nodeCursor struct {
	t      *nodes
	rows   *rowCursor
	only   roaring.IntPeekable
	number uint32
	row    []byte
	err    error

	read  int // how many of the texts are known
	at    int // where the next one is in the row
	texts [nodeTexts]part

	behind  bool // the features and what follows are known
	feature part
	set     byte // which of the measures are there,
	measure int  // from where on
	res     int  // where the resources are

	known bool // what is on it, and when that changes
	jobs  int
	inUse bool
	next  int64 // when it is next taken, 0 for never
}

func (r *nodeCursor) Next() bool {
	if r.err != nil {
		return false
	}
	if r.only == nil {
		if !r.rows.next() {
			return false
		}
	} else {
		if !r.only.HasNext() {
			return false
		}
		number := r.only.Next()
		if key := key32(number); !r.rows.seek(key) || string(r.rows.key) != string(key) {
			if r.err = r.rows.err; r.err == nil {
				r.err = fmt.Errorf("%w: node %d has no row", ErrDamaged, number)
			}
			return false
		}
	}
	if r.row = r.rows.payload; len(r.row) < nodeHeadSize || len(r.rows.key) != 4 {
		r.err = fmt.Errorf("%w: node row %x is short", ErrDamaged, r.rows.key)
		return false
	}
	r.number = binary.BigEndian.Uint32(r.rows.key)
	r.read, r.at, r.behind, r.known = 0, nodeHeadSize, false, false
	return true
}

func (r *nodeCursor) Err() error {
	if r.err != nil {
		return r.err
	}
	return r.rows.err
}

func (r *nodeCursor) Column(i int) query.Value { return r.t.gets[i](r) }

// Code is the node's number, for its name.
func (r *nodeCursor) Code(int) uint32 { return r.number }

// head reads a fixed number of the row's head.
func (r *nodeCursor) head(at int) uint32 { return binary.LittleEndian.Uint32(r.row[at:]) }

// part is bytes from..to of a row.
type part struct{ from, to int }

// text reads one of the texts.
func (r *nodeCursor) text(field int) []byte {
	r.find(field)
	p := r.texts[field]
	return r.row[p.from:p.to]
}

// find makes out where the texts up to one are.
func (r *nodeCursor) find(field int) {
	row, at := r.row, r.at
	for r.read <= field && at < len(row) && row[at] < 0x80 && at+int(row[at]) < len(row) { // most are that short
		end := at + 1 + int(row[at])
		r.texts[r.read] = part{at + 1, end}
		r.read++
		at = end
	}
	for r.at = at; r.read <= field; r.read++ {
		n := r.length()
		r.texts[r.read] = part{r.at, r.at + n}
		r.at += n
	}
}

// length reads the length of what follows, or how many.
func (r *nodeCursor) length() int {
	n, size := binary.Uvarint(r.row[r.at:])
	if size <= 0 || n > uint64(len(r.row)-r.at-size) {
		r.damaged()
		return 0
	}
	r.at += size
	return int(n)
}

func (r *nodeCursor) damaged() {
	r.at = len(r.row)
	if r.err == nil {
		r.err = fmt.Errorf("%w: node row %d cannot be decoded", ErrDamaged, r.number)
	}
}

func (r *nodeCursor) word(field int) query.Value {
	b := r.text(field)
	if len(b) == 0 {
		return query.Value{}
	}
	return query.String(r.t.c.word(b))
}

// tail finds features, measures and resources.
func (r *nodeCursor) tail() {
	if r.behind {
		return
	}
	r.behind = true
	r.find(nodeTexts - 1)
	r.feature.from = r.at
	for range r.length() {
		r.at += r.length()
	}
	r.feature.to = r.at
	if r.set = 0; r.at < len(r.row) {
		r.set = r.row[r.at]
		r.at++
	}
	r.measure = r.at
	if r.res = r.at + 8*bits.OnesCount8(r.set); r.res > len(r.row) {
		r.set, r.res = 0, len(r.row)
		r.damaged()
	}
}

// measured is one of the four measures.
func (r *nodeCursor) measured(i int) float64 {
	r.tail()
	if r.set&(1<<i) == 0 {
		return 0
	}
	at := r.measure + 8*bits.OnesCount8(r.set&(1<<i-1))
	return math.Float64frombits(binary.LittleEndian.Uint64(r.row[at:]))
}

func (r *nodeCursor) features() query.Value {
	r.tail()
	d := decoder{b: r.row[r.feature.from:r.feature.to]}
	var out []byte
	for i := range d.count() {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, d.take(d.count())...)
	}
	if len(out) == 0 {
		return query.Value{}
	}
	return query.String(r.t.c.word(out))
}

// resource finds a resource's value.
func (r *nodeCursor) resource(def index.Def) query.Value {
	r.tail()
	d := decoder{b: r.row[r.res:]}
	for range d.count() {
		id, text, num := index.ResID(d.uint()), d.take(d.count()), d.int()
		if id < def.ID {
			continue
		}
		if id > def.ID {
			break
		}
		v := index.Value{Num: num}
		if len(text) > 0 {
			v.Str = r.t.c.word(text)
		}
		return resourceOf(def, v, true)
	}
	return resourceOf(def, index.Value{}, false)
}

func (r *nodeCursor) state() query.Value {
	if s := index.State(r.row[1]); s != index.Up {
		return query.String(notUpState(s).String())
	}
	return query.String(r.t.states().of(r.number).String())
}

// look finds out what is on the node at the table's instant.
func (r *nodeCursor) look() {
	if r.known {
		return
	}
	r.known, r.jobs, r.inUse, r.next = true, 0, false, 0
	cal := r.t.c.tx.Calendar()
	for _, b := range cal.At(r.number) {
		switch {
		case onAt(cal, b, r.t.at):
			r.inUse = true
			if !b.Claim {
				r.jobs++
			}
		case b.Start > r.t.at && r.next == 0: // they come by start
			r.next = b.Start
		}
	}
}

func (r *nodeCursor) up() bool { return index.State(r.row[1]) == index.Up }

// freeUntil is when a node that is free is next taken.
func (r *nodeCursor) freeUntil() query.Value {
	if r.look(); r.inUse || !r.up() {
		return query.Value{}
	}
	return timeValue(r.next)
}

// left is how much of a resource jobs could have: all of a node that is free, nothing
// of one that is not up or taken whole.
func (r *nodeCursor) left(def index.Def) query.Value {
	has := r.resource(def)
	if has.IsNull() {
		return has
	}
	r.look()
	switch {
	case !r.up():
		return resourceOf(def, index.Value{}, true)
	case !r.inUse:
		return has
	}
	n, err := decodeNode(key32(r.number), r.row)
	if err != nil {
		r.err = err
		return query.Value{}
	}
	v := index.Value{}
	for _, a := range r.t.c.tx.leftAt(n, r.t.at) {
		if a.Res == def.ID {
			v = a.Value
		}
	}
	return resourceOf(def, v, true)
}
