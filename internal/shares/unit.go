package shares

import (
	"fmt"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// Unit is what class shares count: nodes, or a resource in steps.
type Unit struct {
	nodes bool
	res   index.ResID
	step  int64 // in the resource's own smallest units
}

// Nodes is the unit that counts every node as one.
const Nodes = "nodes"

// UnitOf returns the unit with a name: Nodes, or a consumable resource. Memory counts in
// megabytes, because the kilobytes of a large cluster exceed what shares plan with. Numbers
// with decimals count in thousandths.
func UnitOf(defs *index.Defs, name string) (Unit, error) {
	if name == Nodes {
		return Unit{nodes: true, step: 1}, nil
	}
	def, ok := defs.Lookup(name)
	if !ok {
		return Unit{}, fmt.Errorf("%w: setting share_unit: no resource %q", row.ErrDamaged, name)
	}
	u := Unit{res: def.ID, step: 1}
	switch def.Type {
	case index.Size:
		u.step = 1024
	case index.Float:
		u.step = 1000
	}
	return u, nil
}

// inService returns how many units the nodes that are up have.
func (u Unit) inService(ix *index.Index) int64 {
	if u.nodes {
		return int64(ix.CountUp())
	}
	return ix.InService(u.res) / u.step
}

// asked returns how many units a request asks for. If a job wants nodes exclusively, what they
// have beyond that is known only when it is placed. So is the number of nodes, which is at
// most one for each chunk.
func (u Unit) asked(defs *index.Defs, spec placer.Spec) int64 {
	if u.nodes {
		if spec.Place.Arrange == placer.Pack {
			return 1
		}
		return int64(spec.NumChunks())
	}
	for _, w := range spec.Totals(defs) {
		if w.Res == u.res {
			return u.steps(w.Value.Num)
		}
	}
	return 0
}

// steps returns an amount in steps, rounded up.
func (u Unit) steps(amount int64) int64 {
	steps := amount / u.step
	if amount%u.step > 0 {
		steps++
	}
	return steps
}

// amountOn returns how much of the unit a stretch takes of a node, in the resource's own
// smallest units.
func (u Unit) amountOn(rows *nodes.Rows, node uint32, use *timeline.Use) (int64, error) {
	switch {
	case u.nodes:
		return 1, nil
	case use == nil:
		return rows.Amount(node, u.res)
	}
	for _, a := range use.Amounts {
		if a.Quantity == uint16(u.res) {
			return a.N, nil
		}
	}
	return 0, nil
}
