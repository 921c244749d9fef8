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
)

// held is what an attempt of a job has, or had, of a node: for one of its chunks or, in the
// table history, for all of them.
type held struct {
	job     *row.Job
	attempt *row.Attempt
	node    uint32
	chunk   int // -1 for a node taken along with its host
	amounts map[index.ResID]int64
}

// until returns when it ended, or now if it has not.
func (h *held) until(now int64) int64 {
	if h.attempt.Ended > 0 {
		return h.attempt.Ended
	}
	return max(now, h.attempt.Began)
}

// historyTable returns who had which node and when, including ended attempts but nothing that
// is only planned. It reads the jobs, in order.
func historyTable(c *Catalog, _ int64) (tables.Table, error) {
	defs, err := c.src.Resources()
	if err != nil {
		return nil, err
	}
	columns := []getter[held]{
		intColumn("job", "job number", func(h *held) int64 { return int64(h.job.ID) }),
		intColumn("attempt", "number of the start, from 1", func(h *held) int64 { return int64(h.attempt.Number) }),
		textColumn("node", "node name", func(h *held) string { return c.nodeName(h.node) }),
		timeColumn("start", "when it got the node", func(h *held) int64 { return h.attempt.Began }),
		timeColumn("end", "when it left the node; NULL: still there", func(h *held) int64 { return h.attempt.Ended }),
		timeColumn("until", "the end, or now", func(h *held) int64 { return h.until(c.src.Now) }),
		unitColumn("held", "how long it had the node, up to now", tables.Duration, func(h *held) int64 {
			return h.until(c.src.Now) - h.attempt.Began
		}),
		textColumn("user", "user", func(h *held) string { return h.job.User }),
		textColumn("account", "account", func(h *held) string { return h.job.Account }),
		textColumn("queue", "queue", func(h *held) string { return h.job.Queue }),
		textColumn("class", "class", func(h *held) string { return h.job.Class }),
	}
	return c.heldTable(columns,
		amountColumns(defs, func(h *held, id index.ResID) (int64, bool) { n, ok := h.amounts[id]; return n, ok }),
		func(list []held) []held { return byNode(list) }), nil
}

// allocationsPast returns the table of allocations as they were at an instant.
func allocationsPast(c *Catalog, at int64) (tables.Table, error) {
	defs, err := c.src.Resources()
	if err != nil {
		return nil, err
	}
	columns := []getter[held]{
		intColumn("job", "job number", func(h *held) int64 { return int64(h.job.ID) }),
		valueColumn("chunk", "number of the chunk in the select, from 0; NULL: a node taken along with its host",
			values.IntegerAffinity, tables.NoUnit,
			func(h *held) values.Value { return ifInt(h.chunk >= 0, h.chunk) }),
		textColumn("node", "node name", func(h *held) string { return c.nodeName(h.node) }),
		timeColumn("start", "when the job began", func(h *held) int64 { return h.attempt.Began }),
		timeColumn("end", "actual or expected end", func(h *held) int64 {
			if h.attempt.Ended > 0 {
				return h.attempt.Ended
			}
			return h.job.End
		}),
	}
	all := c.heldTable(columns,
		amountColumns(defs, func(h *held, id index.ResID) (int64, bool) { n, ok := h.amounts[id]; return n, ok }),
		func(list []held) []held {
			var out []held
			for _, h := range list {
				if h.attempt.Began <= at && (h.attempt.Ended == 0 || h.attempt.Ended > at) {
					out = append(out, h)
				}
			}
			return out
		})
	return &heldThen{all, c, at}, nil
}

// heldThen is what jobs had at an instant. It only reads jobs that had not ended.
type heldThen struct {
	*orderedTable[held]
	c  *Catalog
	at int64
}

// Scan reads those jobs.
func (t *heldThen) Scan(*roaring.Bitmap) tables.Cursor {
	r := &heldThenCursor{listCursor: listCursor[held]{columns: t.columns, at: -1}, t: t}
	r.jobs, r.err = t.c.jobsAfter(t.at)
	return r
}

// heldThenCursor returns the rows of one job after the other.
type heldThenCursor struct {
	listCursor[held]
	t    *heldThen
	jobs []uint64
}

