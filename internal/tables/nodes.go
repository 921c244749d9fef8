package tables

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// nodeDomain is the domain of node names. Their codes are the nodes' numbers.
const nodeDomain = "node"

// nodeTable is the table of nodes at an instant. It answers from buckets without reading rows if it
// can: the queue, the priority and everything in the signature are the same for all nodes of a
// bucket. The buckets' bitmaps, and those of what shared nodes have left, tell the state of a node.
type nodeTable struct {
	c         *Catalog
	ix        *index.Index
	at        int64
	columns   []nodeGetter
	gets      []func(*nodeCursor) values.Value // the values of the columns
	described []tables.Column                  // the columns, once needed
	all       *roaring.Bitmap
	byState   *nodesByState     // of all nodes, made when a state is needed
	inPart    *roaring.Bitmap   // nodes that are partly in use now
	asked     int               // number of nodes whose free amounts were needed
	eachState []index.NodeState // by number, made when many are needed
}

// nodeGetter is a column of nodes. Its value comes from a row or, if it is the same for all
// nodes of a bucket, from the bucket.
type nodeGetter struct {
	tables.Column
	get    func(*nodeCursor) values.Value
	bucket func(*index.Bucket) values.Value // nil if buckets do not tell
	def    index.Def                        // of a resource's column
	left   index.Def                        // of the column of what is left
}

func nodesTable(c *Catalog, at int64) (tables.Table, error) {
	if c.nodes != nil && at == c.src.Now {
		return c.nodes, nil
	}
	ix, err := c.src.Index()
	if err != nil {
		return nil, err
	}
	t := &nodeTable{c: c, ix: ix, at: at, columns: nodeGetters()}
	t.resources()
	for i := range t.columns {
		t.gets = append(t.gets, t.columns[i].get)
	}
	if at == c.src.Now {
		c.nodes = t
	}
	return t, nil
}

func nodeGetters() []nodeGetter {
	text := func(name, doc string, get func(*nodeCursor) values.Value) nodeGetter {
		return nodeGetter{Column: tables.Column{Name: name, Type: values.TextAffinity, Doc: doc}, get: get}
	}
	number := func(name, doc string, a values.Affinity, u tables.Unit, get func(*nodeCursor) values.Value) nodeGetter {
		return nodeGetter{Column: tables.Column{Name: name, Type: a, Unit: u, NotNull: u != tables.Time, Doc: doc},
			get: get}
	}
	out := []nodeGetter{
		text("name", "name", func(r *nodeCursor) values.Value { return values.String(string(r.node.Name())) }),
		number("number", "position in declared order; never reused", values.IntegerAffinity, tables.NoUnit,
			func(r *nodeCursor) values.Value { return values.Int(int64(r.node.Number())) }),
		text("queue", "owning queue", func(r *nodeCursor) values.Value { return r.word(r.node.Queue()) }),
		number("priority", "nodes of higher priority are used first", values.IntegerAffinity, tables.NoUnit,
			func(r *nodeCursor) values.Value { return values.Int(int64(r.node.Priority())) }),
		text("state", "free (unused now), partly (in use with room left), busy, down, offline or drained",
			(*nodeCursor).state),
		text("reason", "why it is not in service", func(r *nodeCursor) values.Value { return r.word(r.node.Reason()) }),
		number("speed", "relative speed; 0: not set", values.RealAffinity, tables.NoUnit,
			func(r *nodeCursor) values.Value { return values.Float(r.node.Speed()) }),
		number("procspeed", "relative speed of one processor; 0: not set", values.RealAffinity, tables.NoUnit,
			func(r *nodeCursor) values.Value { return values.Float(r.node.ProcSpeed()) }),
		number("load", "measured number of busy processors", values.RealAffinity, tables.NoUnit,
			func(r *nodeCursor) values.Value { return values.Float(r.node.Load()) }),
		number("usage", "measured share of time it was busy", values.RealAffinity, tables.NoUnit,
			func(r *nodeCursor) values.Value { return values.Float(r.node.Usage()) }),
		text("access", "which jobs may share it; NULL: no rule of its own", func(r *nodeCursor) values.Value {
			return r.word(r.node.Access())
		}),
		text("features", "features, separated by commas; has(features, 'ssd') tests for one",
			func(r *nodeCursor) values.Value { return r.word(r.node.Features()) }),
		number("bucket", "its bucket of equal nodes", values.IntegerAffinity, tables.NoUnit,
			func(r *nodeCursor) values.Value { return values.Int(int64(r.node.Bucket())) }),
		number("jobs", "number of jobs running on it", values.IntegerAffinity, tables.NoUnit,
			func(r *nodeCursor) values.Value { r.look(); return values.Int(int64(r.jobs)) }),
		number("free_until", "when a free node is next taken; NULL: not free, or nothing planned",
			values.IntegerAffinity, tables.Time, (*nodeCursor).freeUntil),
	}
	out[0].NotNull, out[4].NotNull = true, true
	out[0].Domain = nodeDomain
	out[4].Refuse = nodeState
	for i := range out {
		switch out[i].Name {
		case "queue":
			out[i].bucket = func(b *index.Bucket) values.Value { return values.TextOrNull(b.Queue) }
		case "priority":
			out[i].bucket = func(b *index.Bucket) values.Value { return values.Int(int64(b.Priority)) }
		case "bucket":
			out[i].bucket = func(b *index.Bucket) values.Value { return values.Int(int64(b.ID)) }
		}
	}
	return out
}

