package output

import "strings"

// boxLayout is a table with lines around its cells. As in a table, it wraps the widest columns if the
// terminal is too narrow. If that is not enough, rows become blocks.
type boxLayout struct {
	tableLayout
	widths []int // nil until the first row is written
}

// borders are the pieces of horizontal lines: above the header, below it, and below everything.
var borders = map[bool][3][4]string{
	true:  {{"┌", "─", "┬", "┐"}, {"├", "─", "┼", "┤"}, {"└", "─", "┴", "┘"}},
	false: {{"+", "-", "+", "+"}, {"+", "-", "+", "+"}, {"+", "-", "+", "+"}},
}

func (l *boxLayout) flush(p *Printer) {
	const side = 2 // a border and a blank at each end, and one more blank in each gap
	widths, fits := l.fit(p, 2*side+len(p.cols)-1)
	var err error
	switch {
	case fits, p.rows == 0: // without rows, only the header
		first := l.widths == nil
		l.widths = widths
		if first {
			l.rule(p, 0)
		}
		err = l.eachRow(p, func(cells []cell) { l.line(p, cells) })
	default:
		err = l.writeLines(p)
	}
	l.rows.Reset()
	if p.err == nil {
		p.err = err
	}
}

func (l *boxLayout) end(p *Printer) {
	if l.widths != nil {
		l.rule(p, 2)
	}
}

// rule writes one of the borders.
func (l *boxLayout) rule(p *Printer, which int) {
	b := borders[p.o.Unicode][which]
	for i, w := range l.widths {
		p.buf = append(p.buf, b[min(2*i, 2)]...)
		p.buf = append(p.buf, strings.Repeat(b[1], w+2)...)
	}
	p.buf = append(append(p.buf, b[3]...), '\n')
}

// line writes one row, on as many lines as its longest cell needs.
func (l *boxLayout) line(p *Printer, cells []cell) {
	bar := map[bool]string{true: "│", false: "|"}[p.o.Unicode]
	for more := true; more; {
		more = false
		for i := range cells {
			n := BreakAt(cells[i].text, l.widths[i])
			line := cells[i].text[:n]
			cells[i].text = cells[i].text[n:]
			more = more || len(cells[i].text) > 0
			p.buf = append(append(p.buf, bar...), ' ')
			p.buf = append(appendAligned(p.buf, line, l.widths[i]-TextWidth(line), p.cols[i].right(), false), ' ')
		}
		p.buf = append(append(p.buf, bar...), '\n')
	}
	if !l.headed {
		l.headed = true
		l.rule(p, 1)
	}
}
