package exec

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Explain writes a plan in lines; analyze adds what its run took.
func Explain(p *Plan, analyze bool) []string {
	w := &planWriter{analyze: analyze}
	w.query(p, "")
	if analyze {
		w.line("", "%s in %.3f ms", RowsText(uint64(p.Counts.Rows)), float64(p.Counts.Nanos)/1e6)
	}
	return w.lines
}

type planWriter struct {
	analyze bool
	lines   []string
}

func (w *planWriter) line(indent, format string, args ...any) {
	w.lines = append(w.lines, indent+fmt.Sprintf(format, args...))
}

// query writes a plan from its result down to its tables.
func (w *planWriter) query(p *Plan, indent string) {
	if p.Limited {
		w.line(indent, "limit")
		indent += "  "
	}
	if len(p.Order) > 0 {
		words := make([]string, len(p.Order))
		for i := range p.Order {
			words[i] = p.Order[i].Words
		}
		how := "sort all"
		if p.Limited {
			how = "keep the first"
		}
		w.line(indent, "%s by %s", how, strings.Join(words, ", "))
		indent += "  "
	}
	if p.Distinct {
		w.line(indent, "each row once")
		indent += "  "
	}
	if p.Windows != nil {
		w.line(indent, "windows: %s", strings.Join(p.Windows.words(), ", "))
		indent += "  "
	}
	if p.Group != nil {
		indent = w.group(p, indent)
	}
	for i, st := range p.Steps {
		w.step(st, i, indent, p.Group != nil && p.fromParts())
		indent += "  "
	}
}

func (w *planWriter) group(p *Plan, indent string) string {
	var names []string
	for _, a := range p.Group.Aggs {
		names = append(names, a.Name)
	}
	by := ""
	if len(p.Group.Words) > 0 {
		by = " by " + strings.Join(p.Group.Words, ", ")
	}
	how := ""
	if p.fromParts() {
		how = ", from bitmaps: no row is looked at"
	}
	w.line(indent, "group%s: %s%s", by, strings.Join(names, ", "), how)
	return indent + "  "
}

// fromParts reports whether groups are made without reading rows.
func (p *Plan) fromParts() bool {
	st, cols, ok := p.partTable()
	if !ok {
		return false
	}
	if len(cols) == 0 {
		_, counted := st.Src.Table.(tables.Counted)
		_, indexed := st.Src.Table.(tables.Indexed)
		return st.Rows != nil || counted || indexed
	}
	table, ok := st.Src.Table.(tables.Indexed)
	if ok {
		_, ok = table.Split(cols)
	}
	return ok
}

// RowsText writes a number of rows.
func RowsText(n uint64) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}

func (w *planWriter) step(st *Step, i int, indent string, parts bool) {
	what := st.Src.Name
	if st.Src.Of != "" && st.Src.Of != what {
		what = st.Src.Of + " as " + what
	}
	how := "scan"
	switch {
	case st.Src.Fn != nil:
		how = "call"
	case st.Method == LookupJoin:
		how = fmt.Sprintf("look up %s in", st.Src.Columns[st.Column].Name)
	case st.Method == HashJoin:
		how = "hash"
	case st.Method == LoopJoin:
		how = "keep and go through"
	case st.Rows != nil:
		how = "bitmap of"
	case st.Span != nil:
		how = "read a part of"
	case parts:
		how = "parts of"
	}
	if i > 0 {
		how = "join: " + how
		if st.Left {
			how = "left " + how
		}
	}
	size := ""
	if st.Rows != nil {
		size = ", " + RowsText(st.Rows.GetCardinality()) + " exactly"
	} else if c, ok := st.Src.Table.(tables.Counted); ok && st.Method != LookupJoin {
		size = ", " + RowsText(uint64(c.Count()))
	}
	if w.analyze {
		size += fmt.Sprintf(" -> %d", st.counts.Rows)
	}
	w.line(indent, "%s %s%s", how, what, size)
	for _, note := range st.Notes {
		w.line(indent+"    ", "known of each row: %s", note)
	}
	if len(st.Words) > 0 {
		w.line(indent+"    ", "looked at row by row: %s", strings.Join(st.Words, " AND "))
	}
	w.producer(st.Src.Sub, indent+"    ")
}

// producer writes what a source reads.
func (w *planWriter) producer(p Producer, indent string) {
	switch p := p.(type) {
	case *Plan:
		w.query(p, indent)
	case *Shared:
		w.line(indent, "query %s%s", p.Name, map[bool]string{true: ", kept"}[p.Refs > 1])
		w.producer(p.Plan, indent+"  ")
	case *Compound:
		for i, arm := range p.Arms {
			if i > 0 {
				w.line(indent, "%s", values.Lower(p.Ops[i].String()))
			}
			w.producer(arm, indent+"  ")
		}
	case *ValuesPlan:
		w.line(indent, "values, %s", RowsText(uint64(len(p.Rows))))
	case *Recursive:
		w.line(indent, "first")
		w.producer(p.First, indent+"  ")
		for _, arm := range p.Arms {
			w.line(indent, "for each row of it")
			w.query(arm.Plan, indent+"  ")
		}
	}
}
