package output

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/spool"
	"github.com/placectl/placectl/internal/text"
)

// tableLayout aligns columns. It holds rows back as text, to measure them.
//
// If a table is too wide for the terminal, its widest columns are wrapped, cell by cell. If columns
// would still be too narrow to read, each row becomes a block of lines. Text is cut only in columns
// that declare it (Column.Least), and then ends in a plus sign.
type tableLayout struct {
	rows   spool.Spool // for each cell its length, its width if different, and its text
	line   []byte      // scratch: one of those rows
	cell   []byte      // scratch: one text
	cells  []cell      // scratch: a row read back
	widths []int       // the widest of each column, over all rows so far
	says   []bool      // the columns with a value other than 0, over all rows so far
	shown  []int       // while rows are written: the indices of their columns
	headed bool        // the header has been written
	blocks bool        // a block of lines has been written
}

// cell is a text and its width in columns of a terminal.
type cell struct {
	text  []byte
	width int
}

const (
	columnGap  = "  "
	narrowWrap = 12 // the least width of a wrapped column
)

func (l *tableLayout) begin(p *Printer) {
	l.widths, l.cells, l.says = make([]int, len(p.cols)), make([]cell, len(p.cols)), make([]bool, len(p.cols))
	if p.o.NoHeader {
		l.headed = true
		return
	}
	for i, c := range p.cols {
		l.cell = text.AppendPrintable(l.cell[:0], strings.ToUpper(c.Name))
		l.endCell(i)
	}
	l.endRow()
}

func (l *tableLayout) row(p *Printer, values []any) {
	for i, v := range values {
		l.cell = p.AppendHuman(l.cell[:0], p.cols[i], v)
		l.says[i] = l.says[i] || len(bytes.Trim(l.cell, "0.s")) > 0
		l.endCell(i)
	}
	l.endRow()
}

// endCell adds the current text to the row, as the cell of column col.
func (l *tableLayout) endCell(col int) {
	n, w := len(l.cell), TextWidth(l.cell)
	if w == n {
		l.line = binary.AppendUvarint(l.line, uint64(n)<<1)
	} else {
		l.line = binary.AppendUvarint(binary.AppendUvarint(l.line, uint64(n)<<1|1), uint64(w))
	}
	l.line = append(l.line, l.cell...)
	l.widths[col] = max(l.widths[col], w)
}

func (l *tableLayout) endRow() {
	l.rows.Write(l.line) //nolint:errcheck // a spool's writes never fail
	l.line = l.line[:0]
}

// eachRow calls fn for the held rows until the printer fails.
func (l *tableLayout) eachRow(p *Printer, fn func([]cell)) error {
	return l.rows.Each(func(piece []byte) error {
		for len(piece) > 0 {
			for i := range l.cells {
				n, at := binary.Uvarint(piece)
				piece = piece[at:]
				w := n >> 1
				if n&1 != 0 {
					w, at = binary.Uvarint(piece)
					piece = piece[at:]
				}
				l.cells[i] = cell{piece[:n>>1], int(w)}
				piece = piece[n>>1:]
			}
			cells := l.cells[:0]
			for _, i := range l.shown {
				cells = append(cells, l.cells[i])
			}
			fn(cells)
			if len(p.buf) >= spillAt {
				p.write()
			}
			if p.err != nil {
				return p.err
			}
		}
		return nil
	})
}

func (l *tableLayout) end(*Printer) {}

// flush writes the held rows.
func (l *tableLayout) flush(p *Printer) {
	if p.o.Quiet && p.rows == 0 {
		return // wait for a row before writing the header
	}
	all := p.cols
	defer func() { p.cols = all }()
	l.shown, p.cols = l.shown[:0], nil
	for i, c := range all {
		if !c.Sparse || l.says[i] || p.o.Columns != "" {
			l.shown, p.cols = append(l.shown, i), append(p.cols, c)
		}
	}
	widths, fits := l.fit(p)
	var err error
	switch {
	case fits:
		err = l.writeRows(p, widths)
	case p.rows == 0:
		err = l.writeRows(p, widths) // only the header
	default:
		err = l.writeLines(p)
	}
	l.rows.Reset()
	if p.err == nil {
		p.err = err
	}
}

// fit computes the widths of the columns, and whether the terminal is wide enough.
func (l *tableLayout) fit(p *Printer) ([]int, bool) {
	var want []int
	for _, i := range l.shown {
		want = append(want, l.widths[i])
		if i < len(p.o.Widths) && p.o.Widths[i] > 0 {
			want[len(want)-1] = p.o.Widths[i]
		}
	}
	limit := 0
	if p.o.Terminal && p.o.Width != nil {
		limit = p.o.Width()
	}
	if got, fits := FitWidths(want, p.cols, limit); fits {
		return got, true
	}
	return want, false
}

