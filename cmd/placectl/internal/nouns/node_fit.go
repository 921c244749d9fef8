package nouns

import (
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
)

// FitNodes leaves out of a table what a narrow terminal, of limit columns, has no room for:
// only what the other columns let one guess. It says which those are. Where that would
// not help, all columns stay, and the table turns into blocks of lines.
func FitNodes(p *output.Printer, cols output.Fields[*Node], rows []Node, limit int) (kept output.Fields[*Node], out []string) {
	widths := measure(p, cols, rows)
	kept = slices.Clone(cols)
	for _, name := range expendable(cols) {
		if fitsIn(kept, widths, limit) {
			break
		}
		kept = slices.DeleteFunc(kept, func(c output.Field[*Node]) bool { return c.Name == name })
		out = append(out, name)
	}
	if !fitsIn(kept, widths, limit) {
		return cols, nil
	}
	return kept, out
}

// expendable lists the columns that may go, first those that are missed least.
func expendable(cols output.Fields[*Node]) []string {
	names := []string{"bucket", "jobs"}
	for _, c := range slices.Backward(cols) {
		if strings.HasSuffix(c.Name, nodefile.FreeSuffix) {
			names = append(names, c.Name)
		}
	}
	names = append(names, "free_until")
	return slices.DeleteFunc(names, func(name string) bool {
		return !slices.ContainsFunc(cols, func(c output.Field[*Node]) bool { return c.Name == name })
	})
}

// measure is how wide each column would be, by name.
func measure(p *output.Printer, cols output.Fields[*Node], rows []Node) map[string]int {
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

func fitsIn(cols output.Fields[*Node], widths map[string]int, limit int) bool {
	want := make([]int, len(cols))
	for i, c := range cols {
		want[i] = widths[c.Name]
	}
	_, fits := output.FitWidths(want, cols.Columns(), limit)
	return fits
}
