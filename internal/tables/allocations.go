package tables

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
	"github.com/placectl/placectl/timeline"
)

// allocations is the table of the nodes of running and planned jobs, with a row for each chunk
// and node. It reads the rows of jobs, only as far as their nodes. It finds the allocations of
// a job by the job, and those of a node by the calendar.
type allocations struct {
	c       *Catalog
	defs    *index.Defs
	at      int64 // only those under way then, if that is not now
	columns []getter[allocationCursor]
	gets    []func(*allocationCursor) values.Value // the values of the columns
	chunks  map[string][]placer.Chunk              // by select
}

func allocationsTable(c *Catalog, at int64) (tables.Table, error) {
	defs, err := c.src.Resources()
	if err != nil {
		return nil, err
	}
	t := &allocations{c: c, defs: defs, at: at, chunks: make(map[string][]placer.Chunk),
		columns: []getter[allocationCursor]{
			intColumn("job", "job number", func(r *allocationCursor) int64 { return int64(r.job.ID()) }),
			valueColumn("chunk", "number of the chunk in the select, from 0; NULL: a node taken along with its host",
				values.IntegerAffinity, tables.NoUnit, (*allocationCursor).chunkValue),
			valueColumn("node", "node name", values.TextAffinity, tables.NoUnit,
				func(r *allocationCursor) values.Value {
					return values.String(c.nodeName(r.nodes.Node))
				}),
			timeColumn("start", "actual or planned start of the job", func(r *allocationCursor) int64 {
				return r.job.Start()
			}),
			timeColumn("end", "expected end", func(r *allocationCursor) int64 { return r.job.End() }),
		}}
	t.columns[2].Domain = nodeDomain
	for _, def := range defs.All() {
		if def.Consumable {
			a, u := resourceType(def.Type)
			t.columns = append(t.columns, valueColumn(def.Name, def.Name+" that the job asked for there", a, u,
				func(r *allocationCursor) values.Value { return r.amount(def) }))
		}
	}
	for _, col := range t.columns {
		t.gets = append(t.gets, col.get)
	}
	return t, nil
}

func (t *allocations) Columns() []tables.Column { return columnsOf(t.columns) }

// Size estimates the rows: a few nodes for each job that has ever existed, and one for each
// node.
func (t *allocations) Size() int { return 4*int(t.c.src.NextJob) + int(t.c.src.NextNode) }

// Scan reads the jobs.
func (t *allocations) Scan(*roaring.Bitmap) tables.Cursor {
	return &allocationCursor{t: t, jobs: t.c.src.Rows.Cursor(row.Jobs), only: -1}
}

// Order returns the number of the job.
func (t *allocations) Order() int { return 0 }

// Range reads the jobs with the numbers from..to.
func (t *allocations) Range(from, to int64) tables.Cursor {
	return &allocationCursor{t: t, jobs: t.c.src.Rows.Numbers(row.Jobs, from, to), only: -1}
}

// Lookup finds the allocations of a job, or those of a node.
func (t *allocations) Lookup(column int, v values.Value) (tables.Cursor, bool) {
	c := &allocationCursor{t: t, only: -1, listed: true}
	switch t.columns[column].Name {
	case "job":
		if v.Kind() == values.Integer && v.Int64() > 0 {
			c.list = []uint64{uint64(v.Int64())}
		}
	case "node":
		if v.IsNull() {
			break
		}
		number, ok, err := t.c.nodeNumber(v.String())
		if c.err = err; ok {
			c.only = int64(number)
			t.c.named(number, v.String())
			for _, b := range t.c.src.Calendar().At(number) {
				if !row.IsReservation(b.Owner) {
					c.list = append(c.list, b.Owner>>1)
				}
			}
		}
	default:
		return nil, false
	}
	return c, true
}

// allocationCursor iterates over jobs, and the nodes of each.
type allocationCursor struct {
	t      *allocations
	jobs   *file.Cursor // of all, or
	list   []uint64     // of these
	listed bool
	only   int64 // this node; -1 for all
	err    error

	job    row.JobView
	nodes  row.JobNodes // the job's nodes, at the current one
	opened bool
	wanted []placer.Chunk // the job's request, once needed
}

func (r *allocationCursor) Next() bool {
	for r.err == nil {
		for r.opened && r.nodes.Next(r.only) {
			if r.only < 0 || r.only == int64(r.nodes.Node) {
				return true
			}
		}
		if r.err = r.nodes.Err(); r.err != nil || !r.nextJob() {
			return false
		}
	}
	return false
}

func (r *allocationCursor) Err() error {
	if r.err == nil && r.jobs != nil {
		return r.jobs.Err
	}
	return r.err
}

func (r *allocationCursor) Column(i int) values.Value { return r.t.gets[i](r) }

// Code returns the node's number, for its name.
func (r *allocationCursor) Code(int) uint32 { return r.nodes.Node }

// nextJob begins a job, before its first node.
func (r *allocationCursor) nextJob() bool {
	for {
		var key, payload []byte
		if r.listed {
			if len(r.list) == 0 {
				return false
			}
			key = row.Key64(r.list[0])
			r.list = r.list[1:]
			if payload, r.err = r.t.c.src.Rows.Get(row.Jobs, key); r.err != nil {
				return false
			}
		} else {
			if !r.jobs.Next() {
				return false
			}
			key, payload = r.jobs.Key, r.jobs.Payload
		}
		if r.job.Open(key, payload) == nil && r.t.wants(&r.job) {
			r.opened, r.nodes, r.wanted = true, r.job.Nodes(), nil
			return true
		}
	}
}

// wants reports whether a job has nodes, and is under way at the table's instant.
func (t *allocations) wants(j *row.JobView) bool {
	if s := j.State(); s != row.JobRunning && s != row.JobReserved {
		return false
	}
	if t.at == t.c.src.Now {
		return true
	}
	end := j.End()
	if j.State() == row.JobRunning { // past its end it is expected to continue for a while
		end = t.c.src.Calendar().End(timeline.Busy{End: end, Held: true, Owner: row.JobOwner(j.ID())})
	}
	return j.Start() <= t.at && end > t.at
}

func (r *allocationCursor) chunkValue() values.Value {
	if r.nodes.Chunk >= r.nodes.Chunks {
		return values.Value{}
	}
	return values.Int(int64(r.nodes.Chunk))
}

// amount returns how much of a consumable the job's chunks ask for on the node.
func (r *allocationCursor) amount(def index.Def) values.Value {
	if r.nodes.Chunk >= r.nodes.Chunks {
		return values.Value{}
	}
	if r.wanted == nil {
		r.parse()
	}
	if r.nodes.Chunk < len(r.wanted) {
		for i := range r.wanted[r.nodes.Chunk].Wants {
			d := &r.wanted[r.nodes.Chunk].Wants[i]
			if d.Res == def.ID {
				return resourceOf(def, index.Value{Num: d.Value.Num * r.nodes.Count}, true)
			}
		}
	}
	return values.Value{}
}

// parse parses the job's select. It caches the result, because many jobs have the same.
func (r *allocationCursor) parse() {
	selected := r.job.Select()
	chunks, ok := r.t.chunks[string(selected)]
	if !ok {
		var err error
		if chunks, err = placer.ParseSelect(r.t.defs, string(selected)); err != nil && r.err == nil {
			r.err = fmt.Errorf("%w: job %d has the select %q", row.ErrDamaged, r.job.ID(), selected)
		}
		r.t.chunks[string(selected)] = chunks
	}
	r.wanted = chunks
}
