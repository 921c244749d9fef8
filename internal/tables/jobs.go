package tables

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/ask"
	"github.com/placectl/placectl/internal/attribute"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// jobs is the table of jobs. It knows their states and owners without reading their rows.
type jobs struct {
	c       *Catalog
	columns []getter[jobCursor]
}

func jobsTable(c *Catalog, _ int64) (tables.Table, error) {
	early := func(name string, t row.JobText) getter[jobCursor] {
		return textColumn(name, "", func(r *jobCursor) string { return r.text(t) })
	}
	own := []getter[jobCursor]{ // in the order of the record
		intColumn("job", "", func(r *jobCursor) int64 { return int64(r.view.ID()) }),
		early("name", row.JobNameText),
		early("user", row.JobUserText),
		early("account", row.JobAccountText),
		early("queue", row.JobQueueText),
		early("class", row.JobClassText),
		valueColumn("state", "", values.TextAffinity, tables.NoUnit,
			func(r *jobCursor) values.Value { return values.String(r.view.State().String()) }),
		early("select", row.JobSelectText),
		valueColumn("walltime", "", values.IntegerAffinity, tables.Duration, func(r *jobCursor) values.Value {
			return values.Int(r.view.Walltime())
		}),
		timeColumn("submit", "", func(r *jobCursor) int64 { return r.view.Submit() }),
		timeColumn("start", "", func(r *jobCursor) int64 { return r.view.Start() }),
		timeColumn("end", "", func(r *jobCursor) int64 { return r.view.End() }),
		valueColumn("nodes", "", values.TextAffinity, tables.Nodes, func(r *jobCursor) values.Value {
			return r.t.c.nodeNames(r.job().AllNodes())
		}),
		textColumn("reason", "", func(r *jobCursor) string { return c.prospect(r.job()).Words() }),
		textColumn("reason_code", "", func(r *jobCursor) string { return c.prospect(r.job()).Code() }),
		timeColumn("expected", "",
			func(r *jobCursor) int64 { return kernel.Unix(c.prospect(r.job()).Start) }),
		valueColumn("wait", "", values.IntegerAffinity, tables.Duration, (*jobCursor).wait),
		valueColumn("run", "", values.IntegerAffinity, tables.Duration, (*jobCursor).ran),
		valueColumn("slowdown", "", values.RealAffinity, tables.NoUnit, (*jobCursor).slowdown),
		valueColumn("index", "", values.IntegerAffinity, tables.NoUnit, func(r *jobCursor) values.Value {
			return ifInt(r.job().Array != 0, r.job().Index)
		}),
		valueColumn("after", "", values.TextAffinity, tables.List, func(r *jobCursor) values.Value {
			return values.TextOrNull(afterText(r.job().After))
		}),
		textColumn("command", "", func(r *jobCursor) string { return strings.Join(r.job().Command, " ") }),
		textColumn("devices", "", func(r *jobCursor) string { return c.heldBy(r.job()) }),
		textColumn("pools", "", func(r *jobCursor) string { return placer.FormatPools(r.job().Pools) }),
		textColumn("bind", "", func(r *jobCursor) string { return r.job().Bind.String() }),
		valueColumn("exit", "", values.IntegerAffinity, tables.NoUnit, func(r *jobCursor) values.Value {
			return ifInt(r.job().HasExit(), r.job().Exit)
		}),
		numberColumn("attempt", "", func(r *jobCursor) int64 { return int64(r.job().CurrentAttempt()) }),
		intColumn("preempted", "", func(r *jobCursor) int64 { return int64(len(r.job().YieldedTo)) }),
		secondsColumn("cpu_user", "", func(r *jobCursor) int64 { return r.took().last.CPUUser }),
		secondsColumn("cpu_sys", "", func(r *jobCursor) int64 { return r.took().last.CPUSystem }),
		secondsColumn("cpu_time", "", func(r *jobCursor) int64 { return r.took().cpu }),
		sizeColumn("max_rss", "", func(r *jobCursor) int64 { return r.took().last.MaxRSS }),
		sizeColumn("mem_peak", "", func(r *jobCursor) int64 { return r.took().mem }),
	}
	t := &jobs{c: c}
	for _, a := range attribute.Job {
		var column getter[jobCursor]
		if len(own) > 0 && own[0].Name == a.Name {
			column, own = own[0], own[1:]
		} else if field, ok := jobFields()[a.Name]; ok {
			column = fieldColumn(a, field)
		} else {
			continue
		}
		if column.Doc = a.Doc; a.Name == "state" {
			column.Refuse = oneOf("state", jobStateWords())
		}
		t.columns = append(t.columns, column)
	}
	defs, err := c.src.Resources()
	if err != nil {
		return nil, err
	}
	for _, column := range amountColumns(defs, (*jobCursor).asked) {
		if slices.Contains([]string{"ncpus", "ngpus", "mem"}, column.Name) {
			t.columns = append(t.columns, column)
		}
	}
	if len(own) > 0 {
		return nil, fmt.Errorf("the column %s of jobs does not come in the order of the record", own[0].Name)
	}
	return t, nil
}

// jobFields are the fields of a job's row that are attributes.
var jobFields = sync.OnceValue(func() map[string][]int {
	return attribute.Fields(attribute.Job, reflect.TypeFor[row.Job]())
})

