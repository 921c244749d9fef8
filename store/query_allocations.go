package store

import (
	"encoding/binary"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/query"
)

// allocations is the table of what jobs that run or are planned have of nodes: a row
// for each chunk and node. It is read out of the jobs, a job's row only as far as its
// nodes; it finds those of a job by the job, and those of a node by the calendar.
type allocations struct {
	c       *queryCatalog
	at      int64 // of those under way then only, where that is not now
	columns []getter[allocationCursor]
	gets    []func(*allocationCursor) query.Value // of the columns, one after the other
	chunks  map[string][]placer.Chunk             // by select
}

func allocationsTable(c *queryCatalog, at int64) (query.Table, error) {
	defs, err := c.tx.Resources()
	if err != nil {
		return nil, err
	}
	t := &allocations{c: c, at: at, chunks: make(map[string][]placer.Chunk), columns: []getter[allocationCursor]{
		intColumn("job", "its number", func(r *allocationCursor) int64 { return int64(r.id) }),
		valueColumn("chunk", "of the select, from 0 on; NULL for a node that is taken along with its host", query.IntegerAffinity, query.NoUnit, (*allocationCursor).chunkValue),
		valueColumn("node", "its name", query.TextAffinity, query.NoUnit, func(r *allocationCursor) query.Value { return query.String(c.nodeName(r.node)) }),
		timeColumn("start", "when the job began, or is to", func(r *allocationCursor) int64 { return r.start }),
		timeColumn("end", "when it is expected to end", func(r *allocationCursor) int64 { return r.end }),
	}}
	t.columns[2].Domain = nodeDomain
	for _, def := range defs.All() {
		if def.Consumable {
			a, u := resourceType(def.Type)
			t.columns = append(t.columns, valueColumn(def.Name, "how much of "+def.Name+" the job asked for there", a, u,
				func(r *allocationCursor) query.Value { return r.amount(def) }))
		}
	}
	for _, col := range t.columns {
		t.gets = append(t.gets, col.get)
	}
	return t, nil
}

func (t *allocations) Columns() []query.Column { return columnsOf(t.columns) }

// Size guesses: a few nodes for each job that there has been, and one for each node.
func (t *allocations) Size() int { return 4*int(t.c.tx.state.nextJob) + int(t.c.tx.state.nextNode) }

// Scan goes through the jobs.
func (t *allocations) Scan(*roaring.Bitmap) query.Cursor {
	return &allocationCursor{t: t, jobs: t.c.tx.rowCursor(tableJobs), only: -1}
}

// Order is the number of the job.
func (t *allocations) Order() int { return 0 }

// Range goes through the jobs whose numbers are from..to.
func (t *allocations) Range(from, to int64) query.Cursor {
	return &allocationCursor{t: t, jobs: t.c.tx.numberRange(tableJobs, from, to), only: -1}
}

// Lookup finds the allocations of a job, or those of a node.
func (t *allocations) Lookup(column int, v query.Value) (query.Cursor, bool) {
	c := &allocationCursor{t: t, only: -1, listed: true}
	switch t.columns[column].Name {
	case "job":
		if v.Kind() == query.Integer && v.Int64() > 0 {
			c.list = []uint64{uint64(v.Int64())}
		}
	case "node":
		if v.IsNull() {
			break
		}
		number, ok, err := t.c.tx.NodeNumber(v.String())
		if c.err = err; ok {
			c.only = int64(number)
			for _, b := range t.c.tx.Calendar().At(number) {
				if !isReservation(b.Owner) {
					c.list = append(c.list, b.Owner>>1)
				}
			}
		}
	default:
		return nil, false
	}
	return c, true
}

// allocationCursor goes through jobs, and the nodes of each.
type allocationCursor struct {
	t      *allocations
	jobs   *rowCursor // of all, or
	list   []uint64   // of these
	listed bool
	only   int64 // the node, -1 for all
	err    error

	id         uint64
	start, end int64
	selected   []byte
	wanted     []placer.Chunk // the same read, once it is asked for
	d          decoder        // at the chunks, then behind the node at hand
	chunk      int            // that of the node at hand
	chunks     int
	left       int // nodes of the chunk to come
	node       uint32
	count      int64 // how many of the chunk are on the node
	along      int   // nodes taken along to come; -1 while there are chunks
}

func (r *allocationCursor) Next() bool {
	for r.err == nil {
		if !r.nextNode() && !r.nextJob() {
			return false
		}
		if r.id != 0 && r.count >= 0 && (r.only < 0 || r.only == int64(r.node)) {
			return true
		}
	}
	return false
}

func (r *allocationCursor) Err() error {
	if r.err == nil && r.jobs != nil {
		return r.jobs.err
	}
	return r.err
}

func (r *allocationCursor) Column(i int) query.Value { return r.t.gets[i](r) }

// Code is the node's number, for its name.
func (r *allocationCursor) Code(int) uint32 { return r.node }

