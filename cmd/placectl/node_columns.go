package main

import (
	"math"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
)

// nodeRow is a node and what is on it, as lists show it.
type nodeRow struct {
	*index.Node
	store.Occupancy
	allocations []store.Allocation // for `node show` alone
}

// nodeFields are what every store knows of a node. Their names are those of the nodes
// table of queries.
var nodeFields = output.Fields[*nodeRow]{
	{Name: "name", Value: func(n *nodeRow) any { return n.Name }},
	{Name: "number", Kind: output.Integer, Value: func(n *nodeRow) any { return n.Number }},
	{Name: "queue", Value: func(n *nodeRow) any { return output.OrNil(n.Queue) }},
	{Name: "priority", Kind: output.Integer, Value: func(n *nodeRow) any { return n.Priority }},
	{Name: "state", Value: func(n *nodeRow) any { return n.Occupancy.State.String() }},
	{Name: "reason", Value: func(n *nodeRow) any { return output.OrNil(n.Reason) }},
	{Name: "speed", Kind: output.Number, Value: func(n *nodeRow) any { return n.Speed }},
	{Name: "procspeed", Kind: output.Number, Value: func(n *nodeRow) any { return n.ProcSpeed }},
	{Name: "load", Kind: output.Number, Value: func(n *nodeRow) any { return n.Load }},
	{Name: "usage", Kind: output.Number, Value: func(n *nodeRow) any { return n.Usage }},
	{Name: "access", Value: func(n *nodeRow) any { return output.OrNil(accessWord(n.Access)) }},
	{Name: "sharing", Value: func(n *nodeRow) any { return output.OrNil(sharingWord(n.Sharing)) }},
	{Name: "features", Kind: output.List, Value: func(n *nodeRow) any { return n.Features }},
	{Name: "bucket", Kind: output.Integer, Value: func(n *nodeRow) any { return n.Bucket }},
	{Name: "jobs", Kind: output.Integer, Value: func(n *nodeRow) any { return n.Jobs }},
	{Name: "free_until", Kind: output.Time, Value: func(n *nodeRow) any { return output.OrNil(n.FreeUntil) }},
	{Name: "priorityf", Value: func(n *nodeRow) any { return output.OrNil(n.PriorityF) }},
}

// nodeListColumns are those of a list.
const nodeListColumns = "name number queue priority state reason speed procspeed load usage access sharing features bucket jobs free_until"

// accessWord is an access policy as lists show it: nothing for the one of a node
// of which nobody has said anything.
func accessWord(a index.Access) string {
	if a == index.AccessShared {
		return ""
	}
	return a.String()
}

// sharingWord is the same of a sharing.
func sharingWord(s index.Sharing) string {
	if s == index.DefaultShared {
		return ""
	}
	return s.String()
}

// resourceColumns are the columns of the resources that any of the rows has,
// and behind them what is free of each that jobs use up.
func resourceColumns(defs *index.Defs, rows []nodeRow) output.Fields[*nodeRow] {
	used := make(map[index.ResID]bool)
	for i := range rows {
		for _, a := range rows[i].Res {
			used[a.Res] = true
		}
	}
	var cols, free output.Fields[*nodeRow]
	for _, def := range defs.All() {
		if !used[def.ID] {
			continue
		}
		kind := resourceKind(def.Type)
		cols = append(cols, output.Field[*nodeRow]{Name: def.Name, Kind: kind, Value: func(n *nodeRow) any { return resourceValue(n, def) }})
		if _, clash := defs.Lookup(def.Name + nodefile.FreeSuffix); def.Consumable && !clash {
			free = append(free, output.Field[*nodeRow]{Name: def.Name + nodefile.FreeSuffix, Kind: kind, Value: func(n *nodeRow) any { return freeValue(n, def) }})
		}
	}
	return append(cols, free...)
}

func resourceKind(t index.Type) output.Kind {
	switch t {
	case index.Long:
		return output.Integer
	case index.Size:
		return output.Size
	case index.Float:
		return output.Number
	case index.Boolean:
		return output.Boolean
	case index.StringArray:
		return output.List
	}
	return output.Text
}

// resourceValue is a node's value of a resource as programs get it, nil where
// it has none.
func resourceValue(n *nodeRow, def index.Def) any {
	v, ok := n.Get(def.ID)
	if !ok {
		return nil
	}
	return valueOf(v, def)
}

