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
		f.Unit = FrameRows
	case p.accept("GROUPS"):
		f.Unit = FrameGroups
	default:
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
	if p.accept("EXCLUDE") {
		f.Exclude = p.exclusion()
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

func (p *parser) exclusion() Exclusion {
	switch {
	case p.accept("NO"):
		p.expect("OTHERS", "")
		return ExcludeNone
	case p.accept("CURRENT"):
		p.expect("ROW", "")
		return ExcludeRow
	case p.accept("GROUP"):
		return ExcludeGroup
	case p.accept("TIES"):
		return ExcludeTies
	}
	p.unexpected("NO OTHERS, CURRENT ROW, GROUP or TIES", "")
	return 0
}
