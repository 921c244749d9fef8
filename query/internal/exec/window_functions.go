package exec

import (
	"sort"

	"github.com/placectl/placectl/query/internal/functions"
	"github.com/placectl/placectl/query/values"
)

// windowKind describes a window function that is not an aggregate.
type windowKind struct {
	Least, Most int
	value       func(p *partition, c *WindowCall, at int) values.Value
	OfValue     bool // returns a value of its first argument
	alone       bool // treats rows that are equal in the order like others
}

var WindowKinds = map[string]windowKind{
	"row_number": {0, 0, func(_ *partition, _ *WindowCall, at int) values.Value {
		return values.Int(int64(at) + 1)
	}, false, true},
	"rank": {0, 0, func(p *partition, _ *WindowCall, at int) values.Value {
		return values.Int(int64(p.starts[p.peers[at]]) + 1)
	}, false, false},
	"dense_rank": {0, 0, func(p *partition, _ *WindowCall, at int) values.Value {
		return values.Int(int64(p.peers[at]) + 1)
	}, false, false},
	"percent_rank": {0, 0, percentRank, false, false},
	"cume_dist":    {0, 0, cumeDist, false, false},
	"lag": {1, 3, func(p *partition, c *WindowCall, at int) values.Value { return p.shifted(c, at, -1) },
		true, true},
	"lead": {1, 3, func(p *partition, c *WindowCall, at int) values.Value { return p.shifted(c, at, 1) },
		true, true},
	"first_value": {1, 1, func(p *partition, c *WindowCall, at int) values.Value { return p.inFrame(c, at, false) },
		true, false},
	"last_value": {1, 1, func(p *partition, c *WindowCall, at int) values.Value { return p.inFrame(c, at, true) },
		true, false},
}

// call computes a function for all rows of the partition, in its order.
func (p *partition) call(e *Env, c *WindowCall, result []values.Value) error {
	if c.Agg != nil {
		return p.aggregate(e, c, result)
	}
	for at := range p.rows {
		if err := e.Step(); err != nil {
			return err
		}
		result[at] = c.Kind.value(p, c, at)
	}
	return nil
}

// aggregate computes an aggregate for the frame of each row. If the frame begins where the previous one
// did, it only adds rows.
func (p *partition) aggregate(e *Env, c *WindowCall, result []values.Value) error {
	var s *functions.State
	first, next := -1, 0
	var last values.Value
	scratch := make([]values.Value, maxArguments)
	for at := range p.rows {
		from, to := p.frame(at)
		if from == first && to == next && s != nil {
			result[at] = last
			continue
		}
		if s == nil || from != first || to < next {
			s, first, next = &functions.State{}, from, from
		}
		for ; next < to; next++ {
			if err := e.Step(); err != nil {
				return err
			}
			p.add(e, c, s, next, scratch)
		}
		last = c.Agg.AggregateKind.Result(&e.Budget, s)
		if result[at] = last; e.Err != nil {
			return c.Failed(e.Err)
		}
	}
	return e.Err
}

// add adds a row to an aggregate.
func (p *partition) add(e *Env, c *WindowCall, s *functions.State, at int, scratch []values.Value) {
	if c.Filter >= 0 && p.input(at, c.Filter).Truth() != values.Yes {
		return
	}
	if c.Agg.Star {
		s.N++
		return
	}
	for i, in := range c.Args {
		scratch[i] = p.input(at, in)
	}
	if scratch[0].Kind() != values.Null || c.Agg.Nulls {
		c.Agg.take(e, s, scratch[0], scratch[:len(c.Args)], 1)
	}
}

func percentRank(p *partition, _ *WindowCall, at int) values.Value {
	if len(p.rows) < 2 {
		return values.Float(0)
	}
	return values.Float(float64(p.starts[p.peers[at]]) / float64(len(p.rows)-1))
}

func cumeDist(p *partition, _ *WindowCall, at int) values.Value {
	return values.Float(float64(p.starts[p.peers[at]+1]) / float64(len(p.rows)))
}

// shifted returns the value of a row a number of rows before or after.
func (p *partition) shifted(c *WindowCall, at, side int) values.Value {
	by := int64(1)
	if len(c.Args) > 1 {
		v := p.input(at, c.Args[1])
		if v.Kind() == values.Null {
			return values.Value{}
		}
		by = v.AsInt()
	}
	if by > int64(len(p.rows)) || by < -int64(len(p.rows)) {
		by = int64(len(p.rows))
	}
	if other := at + side*int(by); other >= 0 && other < len(p.rows) {
		return p.input(other, c.Args[0])
	}
	if len(c.Args) > 2 {
		return p.input(at, c.Args[2])
	}
	return values.Value{}
}

// inFrame returns the value of the frame's first or last row; NULL if it has none.
func (p *partition) inFrame(c *WindowCall, at int, last bool) values.Value {
	from, to := p.frame(at)
	switch {
	case from >= to:
		return values.Value{}
	case last:
		return p.input(to-1, c.Args[0])
	}
	return p.input(from, c.Args[0])
}

// WindowNames lists the names allowed before OVER.
func WindowNames() []string {
	out := WindowFunctionNames()
	for name := range functions.Aggregates {
		out = append(out, name)
	}
	return out
}

// WindowFunctionNames lists the functions for windows only, for completion.
func WindowFunctionNames() []string {
	var out []string
	for name := range WindowKinds {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}
