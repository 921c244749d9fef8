package placer

import (
	"slices"

	"github.com/placectl/placectl/index"
)

// mapSets finds the placement sets that could serve each chunk of the request when empty, in the
// order to try them. If sets are not configured, or none could serve it, there are none. The
// request then spans all nodes, unless that is forbidden.
func (m *mapping) mapSets() error {
	keys := m.Rules.GroupKey
	if m.Spec.Place.HasGroup {
		keys = []index.ResID{m.Spec.Place.Group}
	}
	if len(keys) == 0 {
		return nil
	}
	finders := make([]*index.Finder, len(m.Chunks))
	for i := range finders {
		finders[i] = index.NewFinder(m.whole[i])
	}
	sets := m.Index.Sets(m.Queue, keys, m.Rules.ExplicitSets)
	switch m.Rules.SetOrder {
	case FirstSet:
		index.FirstSets(sets)
	case LargestSet:
		index.LargestSets(sets)
	}
	for _, set := range sets {
		if cands, ok := m.within(set, finders); ok {
			m.sets = append(m.sets, setMapping{set, cands})
		}
	}
	m.unsure = len(m.sets) > 0 && !(len(m.Chunks) < 2 && (m.path == BucketPath || m.policy != Contiguous && m.ruled.IsEmpty()))
	if m.Rules.DoNotSpan && !m.someSet() {
		return &Refusal{Kind: ErrNever, Chunk: -1, Why: "it fits none of the placement sets, and may not span them"}
	}
	return nil
}

// within restricts the mapping to a set. It returns false if the set could not hold one of the
// chunks even when empty.
func (m *mapping) within(set *index.Set, finders []*index.Finder) ([][]index.Candidate, bool) {
	cands := make([][]index.Candidate, len(m.Chunks))
	for i, c := range m.Chunks {
		cands[i] = m.Index.Restrict(finders[i], set)
		if m.capacity(&m.Ask, cands[i], c.Count) < c.Count {
			return nil, false
		}
	}
	return cands, true
}

// A set that could hold each chunk, but not all of them together, must not be a candidate: the
// request would wait for it forever. Finding that out takes a search, and matters only if the
// request fits none of the sets now, so it is done only then.

// someSet reports whether a set could hold the whole request when empty.
func (m *mapping) someSet() bool {
	if !m.unsure {
		return len(m.sets) > 0
	}
	return slices.ContainsFunc(m.sets, func(sm setMapping) bool { return m.assignable(sm.cands) == yes })
}

// sureSets returns the sets that could hold the whole request when empty.
func (m *mapping) sureSets() []setMapping {
	if m.unsure {
		var sure []setMapping
		for _, sm := range m.sets {
			if m.assignable(sm.cands) == yes {
				sure = append(sure, sm)
			}
		}
		m.sets, m.unsure = sure, false
	}
	return m.sets
}

// SetName returns the name of a placement set: key=value.
func SetName(defs *index.Defs, set *index.Set) string {
	def, _ := defs.Get(set.Key)
	return def.Name + "=" + set.Value
}

// maySpan reports whether a request that could fit a set may span sets at an instant, because it
// has waited for a set long enough.
func (m *mapping) maySpan(at int64) bool {
	wait := m.Rules.SetDelay
	return !m.Rules.DoNotSpan && !m.Spec.Place.HasGroup && (wait < 0 || wait > 0 && at >= m.Since+wait)
}
