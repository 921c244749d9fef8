package listing

import (
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
)

// Fit leaves out columns for which a terminal of limit columns has no room, if the other columns let one
// guess their values. It returns the names of those left out. If that is not enough, all columns stay,
// and the table turns into blocks of lines. The survey must have measured.
func (s *Survey) Fit(cols output.Fields[*Node], limit int) (kept output.Fields[*Node], out []string) {
	widths := s.widths.of
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

// expendable lists the columns that Fit may leave out, the least missed first.
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

// widths are the widths of columns.
type widths struct {
	printer *output.Printer
	columns output.Fields[*Node]
	of      map[string]int // by name
	cell    []byte
}

func newWidths(p *output.Printer, columns output.Fields[*Node]) *widths {
	w := &widths{printer: p, columns: columns, of: make(map[string]int)}
	for _, c := range columns {
		w.of[c.Name] = output.TextWidth(c.Name)
	}
	return w
}

// see measures another node.
func (w *widths) see(n *Node) {
	for _, c := range w.columns {
		w.cell = w.printer.AppendHuman(w.cell[:0], c.Column(), c.Value(n))
		w.of[c.Name] = max(w.of[c.Name], output.TextWidth(w.cell))
	}
}

func fitsIn(cols output.Fields[*Node], widths map[string]int, limit int) bool {
	want := make([]int, len(cols))
	for i, c := range cols {
		want[i] = widths[c.Name]
	}
	_, fits := output.FitWidths(want, cols.Columns(), limit)
	return fits
}
