package store

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/timeline"
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
	d     decoder
	texts [nodeTexts][]byte

	behind  bool // the features and what follows are known
	feature []byte
	numbers [4]float64
	res     []byte

	known bool
	occ   Occupancy
	class index.Class
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
	r.read, r.behind, r.known = 0, false, false
	r.d = decoder{b: r.row[nodeHeadSize:]}
	return true
}

func (r *nodeCursor) Err() error {
	if r.err != nil {
		return r.err
	}
	return r.rows.err
}

func (r *nodeCursor) Column(i int) query.Value { return r.t.columns[i].get(r) }

// Code is the node's number, for its name.
func (r *nodeCursor) Code(int) uint32 { return r.number }

// head reads a fixed number of the row's head.
func (r *nodeCursor) head(at int) uint32 { return binary.LittleEndian.Uint32(r.row[at:]) }

// text reads one of the texts.
func (r *nodeCursor) text(field int) []byte {
	for ; r.read <= field; r.read++ {
		r.texts[r.read] = r.d.take(r.d.count())
	}
	return r.texts[field]
}

func (r *nodeCursor) word(field int) query.Value {
	b := r.text(field)
	if len(b) == 0 {
		return query.Value{}
	}
	return query.String(r.t.c.word(b))
}

// tail reads features and measures, and finds the resources.
func (r *nodeCursor) tail() {
	if r.behind {
		return
	}
	for r.read < nodeTexts && len(r.d.b) > 0 && r.d.b[0] < 0x80 && int(r.d.b[0]) < len(r.d.b) { // short ones need no decoding
		n := 1 + int(r.d.b[0])
		r.texts[r.read], r.d.b = r.d.b[1:n], r.d.b[n:]
		r.read++
	}
	r.text(nodeTexts - 1)
	r.behind = true
	start := r.d.b
	for range r.d.count() {
		r.d.take(r.d.count())
	}
	r.feature = start[:len(start)-len(r.d.b)]
	set := r.d.byte()
	for i := range r.numbers {
		if r.numbers[i] = 0; set&(1<<i) != 0 {
			r.numbers[i] = r.d.float()
		}
	}
	r.res = r.d.b
	if r.d.bad && r.err == nil {
		r.err = fmt.Errorf("%w: node row %d cannot be decoded", ErrDamaged, r.number)
	}
}

func (r *nodeCursor) measure(i int) float64 {
	r.tail()
	return r.numbers[i]
}

func (r *nodeCursor) features() query.Value {
	r.tail()
	d := decoder{b: r.feature}
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
	d := decoder{b: r.res}
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
		return query.String(s.String())
	}
	return query.String(r.t.classes().of(r.number))
}

// occupancy is what is on the node at the table's instant.
func (r *nodeCursor) occupancy() *Occupancy {
	if r.known {
		return &r.occ
	}
	r.known, r.occ = true, Occupancy{}
	cal := r.t.c.tx.Calendar()
	next, on := int64(math.MaxInt64), false
	for _, b := range cal.At(r.number) {
		switch {
		case onAt(cal, b, r.t.at):
			on = true
			if !b.Claim {
				r.occ.Jobs++
			}
		case b.Start > r.t.at:
			next = min(next, b.Start)
		}
	}
	switch r.class = index.Free; {
	case on:
		r.class = index.Busy
	case next != math.MaxInt64:
		r.class = index.Later
		r.occ.FreeUntil = next
	}
	if index.State(r.row[1]) != index.Up {
		r.class = index.None
	}
	return &r.occ
}

// left is how much of a resource jobs could have: all of a node that is free, nothing
// of one that is not up or taken whole.
func (r *nodeCursor) left(def index.Def) query.Value {
	has := r.resource(def)
	if has.IsNull() {
		return has
	}
	r.occupancy()
	switch r.class {
	case index.Free, index.Later:
		return has
	case index.None:
		return resourceOf(def, index.Value{}, true)
	}
	n, err := decodeNode(key32(r.number), r.row)
	if err != nil {
		r.err = err
		return query.Value{}
	}
	quantities, capacity := placer.Consumables(r.t.ix.Defs(), n)
	peak := make([]int64, len(quantities))
	standing := r.t.c.tx.Calendar().Taken(r.number, r.t.at, r.t.at+1, nil, quantities, peak)
	v := index.Value{}
	for i, q := range quantities {
		if index.ResID(q) == def.ID && standing == timeline.Open {
			v.Num = max(0, capacity[i]-peak[i])
		}
	}
	return resourceOf(def, v, true)
}
