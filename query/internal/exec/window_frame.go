package exec

import (
	"sort"

	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/values"
)

// partition is the rows of one partition in their order.
type partition struct {
	r      *windowRows
	spec   *WindowSpec
	rows   []int
	peers  []int // each row's group of peers: rows that are equal in the order
	starts []int // the first row of each group, and the number of rows at the end
}

// group finds the peers.
func (p *partition) group(s *sorter) {
	p.peers = make([]int, len(p.rows))
	for i := range p.rows {
		if i == 0 || p.r.compareOrder(p.spec, s, p.rows[i-1], p.rows[i]) != 0 {
			p.starts = append(p.starts, i)
		}
		p.peers[i] = len(p.starts) - 1
	}
	p.starts = append(p.starts, len(p.rows))
}

// input returns a computed input of a row.
func (p *partition) input(at, number int) values.Value { return p.r.input(p.rows[at], number) }

// frame returns the rows from..to-1 that belong to a row. If there are none, to may be before from.
func (p *partition) frame(at int) (from, to int) {
	f := &p.spec.Frame
	return p.end(at, f.From, &p.spec.From, false), p.end(at, f.To, &p.spec.To, true)
}

// end returns the first or last row of a frame.
func (p *partition) end(at int, b syntax.Bound, much *Code, last bool) int {
	n := len(p.rows)
	if b.Side != 0 && b.X == nil {
		if b.Side < 0 {
			return 0
		}
		return n
	}
	group := p.peers[at]
	switch p.spec.Frame.Unit {
	case syntax.FrameRows:
		i := at
		if b.Side != 0 {
			v, _ := much.ConstantOf()
			i += b.Side * int(min(v.Int64(), int64(n)))
		}
		if last {
			i++
		}
		return min(max(i, 0), n)
	case syntax.FrameGroups:
		if b.Side != 0 {
			v, _ := much.ConstantOf()
			group += b.Side * int(min(v.Int64(), int64(n)))
		}
		if last {
			group++
		}
		return p.starts[min(max(group, 0), len(p.starts)-1)]
	}
	if b.Side == 0 {
		return p.starts[group+map[bool]int{true: 1}[last]]
	}
	return p.distance(at, b, much, last)
}

// distance returns the end of a RANGE that reaches this far in the value of the order.
func (p *partition) distance(at int, b syntax.Bound, much *Code, last bool) int {
	key := &p.spec.Order[0]
	in := p.spec.Keys[0]
	group := p.peers[at]
	own := group + map[bool]int{true: 1}[last]
	v := p.input(at, in)
	if v.Kind() != values.Integer && v.Kind() != values.Real { // a value that is not a number has no distance
		return p.starts[own]
	}
	by, _ := much.ConstantOf()
	shift := values.Add
	if key.Desc {
		shift = values.Subtract
	}
	if b.Side > 0 {
		v = shift(v, by)
	}
	one := sorter{keys: p.spec.Order}
	bound := []values.Value{v}
	// The groups are in order, so those before the bound are the first ones.
	g := sort.Search(len(p.starts)-1, func(g int) bool {
		of := p.input(p.starts[g], in)
		// as in SQLite: it matters if numbers overflow
		if b.Side < 0 && (of.Kind() == values.Integer || of.Kind() == values.Real) {
			of = shift(of, by)
		}
		n := one.compareKeys([]values.Value{of}, bound)
		return n > 0 || n == 0 && !last
	})
	if b.Side > 0 { // a sum that was rounded reaches at least the row's own peers
		return p.starts[max(g, own)]
	}
	return p.starts[min(g, own)]
}

// excluded reports whether the frame of a row leaves out another one.
func (p *partition) excluded(at, other int) bool {
	switch p.spec.Frame.Exclude {
	case syntax.ExcludeRow:
		return at == other
	case syntax.ExcludeGroup:
		return p.peers[at] == p.peers[other]
	case syntax.ExcludeTies:
		return at != other && p.peers[at] == p.peers[other]
	}
	return false
}

// framed lists the rows of a frame, without excluded ones.
func (p *partition) framed(at int) []int {
	from, to := p.frame(at)
	var out []int
	for i := from; i < to; i++ {
		if !p.excluded(at, i) {
			out = append(out, i)
		}
	}
	return out
}
