package query

import (
	"fmt"
	"strings"
)

// Explain writes a plan, a line a row; analyze tells what its run took, too.
func Explain(p *selectPlan, analyze bool) []string {
	w := &planWriter{analyze: analyze}
	w.query(p, "")
	if analyze {
		w.line("", "%s in %.3f ms", rowsText(uint64(p.counts.rows)), float64(p.counts.nanos)/1e6)
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
func (w *planWriter) query(p *selectPlan, indent string) {
	if p.limited {
		w.line(indent, "limit")
		indent += "  "
	}
	if len(p.order) > 0 {
		words := make([]string, len(p.order))
		for i := range p.order {
			words[i] = p.order[i].words
		}
		how := "sort all"
		if p.limited {
			how = "keep the first"
		}
		w.line(indent, "%s by %s", how, strings.Join(words, ", "))
		indent += "  "
	}
	if p.distinct {
		w.line(indent, "each row once")
		indent += "  "
	}
	if p.windows != nil {
		w.line(indent, "windows: %s", strings.Join(p.windows.words(), ", "))
		indent += "  "
	}
	if p.group != nil {
		indent = w.group(p, indent)
	}
	for i, st := range p.steps {
		if p.counted {
			st.explainParts()
		}
		w.step(st, i, indent, p.group != nil && p.fromParts())
		indent += "  "
	}
}

func (w *planWriter) group(p *selectPlan, indent string) string {
	var names []string
	for _, a := range p.group.aggs {
		names = append(names, a.name)
	}
	by := ""
	if len(p.group.words) > 0 {
		by = " by " + strings.Join(p.group.words, ", ")
	}
	how := ""
	if p.fromParts() {
		how = ", from bitmaps: no row is looked at"
	}
	w.line(indent, "group%s: %s%s", by, strings.Join(names, ", "), how)
	return indent + "  "
}

// fromParts reports whether groups are made without looking at rows.
func (p *selectPlan) fromParts() bool {
	st, cols, ok := p.partTable()
	if !ok {
		return false
	}
	if p.counted {
		return true
	}
	if len(cols) == 0 {
		_, counted := st.src.table.(Counted)
		_, indexed := st.src.table.(Indexed)
		return st.rows != nil || counted || indexed
	}
	table, ok := st.src.table.(Indexed)
	if ok {
		_, ok = table.Split(cols)
	}
	return ok
}

// rowsText says how many rows.
func rowsText(n uint64) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}

func (w *planWriter) step(st *runStep, i int, indent string, parts bool) {
	what := st.src.name
	if st.src.of != "" && st.src.of != what {
		what = st.src.of + " as " + what
	}
	how := "scan"
	switch {
	case st.src.fn != nil:
		how = "call"
	case st.method == lookupJoin:
		how = fmt.Sprintf("look up %s in", st.src.columns[st.column].Name)
	case st.method == hashJoin:
		how = "hash"
	case st.method == loopJoin:
		how = "keep and go through"
	case st.rows != nil:
		how = "bitmap of"
	case st.span != nil:
		how = "read a part of"
	case parts:
		how = "parts of"
	}
	if i > 0 {
		how = "join: " + how
		if st.left {
			how = "left " + how
		}
		if st.right {
			how = map[bool]string{true: "full " + strings.TrimPrefix(how, "left "), false: "right " + how}[st.left]
		}
	}
	size := ""
	if st.rows != nil {
		size = ", " + rowsText(st.rows.GetCardinality()) + " exactly"
	} else if len(st.asked) > 0 {
		size = ", " + rowsText(st.sizeOfParts(st.filters)) + " exactly"
	} else if c, ok := st.src.table.(Counted); ok && st.method != lookupJoin {
		size = ", " + rowsText(uint64(c.Count()))
	}
	if w.analyze {
		size += fmt.Sprintf(" -> %d", st.counts.rows)
	}
	w.line(indent, "%s %s%s", how, what, size)
	for _, note := range st.notes {
		w.line(indent+"    ", "known of each row: %s", note)
	}
	if len(st.words) > 0 {
		w.line(indent+"    ", "looked at row by row: %s", strings.Join(st.words, " AND "))
	}
	w.producer(st.src.sub, indent+"    ")
}

// producer writes what a source reads.
func (w *planWriter) producer(p producer, indent string) {
	switch p := p.(type) {
	case *selectPlan:
		w.query(p, indent)
	case *shared:
		w.line(indent, "query %s%s", p.name, map[bool]string{true: ", kept"}[p.refs > 1])
		w.producer(p.plan, indent+"  ")
	case *compound:
		for i, arm := range p.arms {
			if i > 0 {
				w.line(indent, "%s", lowerASCII(p.ops[i].String()))
			}
			w.producer(arm, indent+"  ")
		}
	case *valuesPlan:
		w.line(indent, "values, %s", rowsText(uint64(len(p.rows))))
	case *recursive:
		w.line(indent, "first")
		w.producer(p.first, indent+"  ")
		for _, arm := range p.arms {
			w.line(indent, "for each row of it")
			w.query(arm.selectPlan, indent+"  ")
		}
	}
}