// FitWidths distributes a terminal's limit columns (0 for no limit). Columns of words shrink, the
// widest first. If some may be cut, only those shrink. FitWidths reports whether all fit.
func FitWidths(want []int, cols []Column, limit int) ([]int, bool) {
	total := len(columnGap) * (len(want) - 1)
	for _, w := range want {
		total += w
	}
	if limit == 0 || total <= limit {
		return want, true
	}
	got := append([]int(nil), want...)
	cut := slices.ContainsFunc(cols, func(c Column) bool { return c.Least > 0 })
	for total > limit {
		widest, next := -1, 0
		for i, c := range cols {
			least := leastWidth(c, cut)
			if got[i] <= least {
				continue
			}
			next = max(next, least)
			if widest < 0 || got[i] > got[widest] {
				if widest >= 0 {
					next = max(next, got[widest])
				}
				widest = i
			} else {
				next = max(next, got[i])
			}
		}
		if widest < 0 {
			return nil, false
		}
		// Shrink to the second widest at once, or by one if they are equally wide.
		step := min(max(got[widest]-next, 1), total-limit)
		got[widest] -= step
		total -= step
	}
	return got, true
}

// leastWidth returns the width below which a column does not shrink, in a table whose columns are cut or
// wrapped.
func leastWidth(c Column, cut bool) int {
	switch {
	case cut && c.Least > 0:
		return c.Least
	case !cut && (c.Kind == Text || c.Kind == Prose || c.Kind == List || c.Kind == Object):
		return narrowWrap
	}
	return math.MaxInt
}

func (l *tableLayout) writeRows(p *Printer, widths []int) error {
	return l.eachRow(p, func(cells []cell) {
		bold := !l.headed && p.o.Color
		l.headed = true
		if bold {
			p.buf = append(p.buf, "\x1b[1m"...)
		}
		l.writeRow(p, cells, widths)
		if bold {
			p.buf = append(p.buf[:len(p.buf)-1], "\x1b[0m\n"...)
		}
	})
}

func (l *tableLayout) writeRow(p *Printer, cells []cell, widths []int) {
	for i := range cells {
		if cells[i].width <= widths[i] {
			continue
		}
		if p.cols[i].Least == 0 {
			writeWrapped(p, cells, widths)
			return
		}
		l.cell = Cut(l.cell[:0], cells[i].text, widths[i])
		cells[i] = cell{slices.Clone(l.cell), TextWidth(l.cell)}
	}
	b := p.buf
	for i := range cells {
		if i > 0 {
			b = append(b, columnGap...)
		}
		b = appendAligned(b, cells[i].text, widths[i]-cells[i].width, p.cols[i].right(), i == len(cells)-1)
	}
	p.buf = EndLine(b)
}

// writeWrapped writes one row, on as many lines as its longest cell needs.
func writeWrapped(p *Printer, cells []cell, widths []int) {
	for more := true; more; {
		more = false
		for i := range cells {
			if i > 0 {
				p.buf = append(p.buf, columnGap...)
			}
			rest := &cells[i].text
			n := BreakAt(*rest, widths[i])
			line := (*rest)[:n]
			*rest = bytes.TrimLeft((*rest)[n:], " ")
			more = more || len(*rest) > 0
			p.buf = appendAligned(p.buf, line, widths[i]-TextWidth(line), p.cols[i].right(), i == len(cells)-1)
		}
		p.buf = EndLine(p.buf)
	}
}

// writeLines writes the rows as blocks of lines, and omits empty ones.
func (l *tableLayout) writeLines(p *Printer) error {
	lines := &lineLayout{}
	lines.begin(p)
	return l.eachRow(p, func(cells []cell) {
		if !l.headed {
			l.headed = true
			return
		}
		if l.blocks {
			p.buf = append(p.buf, '\n')
		}
		for i := range cells {
			if len(cells[i].text) == 0 {
				continue
			}
			p.buf = lines.appendName(p.buf, title(&p.cols[i]))
			p.buf = EndLine(append(p.buf, cells[i].text...))
			l.blocks = true
		}
	})
}

func appendAligned(b, s []byte, pad int, right, last bool) []byte {
	if right {
		return append(AppendBlanks(b, pad), s...)
	}
	b = append(b, s...)
	if last {
		return b
	}
	return AppendBlanks(b, pad)
}
