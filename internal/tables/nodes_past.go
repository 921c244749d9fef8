package tables

import (
	"fmt"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// nodesPast is the table of nodes as they were at a recorded instant. It has the columns of
// nodes, but knows nothing without reading them.
type nodesPast struct {
	now   *nodeTable // the table with the columns
	at    int64
	was   *nodes.PastNodes
	taken map[uint32]*takenThen
	gets  []func(*pastCursor) values.Value
}

// takenThen is what was taken of a node at an instant.
type takenThen struct {
	jobs    int
	whole   bool // by a job that had it exclusively
	amounts map[index.ResID]int64
}

func nodesPastTable(c *Catalog, at int64) (tables.Table, error) {
	if at < c.src.NodesSince {
		return nil, conflict(fmt.Sprintf("table nodes: AT %s is past, and what nodes were is on record since %s",
			row.Stamp(at), row.Stamp(c.src.NodesSince)))
	}
	now, err := nodesTable(c, c.src.Now)
	if err != nil {
		return nil, err
	}
	t := &nodesPast{now: now.(*nodeTable), at: at}
	if t.was, err = nodes.NodesAt(c.src.Rows, at); err != nil {
		return nil, err
	}
	for i := range t.now.columns {
		t.gets = append(t.gets, t.getter(&t.now.columns[i]))
	}
	return t, nil
}

// getter returns the function for a column's value for a past node.
func (t *nodesPast) getter(col *nodeGetter) func(*pastCursor) values.Value {
	null := func(*pastCursor) values.Value { return values.Value{} }
	switch {
	case col.Name == "load" || col.Name == "bucket":
		return null // they were not recorded
	case col.Name == "state":
		return func(r *pastCursor) values.Value { return values.String(r.state().String()) }
	case col.Name == "jobs":
		return func(r *pastCursor) values.Value { return values.Int(int64(r.taken().jobs)) }
	case col.Name == "free_until":
		return null
	case col.left.Name != "":
		return func(r *pastCursor) values.Value { return r.left(col.left) }
	}
	return func(r *pastCursor) values.Value { return col.get(&r.node) }
}

// Columns returns the columns of nodes. Values that are not recorded may be NULL.
func (t *nodesPast) Columns() []tables.Column {
	out := slices.Clone(t.now.Columns())
	for i := range out {
		if out[i].Name == "load" || out[i].Name == "bucket" {
			out[i].NotNull = false
		}
	}
	return out
}

// Scan reads the past nodes by number.
func (t *nodesPast) Scan(*roaring.Bitmap) tables.Cursor {
	r := &pastCursor{t: t, node: nodeCursor{t: t.now}, numbers: roaring.New()}
	r.numbers.Or(t.now.All())
	for number, n := range t.was.Changed {
		r.numbers.Remove(number)
		if n != nil {
			r.numbers.Add(number)
		}
	}
	r.rest = r.numbers.Iterator()
	return r
}

// pastCursor iterates over past nodes.
type pastCursor struct {
	t       *nodesPast
	numbers *roaring.Bitmap
	rest    roaring.IntPeekable
	node    nodeCursor
	is      *index.Node // decoded, once needed
	err     error
}

func (r *pastCursor) Next() bool {
	if r.err != nil || !r.rest.HasNext() {
		return false
	}
	number := r.rest.Next()
	key := row.Key32(number)
	var payload []byte
	if r.is = r.t.was.Changed[number]; r.is != nil {
		payload = row.EncodeNode(r.is)
	} else if payload, r.err = r.t.now.c.src.Rows.Get(row.Nodes, key); r.err == nil && payload == nil {
		r.err = fmt.Errorf("%w: node %d is missing", row.ErrDamaged, number)
	}
	if r.err == nil {
		r.err = r.node.node.Open(key, payload)
	}
	return r.err == nil
}

func (r *pastCursor) Column(i int) values.Value { return r.t.gets[i](r) }

func (r *pastCursor) Err() error {
	if r.err == nil {
		r.err = r.node.node.Err()
	}
	return r.err
}

// taken returns what was taken of the node.
func (r *pastCursor) taken() *takenThen {
	if r.t.taken == nil {
		if r.t.taken = make(map[uint32]*takenThen); r.err == nil {
			r.err = r.t.take()
		}
	}
	if taken := r.t.taken[r.node.node.Number()]; taken != nil {
		return taken
	}
	return new(takenThen)
}

// whole returns the whole node.
func (r *pastCursor) whole() *index.Node {
	if r.is == nil {
		n, err := r.node.node.Node()
		if r.is = n; err != nil && r.err == nil {
			r.err = err
		}
	}
	return r.is
}

func (r *pastCursor) state() index.NodeState {
	if s := r.node.node.State(); s != index.Up {
		return s.NotUp()
	}
	taken := r.taken()
	switch {
	case !taken.whole && taken.amounts == nil:
		return index.NodeFree
	case taken.whole:
		return index.NodeBusy
	}
	n, left := r.whole(), []index.Amount(nil)
	for _, a := range n.Res {
		if def, ok := r.t.now.ix.Defs().Get(a.Res); ok && def.Consumable {
			left = append(left, index.Amount{Res: a.Res, Value: index.Value{Num: a.Value.Num - taken.amounts[a.Res]}})
		}
	}
	if placer.Partly(n, left) {
		return index.NodePartly
	}
	return index.NodeBusy
}

// left returns how much of a resource jobs could have had.
func (r *pastCursor) left(def index.Def) values.Value {
	_, num, ok := r.node.node.Resource(def.ID)
	if !ok {
		return values.Value{}
	}
	taken := r.taken()
	if r.node.node.State() != index.Up || taken.whole {
		num = 0
	}
	return resourceOf(def, index.Value{Num: max(0, num-taken.amounts[def.ID])}, true)
}

// take finds what was taken of the nodes: by jobs that have not ended, or ended later, and by
// existing reservations.
func (t *nodesPast) take() error {
	c := t.now.c
	numbers, err := c.jobsAfter(t.at)
	if err != nil {
		return err
	}
	for _, number := range numbers {
		key := row.Key64(number)
		payload, err := c.src.Rows.Get(row.Jobs, key)
		if err != nil {
			return err
		}
		j, err := row.DecodeJob(key, payload)
		if err != nil {
			return err
		}
		if err := t.takenBy(j); err != nil {
			return err
		}
	}
	return c.src.Rows.Each(row.Reservations, nil, func(key, payload []byte) (bool, error) {
		r, err := row.ReservationRow.Decode(key, payload)
		if err != nil || r.Start > t.at || r.End <= t.at {
			return true, err
		}
		for i, node := range r.Nodes {
			use := r.Span(i).Use
			if use == nil {
				t.of(node).whole = true
				continue
			}
			for _, a := range use.Amounts {
				t.of(node).amounts[index.ResID(a.Quantity)] += a.N
			}
		}
		return true, nil
	})
}

func (t *nodesPast) of(node uint32) *takenThen {
	if t.taken[node] == nil {
		t.taken[node] = &takenThen{amounts: make(map[index.ResID]int64)}
	}
	return t.taken[node]
}

// takenBy adds what a job had taken.
func (t *nodesPast) takenBy(j *row.Job) error {
	for number := 1; number <= j.CurrentAttempt(); number++ {
		list, err := t.now.c.attemptNodes(j, number)
		if err != nil {
			return err
		}
		on := make(map[uint32]bool)
		for _, h := range list {
			if h.attempt.Began > t.at || h.attempt.Ended > 0 && h.attempt.Ended <= t.at {
				break
			}
			taken := t.of(h.node)
			if on[h.node] = true; h.chunk < 0 {
				taken.whole = true // taken along with its host
				continue
			}
			chunk := h.attempt.Chunks[h.chunk]
			at := slices.IndexFunc(chunk.Nodes, func(n row.JobNode) bool { return n.Node == h.node })
			taken.whole = taken.whole || !chunk.Nodes[at].Shared
			if chunk.Nodes[at].Within == 0 { // otherwise its reservation counts it
				for id, n := range h.amounts {
					taken.amounts[id] += n
				}
			}
		}
		for node := range maps.Keys(on) {
			t.of(node).jobs++
		}
	}
	return nil
}
