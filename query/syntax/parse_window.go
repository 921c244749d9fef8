package syntax

import "sync"

// over reads what follows OVER: a name, or a window in parentheses.
func (p *parser) over() *Window {
	pos := p.tok.pos
	if !p.tok.is("(") {
		w := &Window{Name: p.name("a window's name or a parenthesis")}
		w.Span = p.from(pos)
		return w
	}
	return p.window("")
}

// windows reads WINDOW name AS (...), ...
func (p *parser) windows() []Window {
	var out []Window
	for {
		name := p.name("a name for the window")
		p.expect("AS", "")
		if out = append(out, *p.window(name)); !p.accept(",") {
			return out
		}
		if len(out) > MaxTables {
			p.fail(p.tok.pos, "more than %d windows", MaxTables)
		}
	}
}

func (p *parser) window(name string) *Window {
	defer p.enter()()
	pos := p.tok.pos
	p.expect("(", "")
	w := &Window{Name: name}
	if t := p.tok; t.kind == tokenQuoted || t.kind == tokenWord && !reserved()[t.upper()] && !windowWords()[t.upper()] {
		w.Base = p.name("a window")
	}
	if p.accept("PARTITION") {
		p.expect("BY", "")
		w.Partition = p.expressions()
	}
	if p.accept("ORDER") {
		p.expect("BY", "")
		w.OrderBy = p.orderBy()
	}
	w.Frame = p.frame()
	p.expect(")", "")
	w.Span = p.from(pos)
	return w
}

// windowWords begin the parts of a window.
var windowWords = sync.OnceValue(func() map[string]bool { return set("PARTITION ORDER RANGE ROWS GROUPS") })

// frame reads ROWS BETWEEN ... AND ... and the like; nil if there is none.
func (p *parser) frame() *Frame {
	f := &Frame{}
	pos := p.tok.pos
	switch {
	case p.accept("RANGE"):
	case p.accept("ROWS"):
		f.Rows = true
	default:
		p.refused("GROUPS")
		return nil
	}
	if p.accept("BETWEEN") {
		f.From = p.bound()
		p.expect("AND", "")
		f.To = p.bound()
	} else {
		f.From = p.bound()
	}
	if f.From.Side > 0 && f.From.X == nil || f.To.Side < 0 && f.To.X == nil || f.From.Side > f.To.Side {
		p.fail(pos, "the frame ends before it begins")
	}
	if p.refused("EXCLUDE"); !f.Rows && (f.From.X != nil || f.To.X != nil) {
		p.refuse(pos, "RANGE with a distance")
	}
	f.Span = p.from(pos)
	return f
}

func (p *parser) bound() Bound {
	if p.accept("CURRENT") {
		p.expect("ROW", "")
		return Bound{}
	}
	var b Bound
	if !p.accept("UNBOUNDED") {
		b.X = p.expression()
	}
	switch {
	case p.accept("PRECEDING"):
		b.Side = -1
	case p.accept("FOLLOWING"):
		b.Side = 1
	default:
		p.unexpected("PRECEDING or FOLLOWING", "")
	}
	return b
}
