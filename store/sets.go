package store

import (
	"fmt"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// PlacementSet is a placement set with its name, key=value.
type PlacementSet struct {
	*index.Set
	Name string
}

// PlacementSets lists the placement sets of a queue's nodes ("" for nodes of no
// queue) in the order they are tried, by the given keys or the configured ones.
func (tx *Tx) PlacementSets(queue string, keys []string) ([]PlacementSet, error) {
	if queue != "" {
		if _, err := tx.Queue(queue); err != nil {
			return nil, err
		}
	}
	snap, err := tx.snapshot(queue)
	if err != nil {
		return nil, err
	}
	defs := snap.Index.Defs()
	ids := snap.Rules.GroupKey
	if len(keys) > 0 {
		var names []string
		for _, k := range keys {
			if err := readResources(defs, k, &names, groupable); err != nil {
				return nil, fmt.Errorf("%w group key: %w", ErrInvalid, err)
			}
		}
		ids = resIDs(defs, names)
	}
	var out []PlacementSet
	for _, s := range snap.Index.Sets(queue, ids, snap.Rules.ExplicitSets) {
		out = append(out, PlacementSet{s, placer.SetName(defs, s)})
	}
	return out, snap.Index.Err()
}

// WaitsFor names the jobs and reservations whose end a plan's start waits for;
// none for a start now.
func (tx *Tx) WaitsFor(plan *placer.Plan) ([]string, error) {
	var out []string
	if plan.Start <= tx.now {
		return nil, nil
	}
	seen := make(map[uint64]bool)
	for _, node := range plan.NodeNumbers() {
		for _, b := range tx.calendar().At(node) {
			if tx.calendar().End(b) != plan.Start || seen[b.Owner] {
				continue
			}
			seen[b.Owner] = true
			who, err := tx.Owner(b)
			if err != nil {
				return nil, err
			}
			out = append(out, who.String())
		}
	}
	return out, tx.calendar().Err()
}
