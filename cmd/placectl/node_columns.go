package main

import (
	"math"

	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
)

// nodeRow is a node and what is on it, as lists show it.
type nodeRow struct {
	*index.Node
	store.Occupancy
	allocations []allocation // for `node show` alone
}

// nodeColumn is a column of the nodes table.
type nodeColumn struct {
	output.Column
	spare bool // a table leaves it out where it says nothing
	value func(*nodeRow) any
}

// nodeColumns are the columns that every store has. Their names are those of
// the nodes table of queries.
func nodeColumns() []nodeColumn {
	return []nodeColumn{
		{output.Column{Name: "name"}, false, func(n *nodeRow) any { return n.Name }},
		{output.Column{Name: "number", Kind: output.Integer}, true, func(n *nodeRow) any { return n.Number }},
		{output.Column{Name: "queue"}, true, func(n *nodeRow) any { return orNil(n.Queue) }},
		{output.Column{Name: "priority", Kind: output.Integer}, true, func(n *nodeRow) any { return n.Priority }},
		{output.Column{Name: "state"}, false, func(n *nodeRow) any { return n.Occupancy.State.String() }},
		{output.Column{Name: "reason"}, true, func(n *nodeRow) any { return orNil(n.Reason) }},
		{output.Column{Name: "speed", Kind: output.Number}, true, func(n *nodeRow) any { return n.Speed }},
		{output.Column{Name: "procspeed", Kind: output.Number}, true, func(n *nodeRow) any { return n.ProcSpeed }},
		{output.Column{Name: "load", Kind: output.Number}, true, func(n *nodeRow) any { return n.Load }},
		{output.Column{Name: "usage", Kind: output.Number}, true, func(n *nodeRow) any { return n.Usage }},
		{output.Column{Name: "access"}, true, func(n *nodeRow) any { return orNil(accessWord(n.Access)) }},
		{output.Column{Name: "sharing"}, true, func(n *nodeRow) any { return orNil(sharingWord(n.Sharing)) }},
		{output.Column{Name: "features", Kind: output.List}, true, func(n *nodeRow) any { return n.Features }},
		{output.Column{Name: "bucket", Kind: output.Integer}, false, func(n *nodeRow) any { return n.Bucket }},
		{output.Column{Name: "jobs", Kind: output.Integer}, true, func(n *nodeRow) any { return n.Jobs }},
		{output.Column{Name: "free_until", Kind: output.Time}, true, func(n *nodeRow) any { return timeOrNil(n.FreeUntil) }},
	}
}

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

func timeOrNil(at int64) any {
	if at <= 0 || at == math.MaxInt64 {
		return nil
	}
	return at
}

// resourceColumns are the columns of the resources that any of the rows has,
// and behind them what is free of each that jobs use up.
func resourceColumns(defs *index.Defs, rows []nodeRow) []nodeColumn {
	used := make(map[index.ResID]bool)
	for i := range rows {
		for _, a := range rows[i].Res {
			used[a.Res] = true
		}
	}
	var cols, free []nodeColumn
	for _, def := range defs.All() {
		if !used[def.ID] {
			continue
		}
		col := output.Column{Name: def.Name, Kind: resourceKind(def.Type)}
		cols = append(cols, nodeColumn{col, false, func(n *nodeRow) any { return resourceValue(n, def) }})
		if _, clash := defs.Lookup(def.Name + nodefile.FreeSuffix); def.Consumable && !clash {
			col.Name += nodefile.FreeSuffix
			free = append(free, nodeColumn{col, false, func(n *nodeRow) any { return freeValue(n, def) }})
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
func dropSpare(cols []nodeColumn, rows []nodeRow) []nodeColumn {
	var out []nodeColumn
	for _, c := range cols {
		if !c.spare || c.Name != "number" && someRowSays(c, rows) {
			out = append(out, c)
		}
	}
	return out
}

func someRowSays(c nodeColumn, rows []nodeRow) bool {
	for i := range rows {
		if !saysNothing(c.value(&rows[i])) {
			return true
		}
	}
	return false
}

// printNodeRows prints rows in columns, the name first.
func (r *runner) printNodeRows(res output.Result, cols []nodeColumn, rows []nodeRow) error {
	for _, c := range cols {
		res.Columns = append(res.Columns, c.Column)
	}
	p := r.printer(res)
	values := make([]any, len(cols))
	for i := range rows {
		for k := range cols {
			values[k] = cols[k].value(&rows[i])
		}
		if err := p.Row(values...); err != nil {
			return err
		}
	}
	return p.Close()
}