// nextJob begins a job; its first node is yet to come.
func (r *allocationCursor) nextJob() bool {
	for {
		var key, row []byte
		if r.listed {
			if len(r.list) == 0 {
				return false
			}
			key = key64(r.list[0])
			r.list = r.list[1:]
			if row, r.err = r.t.c.tx.get(tableJobs, key); r.err != nil {
				return false
			}
		} else {
			if !r.jobs.next() {
				return false
			}
			key, row = r.jobs.key, r.jobs.payload
		}
		if len(row) > 2 && len(key) == 8 && (JobState(row[1]) == JobRunning || JobState(row[1]) == JobReserved) {
			if r.open(binary.BigEndian.Uint64(key), row); r.t.wants(JobState(row[1]), r.start, r.end) {
				return true
			}
		}
	}
}

// wants reports whether a job is under way at the table's instant.
func (t *allocations) wants(s JobState, start, end int64) bool {
	now := t.c.tx.now
	if t.at == now {
		return true
	}
	if s == JobRunning && end <= now {
		end = now + overdueGrace
	}
	return start <= t.at && end > t.at
}

// open reads a job's row up to its chunks.
func (r *allocationCursor) open(id uint64, row []byte) {
	d := decoder{b: row[2:]}
	d.int()
	d.int()
	r.id, r.start, r.end = id, d.int(), d.int()
	for i := range jobTexts {
		text := d.take(d.count())
		if i == jobSelectText {
			r.selected = text
		}
	}
	r.wanted = nil
	r.chunk, r.chunks, r.left, r.along, r.node, r.count = -1, d.count(), 0, -1, 0, -1
	if row[0] < 2 {
		r.along = -2 // that version took none along
	}
	r.d = d
}

// What a job's row has before its chunks: so many texts, the select among them.
const (
	jobTexts      = 12
	jobSelectText = 6
)

// nextNode goes to the next node of the job at hand.
func (r *allocationCursor) nextNode() bool {
	for r.id != 0 && r.left == 0 && r.chunk+1 < r.chunks {
		r.chunk++
		r.d.uint()
		r.left, r.node = r.d.count(), 0
	}
	switch {
	case r.id == 0:
		return false
	case r.left > 0:
		if r.only >= 0 {
			r.pass()
		}
		r.left--
		if b := r.d.b; len(b) >= 2 && b[0] < 0x80 && b[1] < 0x80 { // most are that short
			r.node += shortDelta(b[0])
			r.count, r.d.b = int64(b[1]), b[2:]
			return true
		}
		r.node = uint32(int64(r.node) + r.d.int())
		r.count = int64(r.d.uint())
	case r.along == -2 || r.along == 0:
		return false
	default:
		if r.along < 0 {
			r.d.take(r.d.count()) // its group
			r.d.byte()
			r.d.take(r.d.count())
			for range r.d.count() {
				r.d.take(r.d.count())
			}
			if r.along = r.d.count(); r.along == 0 {
				return false
			}
		}
		r.along--
		r.node, r.count, r.chunk = uint32(r.d.uint()), 0, r.chunks
	}
	if r.d.bad {
		r.err = fmt.Errorf("%w: the row of job %d cannot be decoded", ErrDamaged, r.id)
		return false
	}
	return true
}

// pass steps over nodes of the chunk that are not the one that is wanted, but for the
// last.
func (r *allocationCursor) pass() {
	b, node, left := r.d.b, r.node, r.left
	for left > 1 && len(b) >= 2 && b[0] < 0x80 && b[1] < 0x80 {
		next := node + shortDelta(b[0])
		if int64(next) == r.only {
			break
		}
		node, b, left = next, b[2:], left-1
	}
	r.d.b, r.node, r.left = b, node, left
}

// shortDelta is the distance to the next node, where one byte holds it.
func shortDelta(b byte) uint32 { return uint32(int32(b>>1) ^ -int32(b&1)) }

func (r *allocationCursor) chunkValue() query.Value {
	if r.chunk >= r.chunks {
		return query.Value{}
	}
	return query.Int(int64(r.chunk))
}

// amount is how much of a consumable the job's chunks ask for on the node.
func (r *allocationCursor) amount(def index.Def) query.Value {
	if r.chunk >= r.chunks {
		return query.Value{}
	}
	if r.wanted == nil {
		r.parse()
	}
	if r.chunk < len(r.wanted) {
		for i := range r.wanted[r.chunk].Wants {
			d := &r.wanted[r.chunk].Wants[i]
			if d.Res == def.ID {
				return resourceOf(def, index.Value{Num: d.Value.Num * r.count}, true)
			}
		}
	}
	return query.Value{}
}

// parse reads the job's select. Many jobs have the same.
func (r *allocationCursor) parse() {
	chunks, ok := r.t.chunks[string(r.selected)]
	if !ok {
		var err error
		if chunks, err = placer.ParseSelect(r.t.c.tx.loaded.defs, string(r.selected)); err != nil && r.err == nil {
			r.err = fmt.Errorf("%w: job %d has the select %q", ErrDamaged, r.id, r.selected)
		}
		r.t.chunks[string(r.selected)] = chunks
	}
	r.wanted = chunks
}
