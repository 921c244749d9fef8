package tables

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
	"github.com/placectl/placectl/timeline"
)

// tableFunction makes a table from its arguments.
type tableFunction struct {
	name        string
	least, most int
	usage       string
	make        func(c *Catalog) tables.Function
}

// listFunction is a table function that gathers all its rows when it is called.
type listFunction[T any] struct {
	columns []getter[T]
	gather  func(args []values.Value, add func(T)) error
}

func (f *listFunction[T]) Columns() []tables.Column { return columnsOf(f.columns) }

// Rows calls the function.
func (f *listFunction[T]) Rows(args []values.Value) (tables.Cursor, error) {
	c := &listCursor[T]{columns: f.columns, at: -1}
	err := f.gather(args, func(row T) { c.rows = append(c.rows, row) })
	return c, err
}

func queryFunctions() []tableFunction {
	return []tableFunction{
		{"free_slots", 1, 2, "free_slots(duration [, select])", freeSlots},
		{"earliest", 1, 3, "earliest(select [, place [, walltime]])", earliest},
		{"timeline", 1, 1, "timeline(node or bucket)", timelineOf},
		{"reasons", 1, 1, "reasons(job)", reasonsOf},
		{"blockers", 1, 1, "blockers(job)", blockersOf},
		{"terms", 1, 1, "terms(job)", termsOf},
		{"per_day", 2, 2, "per_day(start, end)", perDay},
	}
}

// Function finds a table function.
func (c *Catalog) Function(name string, args int) (tables.Function, error) {
	all := queryFunctions()
	i := slices.IndexFunc(all, func(f tableFunction) bool { return f.name == name })
	if i < 0 {
		return nil, nil
	}
	if f := all[i]; args < f.least || args > f.most {
		return nil, fmt.Errorf("%w arguments: it is %s", row.ErrInvalid, f.usage)
	}
	return all[i].make(c), nil
}

// seconds reads an argument as a duration.
func (c *Catalog) seconds(v values.Value) (time.Duration, error) {
	n := v.Int64()
	if v.Kind() == values.Text {
		var err error
		if n, err = seconds(v.String()); err != nil {
			return 0, err
		}
	} else if v.Kind() != values.Integer {
		return 0, fmt.Errorf("%w duration %s", row.ErrInvalid, v.Literal())
	}
	if n < 1 || n > kernel.MaxWalltime {
		return 0, fmt.Errorf("%w duration of %d s: it must be from 1 s to %d s", row.ErrInvalid, n, kernel.MaxWalltime)
	}
	return time.Duration(n) * time.Second, nil
}

// slot is a start of a request.
type slot struct {
	plan *placer.Plan
	wait int64
}

// maxSlots is the most starts to search for.
const maxSlots = 1000

// freeSlots lists when a request could start: the earliest start, then each later instant at
// which nodes are given back and the request fits.
func freeSlots(c *Catalog) tables.Function {
	return c.starts(maxSlots, func(args []values.Value) (r placer.Request, err error) {
		r.Select = "1"
		if len(args) > 1 && !args[1].IsNull() {
			r.Select = args[1].String()
		}
		r.Walltime, err = c.seconds(args[0])
		return r, err
	})
}

func earliest(c *Catalog) tables.Function {
	return c.starts(1, func(args []values.Value) (r placer.Request, err error) {
		r.Select = args[0].String()
		if len(args) > 1 {
			r.Place = args[1].String()
		}
		if len(args) > 2 && !args[2].IsNull() {
			r.Walltime, err = c.seconds(args[2])
		}
		return r, err
	})
}

// starts lists up to count starts of the request in the arguments. A request of NULL has none.
func (c *Catalog) starts(count int, asked func([]values.Value) (placer.Request, error)) tables.Function {
	return &listFunction[slot]{[]getter[slot]{
		timeColumn("start", "when it could begin", func(s *slot) int64 { return s.plan.Start }),
		timeColumn("end", "when it would end", func(s *slot) int64 { return s.plan.End }),
		valueColumn("wait", "from now", values.IntegerAffinity, tables.Duration, func(s *slot) values.Value {
			return values.Int(s.wait)
		}),
		valueColumn("nodes", "node list, folded", values.TextAffinity, tables.Nodes, func(s *slot) values.Value {
			return c.nodeNames(s.plan.NodeNumbers())
		}),
		textColumn("placement_set", "the one it would be in", func(s *slot) string { return s.plan.Set }),
	}, func(args []values.Value, add func(slot)) error {
		if args[0].IsNull() {
			return nil
		}
		r, err := asked(args)
		if err != nil {
			return err
		}
		plans, err := c.src.Starts(r, count)
		for _, p := range plans {
			add(slot{p, p.Start - c.src.Now})
		}
		return passRefusal(err)
	}}
}

// passRefusal returns nil for the refusal of a request, so that it has no starts.
func passRefusal(err error) error {
	if _, ok := err.(*placer.Refusal); ok {
		return nil
	}
	return err
}

