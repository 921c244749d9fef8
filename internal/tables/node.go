package tables

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/query/values"
)

// nodeCursor iterates over nodes. It reads a row only as far as the columns need.
type nodeCursor struct {
	t    *nodeTable
	rows chosen
	node row.NodeView
	err  error

	known bool // the fields below are known
	jobs  int
	inUse bool
	next  int64 // when it is next taken; 0 for never
}

func (r *nodeCursor) Next() bool {
	if r.err != nil {
		return false
	}
	var ok bool
	if ok, r.err = r.rows.next(row.Key32, "node"); !ok {
		return false
	}
	r.known = false
	r.err = r.node.Open(r.rows.Key, r.rows.Payload)
	return r.err == nil
}

func (r *nodeCursor) Err() error {
	if r.err == nil {
		r.err = r.node.Err()
	}
	if r.err != nil {
		return r.err
	}
	return r.rows.Err
}

func (r *nodeCursor) Column(i int) values.Value { return r.t.gets[i](r) }

// Code returns the node's number, for its name.
func (r *nodeCursor) Code(int) uint32 { return r.node.Number() }

// word returns a text, or NULL for an empty one.
func (r *nodeCursor) word(b []byte) values.Value {
	if len(b) == 0 {
		return values.Value{}
	}
	return values.String(r.t.c.word(b))
}

// resource finds a resource's value.
func (r *nodeCursor) resource(def index.Def) values.Value {
	text, num, ok := r.node.Resource(def.ID)
	if !ok {
		return resourceOf(def, index.Value{}, false)
	}
	v := index.Value{Num: num}
	if len(text) > 0 {
		v.Str = r.t.c.word(text)
	}
	return resourceOf(def, v, true)
}

func (r *nodeCursor) state() values.Value {
	if s := r.node.State(); s != index.Up {
		return values.String(s.NotUp().String())
	}
	return values.String(r.t.states().of(r.node.Number()).String())
}

// look finds what is on the node at the table's instant.
func (r *nodeCursor) look() {
	if r.known {
		return
	}
	r.known, r.jobs, r.inUse, r.next = true, 0, false, 0
	cal := r.t.c.src.Calendar()
	for _, b := range cal.At(r.node.Number()) {
		switch {
		case onAt(cal, b, r.t.at):
			r.inUse = true
			if !b.Claim {
				r.jobs++
			}
		case b.Start > r.t.at && r.next == 0: // they are sorted by start
			r.next = b.Start
		}
	}
}

func (r *nodeCursor) up() bool { return r.node.State() == index.Up }

// freeUntil returns when a free node is next taken.
func (r *nodeCursor) freeUntil() values.Value {
	if r.look(); r.inUse || !r.up() {
		return values.Value{}
	}
	return timeValue(r.next)
}

// left returns how much of a resource jobs could have: all on a free node, and nothing on one
// that is not up or is taken whole.
func (r *nodeCursor) left(def index.Def) values.Value {
	has := r.resource(def)
	if has.IsNull() {
		return has
	}
	if number := r.node.Number(); def.ID == index.NCPUs && r.t.sorted() && int(number) < len(r.t.eachState) {
		switch r.t.eachState[number] { // jobs can have nothing of a busy node
		case index.NodeFree:
			return has
		case index.NodePartly:
		default:
			return resourceOf(def, index.Value{}, true)
		}
	}
	r.look()
	switch {
	case !r.up():
		return resourceOf(def, index.Value{}, true)
	case !r.inUse:
		return has
	}
	n, err := r.node.Node()
	if err != nil {
		r.err = err
		return values.Value{}
	}
	v := index.Value{}
	for _, a := range r.t.c.src.Left(n, r.t.at) {
		if a.Res == def.ID {
			v = a.Value
		}
	}
	return resourceOf(def, v, true)
}