// valueOf is a value of a resource as programs get it.
func valueOf(v index.Value, def index.Def) any {
	switch def.Type {
	case index.Long:
		return v.Num
	case index.Size:
		if v.Num > math.MaxInt64/1024 {
			return def.Units(v)
		}
		return v.Num * 1024
	case index.Float:
		return def.Units(v)
	case index.Boolean:
		return v.Num != 0
	case index.StringArray:
		return v.Members()
	}
	return v.Str
}

// freeValue is how much of a resource jobs could have now.
func freeValue(n *nodeRow, def index.Def) any {
	v := resourceValue(n, def)
	if v == nil || n.Occupancy.State == store.NodeFree {
		return v
	}
	for _, a := range n.Left {
		if a.Res == def.ID {
			return valueOf(a.Value, def)
		}
	}
	return int64(0)
}

// saysNothing reports whether a value is what nobody has set.
func saysNothing(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []string:
		return len(v) == 0
	case float64:
		return v == 0
	}
	n, ok := output.WholeNumber(v)
	return ok && n == 0
}

// dropSpare leaves the columns out that say nothing in any row, and a node's
// number, which people do not need.
func dropSpare(cols output.Fields[*nodeRow], rows []nodeRow) output.Fields[*nodeRow] {
	return slices.DeleteFunc(slices.Clone(cols), func(c output.Field[*nodeRow]) bool {
		switch c.Name {
		case "name", "state", "bucket":
			return false
		case "number":
			return true
		}
		return !someRowSays(c, rows)
	})
}

func someRowSays(c output.Field[*nodeRow], rows []nodeRow) bool {
	for i := range rows {
		if !saysNothing(c.Value(&rows[i])) {
			return true
		}
	}
	return false
}

// printNodeRows prints rows in columns, the name first.
func (r *runner) printNodeRows(record bool, cols output.Fields[*nodeRow], rows []nodeRow) error {
	p := r.printer(output.Result{Record: record, Columns: cols.Columns()})
	for i := range rows {
		if err := cols.Print(p, &rows[i]); err != nil {
			return err
		}
	}
	return p.Close()
}

// fitColumns leaves out of a table what a narrow terminal has no room for: only
// what the other columns let one guess, and not without saying so. Where that
// would not help, all columns stay, and the table turns into blocks of lines.
func (r *runner) fitColumns(cols output.Fields[*nodeRow], rows []nodeRow) output.Fields[*nodeRow] {
	limit := r.audience().width
	if !r.audience().table || limit <= 0 || len(rows) == 0 {
		return cols
	}
	widths := r.measure(cols, rows)
	kept := slices.Clone(cols)
	var out []string
	for _, name := range expendable(cols) {
		if fitsIn(kept, widths, limit) {
			break
		}
		kept = slices.DeleteFunc(kept, func(c output.Field[*nodeRow]) bool { return c.Name == name })
		out = append(out, name)
	}
	switch {
	case !fitsIn(kept, widths, limit):
		return cols
	case len(out) > 0:
		r.notef("no room for the columns %s: -o line shows all", strings.Join(out, ", "))
	}
	return kept
}

// expendable lists the columns that may go, first those that are missed least.
func expendable(cols output.Fields[*nodeRow]) []string {
	names := []string{"bucket", "jobs"}
	for _, c := range slices.Backward(cols) {
		if strings.HasSuffix(c.Name, nodefile.FreeSuffix) {
			names = append(names, c.Name)
		}
	}
	names = append(names, "free_until")
	return slices.DeleteFunc(names, func(name string) bool {
		return !slices.ContainsFunc(cols, func(c output.Field[*nodeRow]) bool { return c.Name == name })
	})
}

// measure is how wide each column would be, by name.
func (r *runner) measure(cols output.Fields[*nodeRow], rows []nodeRow) map[string]int {
	p := r.printer(output.Result{})
	widths := make(map[string]int)
	var cell []byte
	for _, c := range cols {
		w := output.TextWidth(c.Name)
		for i := range rows {
			cell = p.AppendHuman(cell[:0], c.Column(), c.Value(&rows[i]))
			w = max(w, output.TextWidth(cell))
		}
		widths[c.Name] = w
	}
	return widths
}

func fitsIn(cols output.Fields[*nodeRow], widths map[string]int, limit int) bool {
	want := make([]int, len(cols))
	for i, c := range cols {
		want[i] = widths[c.Name]
	}
	_, fits := output.FitWidths(want, cols.Columns(), limit)
	return fits
}
