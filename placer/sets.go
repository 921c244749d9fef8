package placer

import (
	"github.com/placectl/placectl/index"
)

// mapSets finds the placement sets that could serve the request when empty, in
// the order in which they are tried. None is found where none is configured,
// and where none could serve it: the request then spans all nodes, unless that
// is forbidden.
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
	if m.Rules.DoNotSpan && len(m.sets) == 0 {
		return &Refusal{Kind: ErrNever, Chunk: -1, Why: "it fits none of the placement sets, and may not span them"}
	}
	return nil
}

// within restricts the mapping to a set; false when the set could not hold the
// whole request even when empty. A set that could hold each chunk, but not all of
// them together, would be waited for in vain.
func (m *mapping) within(set *index.Set, finders []*index.Finder) ([][]index.Candidate, bool) {
	cands := make([][]index.Candidate, len(m.Chunks))
	for i, c := range m.Chunks {
		cands[i] = m.Index.Restrict(finders[i], set)
		if m.capacity(&m.Ask, cands[i], c.Count) < c.Count {
			return nil, false
		}
	}
	counted := len(m.Chunks) < 2 && (m.path == BucketPath || m.policy != Contiguous && m.ruled.IsEmpty())
	return cands, counted || m.assignable(cands) == yes
}

// SetName is a placement set as key=value.
func SetName(defs *index.Defs, set *index.Set) string {
	def, _ := defs.Get(set.Key)
	return def.Name + "=" + set.Value
}

// maySpan reports whether a request that could fit a set may leave it at an
// instant, because it has waited for one long enough.
func (m *mapping) maySpan(at int64) bool {
	wait := m.Rules.SetDelay
	return !m.Rules.DoNotSpan && !m.Spec.Place.HasGroup && (wait < 0 || wait > 0 && at >= m.Since+wait)
}
