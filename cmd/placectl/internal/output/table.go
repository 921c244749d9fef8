package output

import (
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
)

// tableLayout lines columns up. It holds the rows back to measure them, as text
// in one array: no allocation a cell.
//
// On a terminal a table that is too wide has its widest columns wrapped, cell
// by cell; where even that would leave columns too narrow to read, each row
// becomes a block of lines. No text is ever cut.
type tableLayout struct {
	text   []byte
	cells  []cell
	widths []int // the widest of each column, over all rows so far
	headed bool  // the header is written
	blocks bool  // so is a block of lines
}

// cell is text[previous cell's end:end]. maxHeld keeps end within its type.
type cell struct {
	end   int32
	width int32
}

const (
	columnGap  = "  "
	narrowWrap = 12 // columns are not wrapped to less than this

	// maxHeld is how much text is held back to be measured. A table with more
	// is measured in parts, each at least as wide as those before it.
	maxHeld = 1 << 26
)

func (l *tableLayout) begin(p *Printer) {
	l.widths = make([]int, len(p.cols))
	if p.o.NoHeader {
		l.headed = true
		return
	}
	for i, c := range p.cols {
		l.text = spell.AppendPrintable(l.text, strings.ToUpper(c.Name))
		l.endCell(i)
	}
}

func (l *tableLayout) row(p *Printer, values []any) {
	for i, v := range values {
		l.text = p.AppendHuman(l.text, p.cols[i], v)
		l.endCell(i)
	}
	if len(l.text) >= maxHeld {
		l.flush(p)
	}
}

// endCell makes a cell of column col of what was appended to text.
func (l *tableLayout) endCell(col int) {
	start := int32(0)
	if n := len(l.cells); n > 0 {
		start = l.cells[n-1].end
	}
	w := TextWidth(l.text[start:])
	l.cells = append(l.cells, cell{int32(len(l.text)), int32(w)})
	l.widths[col] = max(l.widths[col], w)
}

func (l *tableLayout) end(*Printer) {}

// flush writes the rows held back.
func (l *tableLayout) flush(p *Printer) {
	limit := 0
	if p.o.Terminal && p.o.Width != nil {
		limit = p.o.Width()
	}
	widths, fits := FitWidths(l.widths, p.cols, limit)
	switch {
	case fits:
		l.writeRows(p, widths)
	case p.rows == 0:
		l.writeRows(p, l.widths) // the header alone
	default:
		l.writeLines(p)
	}
	l.text, l.cells = l.text[:0], l.cells[:0]
}

// FitWidths shares out a terminal of limit columns (0 for no limit): the
// columns of words give way, the widest first. It reports whether they can.
func FitWidths(want []int, cols []Column, limit int) ([]int, bool) {
	total := len(columnGap) * (len(want) - 1)
	for _, w := range want {
		total += w
	}
	if limit == 0 || total <= limit {
		return want, true
	}
	got := append([]int(nil), want...)
	for total > limit {
		widest, next := -1, narrowWrap
		for i, c := range cols {
			if c.Kind != Text && c.Kind != Prose && c.Kind != List && c.Kind != Object || got[i] <= narrowWrap {
				continue
			}
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
		// Down to the second widest at once, or by one where they are level.
		step := min(max(got[widest]-next, 1), total-limit)
		got[widest] -= step
		total -= step
	}
	return got, true
}

func (l *tableLayout) writeRows(p *Printer, widths []int) {
	start := int32(0)
	for at := 0; at < len(l.cells); at += len(widths) {
		bold := !l.headed && p.o.Color
		l.headed = true
		if bold {
			p.buf = append(p.buf, "\x1b[1m"...)
		}
		cells := l.cells[at : at+len(widths)]
		start = l.writeRow(p, cells, start, widths)
		if bold {
			p.buf = append(p.buf[:len(p.buf)-1], "\x1b[0m\n"...)
		}
		if len(p.buf) >= spillAt {
			p.write()
		}
	}
}

// writeRow writes one row, and returns where the text of the next begins.
func (l *tableLayout) writeRow(p *Printer, cells []cell, start int32, widths []int) int32 {
	for i, c := range cells {
		if int(c.width) > widths[i] {
			return l.writeWrapped(p, cells, start, widths)
		}
	}
	b := p.buf
	for i, c := range cells {
		if i > 0 {
			b = append(b, columnGap...)
		}
		b = appendAligned(b, l.text[start:c.end], widths[i]-int(c.width), p.cols[i].right(), i == len(cells)-1)
		start = c.end
	}
	p.buf = EndLine(b)
	return start
}

// writeWrapped writes one row on as many lines as its longest cell needs.
func (l *tableLayout) writeWrapped(p *Printer, cells []cell, start int32, widths []int) int32 {
	rest := make([][]byte, len(cells))
	for i, c := range cells {
		rest[i], start = l.text[start:c.end], c.end
	}
	for more := true; more; {
		more = false
		for i := range rest {
			if i > 0 {
				p.buf = append(p.buf, columnGap...)
			}
			n := BreakAt(rest[i], widths[i])
			line := rest[i][:n]
			rest[i] = rest[i][n:]
			more = more || len(rest[i]) > 0
			p.buf = appendAligned(p.buf, line, widths[i]-TextWidth(line), p.cols[i].right(), i == len(rest)-1)
		}
		p.buf = EndLine(p.buf)
	}
	return start
}

// writeLines writes the rows as blocks of lines, without those that would be empty.
func (l *tableLayout) writeLines(p *Printer) {
	lines := &lineLayout{}
	lines.begin(p)
	n, at, start := len(p.cols), 0, int32(0)
	if !l.headed {
		at, start = n, l.cells[n-1].end
	}
	for ; at < len(l.cells); at++ {
		if at%n == 0 && l.blocks {
			p.buf = append(p.buf, '\n')
		}
		if int(start) == int(l.cells[at].end) {
			continue
		}
		p.buf = append(p.buf, lines.names[at%n]...)
		p.buf = EndLine(append(p.buf, l.text[start:l.cells[at].end]...))
		start, l.blocks = l.cells[at].end, true
	}
	l.headed = true
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