// resources adds a column for each resource, then one for what is left of each consumable.
func (t *nodeTable) resources() {
	var free []nodeGetter
	defs := t.ix.Defs()
	for _, def := range defs.All() {
		if def.Directive || def.ID == index.Feature {
			continue
		}
		a, u := resourceType(def.Type)
		g := nodeGetter{Column: tables.Column{Name: def.Name, Type: a, Unit: u, NotNull: def.Type == index.Boolean,
			Doc: "resource of type " + def.Type.String()}, def: def}
		g.get = func(r *nodeCursor) values.Value { return r.resource(def) }
		if t.ix.Signed(def.ID) {
			g.bucket = func(b *index.Bucket) values.Value {
				v, ok := b.Get(def.ID)
				return resourceOf(def, v, ok)
			}
		}
		t.columns = append(t.columns, g)
		if _, clash := defs.Lookup(def.Name + "_free"); def.Consumable && !clash {
			left := nodeGetter{left: def, Column: tables.Column{Name: def.Name + "_free", Type: a, Unit: u,
				Doc: def.Name + " left for jobs"}}
			left.get = func(r *nodeCursor) values.Value { return r.left(def) }
			free = append(free, left)
		}
	}
	t.columns = append(t.columns, free...)
}

// resourceType returns the type and unit of a resource's column.
func resourceType(t index.Type) (values.Affinity, tables.Unit) {
	switch t {
	case index.Long:
		return values.IntegerAffinity, tables.NoUnit
	case index.Size:
		return values.IntegerAffinity, tables.Bytes
	case index.Float:
		return values.RealAffinity, tables.NoUnit
	case index.Boolean:
		return values.IntegerAffinity, tables.Truth
	}
	return values.TextAffinity, tables.NoUnit
}

// resourceOf returns a resource's value. An unset boolean is false.
func resourceOf(def index.Def, v index.Value, ok bool) values.Value {
	switch {
	case def.Type == index.Boolean:
		return values.Bool(ok && v.Num != 0)
	case !ok:
		return values.Value{}
	case def.Type == index.Long:
		return values.Int(v.Num)
	case def.Type == index.Size:
		return sizeValue(v.Num)
	case def.Type == index.Float:
		return values.Float(def.Units(v))
	}
	return values.String(v.Str)
}

// Columns describes the columns.
func (t *nodeTable) Columns() []tables.Column {
	if t.described == nil {
		t.described = make([]tables.Column, len(t.columns))
		for i := range t.columns {
			t.described[i] = t.columns[i].Column
		}
	}
	return t.described
}

// Count returns the number of nodes.
func (t *nodeTable) Count() int {
	n := 0
	for _, b := range t.ix.Buckets() {
		n += int(b.Total)
	}
	return n
}

// All returns the numbers of all nodes.
func (t *nodeTable) All() *roaring.Bitmap {
	if t.all == nil {
		t.all = t.union(index.None)
	}
	return t.all
}