// fieldColumn returns the column of an attribute that is a field of a job's row.
func fieldColumn(a attribute.Attribute, field []int) getter[jobCursor] {
	read := func(r *jobCursor) reflect.Value { return reflect.ValueOf(r.job()).Elem().FieldByIndex(field) }
	switch a.Type {
	case attribute.Time:
		return timeColumn(a.Name, "", func(r *jobCursor) int64 { return read(r).Int() })
	case attribute.Duration:
		return valueColumn(a.Name, "", values.IntegerAffinity, tables.Duration, func(r *jobCursor) values.Value {
			return ifInt(!read(r).IsZero(), int(read(r).Int()))
		})
	case attribute.Truth:
		return boolColumn(a.Name, "", func(r *jobCursor) bool { return read(r).Bool() })
	case attribute.Integer:
		return intColumn(a.Name, "", func(r *jobCursor) int64 { return read(r).Int() })
	case attribute.Number:
		return numberColumn(a.Name, "", func(r *jobCursor) int64 { return int64(read(r).Uint()) })
	}
	return textColumn(a.Name, "", func(r *jobCursor) string { return read(r).String() })
}

// prospect returns the prospect of a job.
func (c *Catalog) prospect(j *row.Job) ask.Prospect {
	p, err := c.src.Prospect(j)
	c.fail(err)
	return p
}

// heldBy returns the devices of a job as text.
func (c *Catalog) heldBy(j *row.Job) string {
	if len(j.Devices) == 0 {
		return ""
	}
	text, err := c.src.Devices(j)
	c.fail(err)
	return text
}

// asked returns how much all chunks of the job ask for of a resource, false if none does.
func (r *jobCursor) asked(id index.ResID) (n int64, any bool) {
	chunks, err := r.t.c.wants(r.job())
	r.t.c.fail(err)
	for _, chunk := range chunks {
		for _, w := range chunk.Wants {
			if w.Res == id {
				n, any = n+w.Value.Num*int64(chunk.Count), true
			}
		}
	}
	return n, any
}

// ifInt returns a number, or NULL if the number has no meaning.
func ifInt(known bool, n int) values.Value {
	if !known {
		return values.Value{}
	}
	return values.Int(int64(n))
}

func afterText(list []row.Dependency) string {
	words := make([]string, len(list))
	for i, d := range list {
		words[i] = d.String()
	}
	return joined(words)
}

func (t *jobs) Columns() []tables.Column {
	out := columnsOf(t.columns)
	for i := range out {
		out[i].NotNull = out[i].NotNull || out[i].Name == "state"
	}
	return out
}

// inState returns the jobs of a state.
func (t *jobs) inState(s row.JobState) *roaring.Bitmap {
	out := roaring.New()
	t.c.fail(t.c.src.Rows.Each(row.JobStates, []byte{byte(s)}, func(key, _ []byte) (bool, error) {
		if len(key) != 9 {
			return false, fmt.Errorf("%w: job state %x", row.ErrDamaged, key)
		}
		out.Add(uint32(binary.BigEndian.Uint64(key[1:])))
		return true, nil
	}))
	return out
}

// Size returns the number of jobs that ever existed.
func (t *jobs) Size() int { return int(t.c.src.NextJob) }

// All returns the numbers of all jobs.
func (t *jobs) All() *roaring.Bitmap {
	all := roaring.New()
	for _, s := range row.AllJobStates() {
		all.Or(t.inState(s))
	}
	return all
}

// Split splits by state, by user, group, account, queue and class, or both.
func (t *jobs) Split(columns []int) (iter.Seq2[tables.Row, *roaring.Bitmap], bool) {
	byKind, byState := false, false
	for _, i := range columns {
		ofKind := row.Payers.Named(t.columns[i].Name) != 0
		isState := t.columns[i].Name == "state"
		if !ofKind && !isState {
			return nil, false
		}
		byKind, byState = byKind || ofKind, byState || isState
	}
	if t.c.src.NextJob > math.MaxUint32 {
		return nil, false
	}
	if byKind {
		return t.splitKinds(byState)
	}
	return func(yield func(tables.Row, *roaring.Bitmap) bool) {
		at := &jobCursor{t: t}
		for _, s := range row.AllJobStates() {
			at.view.OnlyState(s)
			if rows := t.inState(s); !rows.IsEmpty() && !yield(at, rows) {
				return
			}
		}
	}, true
}

// Find finds a job by number, and those of a user, an account, a queue or a class.
func (t *jobs) Find(f tables.Find) (*roaring.Bitmap, bool) {
	if f.Op != tables.FindEqual || t.c.src.NextJob > math.MaxUint32 {
		return nil, false
	}
	name := t.columns[f.Column].Name
	if of := row.Payers.Named(name); of != 0 {
		return t.findKind(of, f.Value)
	}
	if name != "job" {
		return nil, false
	}
	out := roaring.New()
	if n := f.Value.Int64(); f.Value.Kind() == values.Integer && n > 0 && uint64(n) < t.c.src.NextJob {
		payload, err := t.c.src.Rows.Get(row.Jobs, row.Key64(uint64(n)))
		if t.c.fail(err); payload != nil {
			out.Add(uint32(n))
		}
	}
	return out, true
}

// Lookup finds a job by number.
func (t *jobs) Lookup(column int, v values.Value) (tables.Cursor, bool) {
	if t.columns[column].Name != "job" || t.c.src.NextJob > math.MaxUint32 {
		return nil, false
	}
	rows := roaring.New()
	if !v.IsNull() {
		rows, _ = t.Find(tables.Find{Column: column, Value: v})
	}
	return t.Scan(rows), true
}

// Scan reads jobs by number.
func (t *jobs) Scan(rows *roaring.Bitmap) tables.Cursor {
	return &jobCursor{t: t, rows: choose(t.c.src.Rows.Cursor(row.Jobs), rows)}
}

// Order returns the number.
func (t *jobs) Order() int { return 0 }

// Range reads the jobs with the numbers from..to.
func (t *jobs) Range(from, to int64) tables.Cursor {
	return &jobCursor{t: t, rows: choose(t.c.src.Rows.Numbers(row.Jobs, from, to), nil)}
}

func joined(list []string) string { return strings.Join(list, ",") }
