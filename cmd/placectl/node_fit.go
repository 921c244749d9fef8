package main

import (
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
)

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