func (r *heldThenCursor) Next() bool {
	for r.at++; r.at >= len(r.rows); r.at = 0 {
		if r.err != nil || len(r.jobs) == 0 {
			return false
		}
		key := row.Key64(r.jobs[0])
		r.jobs = r.jobs[1:]
		var payload []byte
		if payload, r.err = r.t.c.src.Rows.Get(row.Jobs, key); r.err == nil {
			r.rows, r.err = r.t.read(key, payload, r.rows[:0])
		}
	}
	return r.err == nil
}

// amountColumns returns a column for each consumable.
func amountColumns[T any](defs *index.Defs, amount func(*T, index.ResID) (int64, bool)) []getter[T] {
	var out []getter[T]
	for _, def := range defs.All() {
		if !def.Consumable {
			continue
		}
		a, u := resourceType(def.Type)
		out = append(out, valueColumn(def.Name, def.Name+" that the job asked for", a, u, func(r *T) values.Value {
			n, ok := amount(r, def.ID)
			if !ok {
				return values.Value{}
			}
			return resourceOf(def, index.Value{Num: n}, true)
		}))
	}
	return out
}

// heldTable reads what attempts have, or had, from the rows of jobs.
func (c *Catalog) heldTable(columns, amounts []getter[held], choose func([]held) []held) *orderedTable[held] {
	part := func(from, to int64) *file.Cursor { return c.src.Rows.Numbers(row.Jobs, from, to) }
	return &orderedTable[held]{rowsTable[held]{
		columns: append(columns, amounts...),
		size:    4 * int(c.src.NextJob),
		open:    func() *file.Cursor { return c.src.Rows.Cursor(row.Jobs) },
		read: func(key, payload []byte, out []held) ([]held, error) {
			j, err := row.DecodeJob(key, payload)
			if err != nil {
				return nil, err
			}
			for number := 1; number <= j.CurrentAttempt(); number++ {
				list, err := c.attemptNodes(j, number)
				if err != nil {
					return nil, err
				}
				out = append(out, choose(list)...)
			}
			return out, nil
		},
		keys: map[string]func(values.Value) *file.Cursor{"job": func(v values.Value) *file.Cursor {
			if v.Kind() != values.Integer || v.Int64() < 0 {
				return nil
			}
			return part(v.Int64(), v.Int64())
		}},
	}, part}
}

// attemptNodes lists what an attempt has, or had.
func (c *Catalog) attemptNodes(j *row.Job, number int) ([]held, error) {
	a, err := c.src.Attempt(j, number)
	if err != nil || a.Began == 0 {
		return nil, err
	}
	wants, err := c.wants(j)
	if err != nil {
		return nil, err
	}
	var out []held
	for i := range a.Chunks {
		for _, n := range a.Chunks[i].Nodes {
			h := held{job: j, attempt: a, node: n.Node, chunk: i, amounts: map[index.ResID]int64{}}
			if i < len(wants) {
				for _, w := range wants[i].Wants {
					h.amounts[w.Res] += w.Value.Num * int64(n.Chunks)
				}
			}
			out = append(out, h)
		}
	}
	for _, n := range a.Along {
		out = append(out, held{job: j, attempt: a, node: n, chunk: -1})
	}
	return out, nil
}

// wants returns a job's parsed select. It caches the result, because many jobs have the same.
func (c *Catalog) wants(j *row.Job) ([]placer.Chunk, error) {
	if chunks, ok := c.selects[j.Select]; ok {
		return chunks, nil
	}
	defs, err := c.src.Resources()
	if err != nil {
		return nil, err
	}
	chunks, err := placer.ParseSelect(defs, j.Select)
	if err != nil {
		return nil, fmt.Errorf("%w: job %d has the select %q", row.ErrDamaged, j.ID, j.Select)
	}
	if c.selects == nil {
		c.selects = make(map[string][]placer.Chunk)
	}
	c.selects[j.Select] = chunks
	return chunks, nil
}

// byNode combines what an attempt has of each node.
func byNode(list []held) []held {
	var out []held
	at := make(map[uint32]int, len(list))
	for _, h := range list {
		i, ok := at[h.node]
		if !ok {
			at[h.node] = len(out)
			out = append(out, h)
			continue
		}
		for res, n := range h.amounts {
			if out[i].amounts == nil {
				out[i].amounts = map[index.ResID]int64{}
			}
			out[i].amounts[res] += n
		}
	}
	return out
}
