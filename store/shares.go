package store

import (
	"fmt"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/sharing"
	"github.com/placectl/placectl/timeline"
)

// The class shares of a store are two rows: what an administrator has set, and
// since when the shares have been out of balance, which a scheduling cycle keeps
// for the next one.

// Shares are the settings of class shares, a copy to be changed by its methods and
// handed to SetShares. A store where nobody set any has no classes.
func (tx *Tx) Shares() (*fairshare.Settings, error) {
	payload, err := tx.file.Get(row.Shares, row.KeyShareSettings)
	if err != nil || payload == nil {
		return new(fairshare.Settings), err
	}
	return row.DecodeShareSettings(payload)
}

// SetShares replaces the settings of class shares; those without anything in them
// forget all. It fails with ErrInvalid and the *fairshare.SettingError where they
// would not work. The timer of rebalancing begins anew where what it measures
// changes: the classes, their loads, the threshold or the duration.
func (tx *Tx) SetShares(s *fairshare.Settings) error {
	if !tx.Writable() {
		return ErrReadOnly
	}
	if err := s.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	was, err := tx.Shares()
	if err != nil {
		return err
	}
	for _, p := range slices.Clone(s.Allow) {
		if err := sharing.ValidAllow(&p.Who); err != nil {
			return err
		}
		if !slices.ContainsFunc(s.Loads, func(c fairshare.ClassLoad) bool { return c.Class == p.Class }) {
			p.Who = nil // the class is gone
		}
		s.SetAllowed(p.Class, p.Who)
	}
	tx.loaded.matcher = nil
	if was.Rebalance != s.Rebalance || !sameLoads(was.Loads, s.Loads) {
		if err := tx.SetShareTimer(fairshare.Timer{}); err != nil {
			return err
		}
	}
	if len(s.Loads) == 0 && s.Rebalance == (fairshare.Rebalance{}) && s.Spare == (fairshare.Spare{}) {
		err = tx.file.Remove(row.Shares, row.KeyShareSettings)
	} else {
		err = tx.file.Put(row.Shares, row.KeyShareSettings, row.EncodeShareSettings(s))
	}
	if err != nil {
		return err
	}
	return tx.counters().recountedFor(limits.Class)
}

func sameLoads(a, b []fairshare.ClassLoad) bool {
	if len(a) != len(b) {
		return false
	}
	loads := make(map[string]int, len(a))
	for _, c := range a {
		loads[c.Class] = c.Load
	}
	for _, c := range b {
		if load, ok := loads[c.Class]; !ok || load != c.Load {
			return false
		}
	}
	return true
}

// ShareTimer is since when classes have been as far apart as the threshold of
// rebalancing says, as the last cycle left it.
func (tx *Tx) ShareTimer() (fairshare.Timer, error) {
	payload, err := tx.file.Get(row.Shares, row.KeyShareState)
	if err != nil || payload == nil {
		return fairshare.Timer{}, err
	}
	return row.DecodeShareTimer(payload)
}

// SetShareTimer keeps a timer for the next cycle. One that has not changed writes
// nothing.
func (tx *Tx) SetShareTimer(t fairshare.Timer) error {
	if !tx.Writable() {
		return ErrReadOnly
	}
	was, err := tx.ShareTimer()
	switch {
	case err != nil || was == t:
		return err
	case !t.Running:
		return tx.file.Remove(row.Shares, row.KeyShareState)
	}
	return tx.file.Put(row.Shares, row.KeyShareState, row.EncodeShareTimer(t))
}

// ClassOf is the class that a requestor's jobs are in: that of the first mapping
// which matches, else the default class; "" in a store without classes.
func (tx *Tx) ClassOf(requestor string) (string, error) {
	if tx.loaded.matcher == nil {
		s, err := tx.Shares()
		if err != nil {
			return "", err
		}
		if tx.loaded.matcher, err = s.Matcher(); err != nil {
			return "", fmt.Errorf("%w: class shares: %v", ErrDamaged, err)
		}
	}
	class, _ := tx.loaded.matcher.Class(requestor)
	return class, nil
}

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

// classShares is the transaction as far as it is about the shares of classes.
type classShares struct{ *Tx }

func (tx *Tx) classShares() classShares { return classShares{tx} }

// unit is the unit that is set. Memory counts in megabytes and numbers with
// decimals in thousandths: a large cluster's kilobytes are more than shares are
// planned with.
func (cs classShares) unit() (shareUnit, error) {
	set, err := cs.settings()
	if err != nil || set.ShareUnit == UnitNodes {
		return shareUnit{nodes: true, step: 1}, err
	}
	def, ok := cs.loaded.defs.Lookup(set.ShareUnit)
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
		err := tx.loaded.nodes.Traits(node, n)
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
