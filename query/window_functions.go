package query

import (
	"fmt"
	"sort"
)

// windowKind is a function of windows that is no aggregate.
type windowKind struct {
	least, most int
	value       func(p *partition, e *env, c *windowCall, at int) Value
	ofValue     bool // what it gives is a value of its first argument
}

var windowKinds = map[string]windowKind{
	"row_number":   {0, 0, func(_ *partition, _ *env, _ *windowCall, at int) Value { return Int(int64(at) + 1) }, false},
	"rank":         {0, 0, func(p *partition, _ *env, _ *windowCall, at int) Value { return Int(int64(p.starts[p.peers[at]]) + 1) }, false},
	"dense_rank":   {0, 0, func(p *partition, _ *env, _ *windowCall, at int) Value { return Int(int64(p.peers[at]) + 1) }, false},
	"percent_rank": {0, 0, percentRank, false},
	"cume_dist":    {0, 0, cumeDist, false},
	"ntile":        {1, 1, ntile, false},
	"lag":          {1, 3, func(p *partition, e *env, c *windowCall, at int) Value { return p.shifted(e, c, at, -1) }, true},
	"lead":         {1, 3, func(p *partition, e *env, c *windowCall, at int) Value { return p.shifted(e, c, at, 1) }, true},
	"first_value":  {1, 1, func(p *partition, _ *env, c *windowCall, at int) Value { return p.inFrame(c, at, 0) }, true},
	"last_value":   {1, 1, func(p *partition, _ *env, c *windowCall, at int) Value { return p.inFrame(c, at, -1) }, true},
	"nth_value":    {2, 2, nthValue, true},
}

// call computes a function for all rows of the partition.
func (p *partition) call(e *env, c *windowCall, result []Value) error {
	if c.agg != nil {
		return p.aggregate(e, c, result)
	}
	for at, row := range p.rows {
		if err := e.step(); err != nil {
			return err
		}
		result[row] = c.kind.value(p, e, c, at)
	}
	return e.err
}

// aggregate computes an aggregate for the frame of each row. A frame that begins where
// the one before did only grows.
func (p *partition) aggregate(e *env, c *windowCall, result []Value) error {
	var s *state
	first, next := -1, 0
	var last Value
	scratch := make([]Value, maxArguments)
	for at, row := range p.rows {
		from, to := p.frame(at)
		if p.spec.frame.Exclude == ExcludeNone && from == first && to == next && s != nil {
			result[row] = last
			continue
		}
		if p.spec.frame.Exclude != ExcludeNone || s == nil || from != first || to < next {
			s, first, next = &state{}, from, from
		}
		for ; next < to; next++ {
			if err := e.step(); err != nil {
				return err
			}
			if !p.excluded(at, next) {
				p.add(e, c, s, next, scratch)
			}
		}
		last = c.agg.aggregateKind.result(&e.budget, s)
		if result[row] = last; e.err != nil {
			return e.err
		}
	}
	return e.err
}

// add adds a row to an aggregate.
func (p *partition) add(e *env, c *windowCall, s *state, at int, scratch []Value) {
	if c.filter >= 0 && p.input(at, c.filter).truth() != yes {
		return
	}
	if c.agg.star {
		s.n++
		return
	}
	for i, in := range c.args {
		scratch[i] = p.input(at, in)
	}
	if scratch[0].kind != Null || c.agg.nulls {
		c.agg.take(e, s, scratch[0], scratch[:len(c.args)], 1)
	}
}

func percentRank(p *partition, _ *env, _ *windowCall, at int) Value {
	if len(p.rows) < 2 {
		return Float(0)
	}
	return Float(float64(p.starts[p.peers[at]]) / float64(len(p.rows)-1))
}

func cumeDist(p *partition, _ *env, _ *windowCall, at int) Value {
	return Float(float64(p.starts[p.peers[at]+1]) / float64(len(p.rows)))
}

// ntile parts the rows into so many parts; the first ones are larger by one where it does
// not come out even.
func ntile(p *partition, e *env, c *windowCall, at int) Value {
	n := p.input(0, c.args[0]).asInt()
	if n <= 0 {
		return e.fail(fmt.Errorf("%w: the argument of ntile is a positive integer", ErrQuery))
	}
	total := int64(len(p.rows))
	size := total / n
	if size == 0 {
		return Int(int64(at) + 1)
	}
	large := (total - n*size) * (size + 1)
	if i := int64(at); i < large {
		return Int(1 + i/(size+1))
	}
	return Int(1 + total - n*size + (int64(at)-large)/size)
}

// shifted is the value of a row so many before or behind.
func (p *partition) shifted(e *env, c *windowCall, at, side int) Value {
	by := int64(1)
	if len(c.args) > 1 {
		v := p.input(at, c.args[1])
		if v.kind == Null {
			return Value{}
		}
		by = v.asInt()
	}
	if by > int64(len(p.rows)) || by < -int64(len(p.rows)) {
		by = int64(len(p.rows))
	}
	if other := at + side*int(by); other >= 0 && other < len(p.rows) {
		return p.input(other, c.args[0])
	}
	if len(c.args) > 2 {
		return p.input(at, c.args[2])
	}
	return Value{}
}

// inFrame is the value of the n-th row of the frame, counted from the end for -1.
func (p *partition) inFrame(c *windowCall, at, n int) Value {
	if p.spec.frame.Exclude != ExcludeNone {
		rows := p.framed(at)
		if n < 0 {
			n = len(rows) - 1
		}
		if n < 0 || n >= len(rows) {
			return Value{}
		}
		return p.input(rows[n], c.args[0])
	}
	from, to := p.frame(at)
	if n < 0 {
		n = to - from - 1
	}
	if n < 0 || from+n >= to {
		return Value{}
	}
	return p.input(from+n, c.args[0])
}

func nthValue(p *partition, e *env, c *windowCall, at int) Value {
	n := p.input(at, c.args[1])
	if v := NumericAffinity.Stored(n); v.kind != Integer || v.Int64() <= 0 {
		return e.fail(fmt.Errorf("%w: the second argument of nth_value is a positive integer", ErrQuery))
	}
	return p.inFrame(c, at, int(min(NumericAffinity.Stored(n).Int64(), int64(len(p.rows)+1)))-1)
}

func windowNames() []string {
	out := WindowFunctionNames()
	for name := range aggregates {
		out = append(out, name)
	}
	return out
}

// WindowFunctionNames lists the functions that only windows have, for completion.
func WindowFunctionNames() []string {
	var out []string
	for name := range windowKinds {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}