// changePoint is a change of a timeline: how many of the nodes are free from then on.
type changePoint struct{ at, free, busy int64 }

// timelineOf lists the instants, from now on, at which a node, or one of a bucket, is taken or
// given back.
func timelineOf(c *Catalog) tables.Function {
	return &listFunction[changePoint]{[]getter[changePoint]{
		timeColumn("at", "from then on, until the next", func(p *changePoint) int64 { return p.at }),
		intColumn("free", "how many of the nodes nothing is on", func(p *changePoint) int64 { return p.free }),
		intColumn("busy", "how many something is on", func(p *changePoint) int64 { return p.busy }),
	}, func(args []values.Value, add func(changePoint)) error {
		if args[0].IsNull() {
			return nil
		}
		numbers, err := c.nodeOrBucket(args[0])
		if err != nil {
			return err
		}
		return c.changes(numbers, add)
	}}
}

// nodeOrBucket returns a node by its name, or the nodes of a bucket by its number.
func (c *Catalog) nodeOrBucket(v values.Value) ([]uint32, error) {
	ix, err := c.src.Index()
	if err != nil {
		return nil, err
	}
	if number, ok, err := c.nodeNumber(v.String()); err != nil {
		return nil, err
	} else if ok && v.Kind() == values.Text {
		return []uint32{number}, nil
	}
	if id, err := strconv.ParseUint(v.String(), 10, 32); err == nil {
		b := ix.Bucket(uint32(id))
		if b == nil {
			return nil, row.Missing("bucket", v.String())
		}
		return ix.Nodes(b, index.None).ToArray(), nil
	}
	return nil, row.Missing("node", v.String())
}

// changes yields the beginnings and ends of what is on nodes.
func (c *Catalog) changes(numbers []uint32, add func(changePoint)) error {
	cal := c.src.Calendar()
	steps := map[int64]int64{c.src.Now: 0}
	for _, n := range numbers {
		list := cal.At(n)
		for i := 0; i < len(list); {
			from, to := max(list[i].Start, c.src.Now), cal.End(list[i])
			for i++; i < len(list) && list[i].Start <= to; i++ { // intervals that overlap it, or follow at once
				to = max(to, cal.End(list[i]))
			}
			if to > from {
				steps[from]++
				steps[to]--
			}
		}
	}
	times := make([]int64, 0, len(steps))
	for at := range steps {
		times = append(times, at)
	}
	slices.Sort(times)
	busy := int64(0)
	for i, at := range times {
		if busy += steps[at]; i > 0 && steps[at] == 0 {
			continue
		}
		add(changePoint{at, int64(len(numbers)) - busy, busy})
	}
	return cal.Err()
}

// reasonRow tells why some nodes cannot serve a chunk of a job now, or that they can.
type reasonRow struct {
	chunk int
	*placer.Reason
}

func reasonsOf(c *Catalog) tables.Function {
	return &listFunction[reasonRow]{[]getter[reasonRow]{
		intColumn("chunk", "of the select, from 0 on", func(r *reasonRow) int64 { return int64(r.chunk) }),
		textColumn("reason", "what keeps the nodes from serving it; fits: nothing does", func(r *reasonRow) string {
			return string(r.Cause)
		}),
		intColumn("count", "how many nodes", func(r *reasonRow) int64 { return int64(len(r.Nodes)) }),
		valueColumn("nodes", "node list, folded", values.TextAffinity, tables.Nodes, func(r *reasonRow) values.Value {
			return c.nodeNames(r.Nodes)
		}),
		timeColumn("until", "when one of them could, at the earliest", func(r *reasonRow) int64 {
			return sometime(r.Until)
		}),
		textColumn("note", "more about it", func(r *reasonRow) string { return r.Note }),
	}, func(args []values.Value, add func(reasonRow)) error {
		id, err := c.jobNumber(args[0], "reasons")
		if err != nil || id == 0 {
			return err
		}
		ex, err := c.src.Explain(id)
		if err != nil {
			return err
		}
		for i := range ex.Chunks {
			for k := range ex.Chunks[i].Reasons {
				add(reasonRow{i, &ex.Chunks[i].Reasons[k]})
			}
		}
		return nil
	}}
}

// jobNumber returns the number of an existing job, or 0 for NULL.
func (c *Catalog) jobNumber(v values.Value, function string) (uint64, error) {
	if v.IsNull() {
		return 0, nil
	}
	id, err := strconv.ParseUint(v.String(), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %s takes a job number", row.ErrInvalid, function)
	}
	payload, err := c.src.Rows.Get(row.Jobs, row.Key64(id))
	if err == nil && payload == nil {
		err = row.Missing("job", strconv.FormatUint(id, 10))
	}
	return id, err
}

// sometime returns an instant, or 0 for never.
func sometime(at int64) int64 {
	if at == timeline.Forever {
		return 0
	}
	return at
}
