package exec

import (
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
func (p *partition) group() {
	p.peers = make([]int, len(p.rows))
	for i := range p.rows {
		if i == 0 || p.r.compareOrder(p.spec, p.r.row(p.rows[i-1]), p.r.row(p.rows[i])) != 0 {
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
	return p.end(at, f.From, p.spec.From, 0), p.end(at, f.To, p.spec.To, 1)
}

// end returns the end of a frame that is some rows away, or a row or group more if behind is 1.
func (p *partition) end(at int, b syntax.Bound, away int64, behind int) int {
	n := len(p.rows)
	switch {
	case b.Side != 0 && b.X == nil:
		return n * max(b.Side, 0)
	case p.spec.Frame.Rows:
		return min(max(at+b.Side*int(min(away, int64(n)))+behind, 0), n)
	}
	return p.starts[p.peers[at]+behind]
}
