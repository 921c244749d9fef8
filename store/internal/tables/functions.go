package tables

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/timeline"
)

// tableFunction makes a table of its arguments.
type tableFunction struct {
	name        string
	least, most int
	usage       string
	make        func(c *Catalog, args []query.Value) (query.Table, error)
}

func queryFunctions() []tableFunction {
	return []tableFunction{
		{"free_slots", 1, 2, "free_slots(duration [, select])", freeSlots},
		{"earliest", 1, 3, "earliest(select [, place [, walltime]])", earliest},
		{"timeline", 1, 1, "timeline(node or bucket)", timelineOf},
		{"reasons", 1, 1, "reasons(job)", reasonsOf},
	}
}

// Function finds a table function and calls it.
func (c *Catalog) Function(name string, args []query.Value) (query.Table, error) {
	all := queryFunctions()
	i := slices.IndexFunc(all, func(f tableFunction) bool { return f.name == name })
	if i < 0 {
		return nil, nil
	}
	if f := all[i]; len(args) < f.least || len(args) > f.most {
		return nil, fmt.Errorf("%w arguments: it is %s", row.ErrInvalid, f.usage)
	}
	return all[i].make(c, args)
}

// seconds reads an argument as a duration.
func (c *Catalog) seconds(v query.Value) (time.Duration, error) {
	n := v.Int64()
	if v.Kind() == query.Text {
		d, err := c.Duration(v.String())
		if err != nil {
			return 0, err
		}
		n = int64(d / time.Second)
	} else if v.Kind() != query.Integer {
		return 0, fmt.Errorf("%w duration %s", row.ErrInvalid, v.Literal())
	}
	if n < 1 || n > c.src.MaxWalltime {
		return 0, fmt.Errorf("%w duration of %d s: it must be from 1 s to %d s", row.ErrInvalid, n, c.src.MaxWalltime)
	}
	return time.Duration(n) * time.Second, nil
}

// slot is a start of a request.
type slot struct {
	plan *placer.Plan
	wait int64
}

// maxSlots bounds how many starts are looked for.
const maxSlots = 1000

// freeSlots lists when a request could start: the earliest, then each later instant
// at which nodes come free and it fits.
func freeSlots(c *Catalog, args []query.Value) (query.Table, error) {
	r := placer.Request{Select: "1"}
	var err error
	if r.Walltime, err = c.seconds(args[0]); err != nil {
		return nil, err
	}
	if len(args) > 1 {
		r.Select = args[1].String()
	}
	return c.starts(r, maxSlots), nil
}

func earliest(c *Catalog, args []query.Value) (query.Table, error) {
	r := placer.Request{Select: args[0].String()}
	if len(args) > 1 {
		r.Place = args[1].String()
	}
	if len(args) > 2 {
		var err error
		if r.Walltime, err = c.seconds(args[2]); err != nil {
			return nil, err
		}
	}
	return c.starts(r, 1), nil
}

func (c *Catalog) starts(r placer.Request, count int) query.Table {
	return &listTable[slot]{[]getter[slot]{
		timeColumn("start", "when it could begin", func(s *slot) int64 { return s.plan.Start }),
		timeColumn("end", "when it would end", func(s *slot) int64 { return s.plan.End }),
		valueColumn("wait", "from now", query.IntegerAffinity, query.Duration, func(s *slot) query.Value { return query.Int(s.wait) }),
		valueColumn("nodes", "folded", query.TextAffinity, query.Nodes, func(s *slot) query.Value { return c.nodeNames(s.plan.NodeNumbers()) }),
		textColumn("placement_set", "the one it would be in", func(s *slot) string { return s.plan.Set }),
	}, func(add func(slot)) error {
		plans, err := c.src.Starts(r, count)
		for _, p := range plans {
			add(slot{p, p.Start - c.src.Now})
		}
		return passRefusal(err)
	}}
}

// passRefusal makes a request that never fits one without starts.
func passRefusal(err error) error {
	if _, ok := err.(*placer.Refusal); ok {
		return nil
	}
	return err
}

// change of a timeline: how many of the nodes are free from then on.
type changePoint struct{ at, free, busy int64 }

// timelineOf lists the instants at which a node, or one of a bucket, is taken or given
// back, from now on.
func timelineOf(c *Catalog, args []query.Value) (query.Table, error) {
	ix, err := c.src.Index()
	if err != nil {
		return nil, err
	}
	var numbers []uint32
	if number, ok, err := c.nodeNumber(args[0].String()); err != nil {
		return nil, err
	} else if ok && args[0].Kind() == query.Text {
		numbers = []uint32{number}
	} else if id, err := strconv.ParseUint(args[0].String(), 10, 32); err == nil {
		b := ix.Bucket(uint32(id))
		if b == nil {
			return nil, row.Missing("bucket", args[0].String())
		}
		numbers = ix.Nodes(b, index.None).ToArray()
	} else {
		return nil, row.Missing("node", args[0].String())
	}
	return &listTable[changePoint]{[]getter[changePoint]{
		timeColumn("at", "from then on, until the next", func(p *changePoint) int64 { return p.at }),
		intColumn("free", "how many of the nodes nothing is on", func(p *changePoint) int64 { return p.free }),
		intColumn("busy", "how many something is on", func(p *changePoint) int64 { return p.busy }),
	}, func(add func(changePoint)) error { return c.changes(numbers, add) }}, nil
}

// changes walks the beginnings and ends of what is on nodes.
func (c *Catalog) changes(numbers []uint32, add func(changePoint)) error {
	cal := c.src.Calendar()
	steps := map[int64]int64{c.src.Now: 0}
	for _, n := range numbers {
		list := cal.At(n)
		for i := 0; i < len(list); {
			from, to := max(list[i].Start, c.src.Now), cal.End(list[i])
			for i++; i < len(list) && list[i].Start <= to; i++ { // what lies over it, or follows at once
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

// reasonRow is why some nodes do not serve a chunk of a job now, or that they do.
type reasonRow struct {
	chunk int
	*placer.Reason
}

func reasonsOf(c *Catalog, args []query.Value) (query.Table, error) {
	id, err := strconv.ParseUint(args[0].String(), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%w: reasons takes a job's number", row.ErrInvalid)
	}
	if payload, err := c.src.Rows.Get(row.Jobs, row.Key64(id)); err != nil {
		return nil, err
	} else if payload == nil {
		return nil, row.Missing("job", strconv.FormatUint(id, 10))
	}
	return &listTable[reasonRow]{[]getter[reasonRow]{
		intColumn("chunk", "of the select, from 0 on", func(r *reasonRow) int64 { return int64(r.chunk) }),
		textColumn("reason", "what keeps the nodes from serving it; fits: nothing does", func(r *reasonRow) string { return string(r.Cause) }),
		intColumn("count", "how many nodes", func(r *reasonRow) int64 { return int64(len(r.Nodes)) }),
		valueColumn("nodes", "folded", query.TextAffinity, query.Nodes, func(r *reasonRow) query.Value { return c.nodeNames(r.Nodes) }),
		timeColumn("until", "when one of them could, at the earliest", func(r *reasonRow) int64 { return sometime(r.Until) }),
		textColumn("note", "more about it", func(r *reasonRow) string { return r.Note }),
	}, func(add func(reasonRow)) error {
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
	}}, nil
}

// sometime is 0 for what never happens.
func sometime(at int64) int64 {
	if at == timeline.Forever {
		return 0
	}
	return at
}