// union returns the nodes of a class in all buckets.
func (t *nodeTable) union(class index.Class) *roaring.Bitmap {
	var parts []*roaring.Bitmap
	for _, b := range t.ix.Buckets() {
		parts = append(parts, t.ix.Nodes(b, class))
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return roaring.FastOr(parts...)
}

// Split splits by bucket, by state, or both; or by one word outside the signature.
func (t *nodeTable) Split(columns []int) (iter.Seq2[tables.Row, *roaring.Bitmap], bool) {
	byBucket, byState := false, false
	for _, i := range columns {
		switch col := &t.columns[i]; {
		case col.Name == "state":
			byState = true
		case col.bucket != nil:
			byBucket = true
		default:
			return t.splitWords(columns)
		}
	}
	return func(yield func(tables.Row, *roaring.Bitmap) bool) {
		row := &bucketRow{t: t}
		if !byBucket {
			for s, nodes := range t.states().in {
				if row.state = index.NodeState(s); !yield(row, nodes) {
					return
				}
			}
			return
		}
		for _, b := range t.ix.Buckets() {
			row.bucket = b
			nodes := t.ix.Nodes(b, index.None)
			if !byState {
				if !yield(row, nodes) {
					return
				}
				continue
			}
			for s, ofState := range t.states().in {
				part := roaring.And(nodes, ofState)
				if row.state = index.NodeState(s); !part.IsEmpty() && !yield(row, part) {
					return
				}
			}
		}
	}, true
}

// bucketRow holds the values shared by all nodes of a bucket and a state.
type bucketRow struct {
	t      *nodeTable
	bucket *index.Bucket
	state  index.NodeState
	word   values.Value // of splitWords
}

func (r *bucketRow) Column(i int) values.Value {
	switch col := &r.t.columns[i]; {
	case col.Name == "state":
		return values.String(r.state.String())
	case col.bucket != nil:
		return col.bucket(r.bucket)
	}
	return r.word
}

// splitWords splits by a string resource outside the signature.
func (t *nodeTable) splitWords(columns []int) (iter.Seq2[tables.Row, *roaring.Bitmap], bool) {
	first := &t.columns[columns[0]]
	for _, i := range columns {
		if i != columns[0] {
			return nil, false
		}
	}
	if first.def.Type != index.String || first.def.Unique || first.bucket != nil {
		return nil, false
	}
	return func(yield func(tables.Row, *roaring.Bitmap) bool) {
		row := &bucketRow{t: t}
		rest := t.All().Clone()
		for word, nodes := range t.ix.Words(first.def.ID) {
			rest.AndNot(nodes)
			if row.word = values.String(word); !yield(row, nodes) {
				return
			}
		}
		if row.word = (values.Value{}); !rest.IsEmpty() {
			yield(row, rest)
		}
	}, true
}

// Find finds by name, number and feature.
func (t *nodeTable) Find(f tables.Find) (*roaring.Bitmap, bool) {
	switch col := t.columns[f.Column].Name; {
	case f.Op == tables.FindHas && col == "features":
		return t.ix.With(index.Feature, f.Value.String()), true
	case f.Op == tables.FindPrefix && col == "name":
		return t.named(f.Value.String()), true
	case f.Op == tables.FindEqual && (col == "name" || col == "number"):
		out := roaring.New()
		if number, ok := t.number(col, f.Value); ok {
			out.Add(number)
		}
		return out, true
	}
	return nil, false
}

func (t *nodeTable) number(column string, v values.Value) (uint32, bool) {
	if column == "name" {
		number, ok, err := t.c.nodeNumber(v.String())
		t.c.fail(err)
		return number, ok
	}
	n := v.Int64()
	return uint32(n), v.Kind() == values.Integer && n >= 0 && n < math.MaxUint32 && t.All().Contains(uint32(n))
}

// named returns the nodes whose names have a prefix.
func (t *nodeTable) named(prefix string) *roaring.Bitmap {
	out := roaring.New()
	t.c.fail(t.c.src.Rows.Each(row.NodeNames, []byte(prefix), func(key, payload []byte) (bool, error) {
		if len(payload) != 5 {
			return false, fmt.Errorf("%w: node name %q", row.ErrDamaged, key)
		}
		out.Add(binary.BigEndian.Uint32(payload[1:]))
		return true, nil
	}))
	return out
}

// Lookup finds the node with a name or number.
func (t *nodeTable) Lookup(column int, v values.Value) (tables.Cursor, bool) {
	col := t.columns[column].Name
	if col != "name" && col != "number" {
		return nil, false
	}
	out := roaring.New()
	if v.IsNull() {
		return t.Scan(out), true
	}
	if number, ok := t.number(col, v); ok {
		out.Add(number)
	}
	return t.Scan(out), true
}

// Scan reads nodes by number.
func (t *nodeTable) Scan(rows *roaring.Bitmap) tables.Cursor {
	return &nodeCursor{t: t, rows: choose(t.c.src.Rows.Cursor(row.Nodes), rows)}
}
