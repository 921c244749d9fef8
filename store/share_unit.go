package store

import (
	"fmt"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// UnitNodes is the share_unit of which every node has one.
const UnitNodes = "nodes"

// shareUnit is what class shares count: nodes, or a resource in steps.
type shareUnit struct {
	nodes bool
	res   index.ResID
	step  int64 // of the resource's own smallest units
}

// readUnit reads the setting share_unit.
func readUnit(defs *index.Defs, v string, to *string) error {
	if v == UnitNodes {
		*to = v
		return nil
	}
	def, ok := defs.Lookup(v)
	if !ok {
		return fmt.Errorf("no resource %q%s: %w", v, index.DidYouMean(v, append(defs.Names(), UnitNodes)), ErrNotFound)
	}
	if !def.Consumable {
		return fmt.Errorf("%s is not used up by jobs: expected nodes or a consumable resource", def.Name)
	}
	*to = def.Name
	return nil
}

// shareUnit is the unit that is set. Memory counts in megabytes and numbers with
// decimals in thousandths: a large cluster's kilobytes are more than shares are
// planned with.
func (tx *Tx) shareUnit() (shareUnit, error) {
	set, err := tx.settings()
	if err != nil || set.ShareUnit == UnitNodes {
		return shareUnit{nodes: true, step: 1}, err
	}
	def, ok := tx.loaded.defs.Lookup(set.ShareUnit)
	if !ok {
		return shareUnit{}, fmt.Errorf("%w: setting share_unit: no resource %q", ErrDamaged, set.ShareUnit)
	}
	u := shareUnit{res: def.ID, step: 1}
	switch def.Type {
	case index.Size:
		u.step = 1024
	case index.Float:
		u.step = 1000
	}
	return u, nil
}

// inService is how many units the nodes have that are up.
func (u shareUnit) inService(ix *index.Index) int64 {
	if u.nodes {
		return int64(ix.CountUp())
	}
	return ix.InService(u.res) / u.step
}

// asked is how many units a request asks for. What a node has beyond that where the
// job is to have it whole is known only when it is placed; so is how many nodes it
// comes to, up to one for each chunk.
func (u shareUnit) asked(defs *index.Defs, spec placer.Spec) int64 {
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

// steps is an amount in steps, one that is begun counting whole.
func (u shareUnit) steps(amount int64) int64 {
	steps := amount / u.step
	if amount%u.step > 0 {
		steps++
	}
	return steps
}

// amountOn is how much of the unit a stretch takes of a node, in the resource's own
// smallest units.
func (u shareUnit) amountOn(tx *Tx, node uint32, use *timeline.Use) (int64, error) {
	switch {
	case u.nodes:
		return 1, nil
	case use == nil:
		n := &tx.loaded.usage.node
		err := tx.loaded.nodes.traits(node, n)
		v, _ := n.Get(u.res)
		return v.Num, err
	}
	for _, a := range use.Amounts {
		if a.Quantity == uint16(u.res) {
			return a.N, nil
		}
	}
	return 0, nil
}
