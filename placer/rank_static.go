package placer

import (
	"iter"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/priorityf"
)

// A PRIORITYF may depend only on what nodes are, not on what runs on them. It then gives the same
// value to all nodes of a bucket with the same speed and the same relevant features. Bitmaps hold
// these groups, so it is evaluated once per group.

// judgedAlike is nodes with the same value.
type judgedAlike struct {
	value float64
	nodes *roaring.Bitmap
}

// maxJudged is the maximum number of groups to evaluate.
const maxJudged = 4096

// byPriority returns the order of nodes by a function of what they are. It is nil if the function,
// the preference or a node's own function depends on more than bitmaps tell.
func (s *seeker) byPriority(cands [][]index.Candidate) ordered {
	f := s.PriorityF
	if f == nil {
		f = s.defaultPriorityF()
	}
	if !s.Index.MarkedNodes(index.Judged).IsEmpty() {
		return nil
	}
	traits, told := s.traitSets(f)
	if !told {
		return nil
	}
	groups := make([][]judgedAlike, len(cands))
	for kind := range cands {
		if len(cands[kind])*len(traits) > maxJudged {
			return nil
		}
		groups[kind] = s.judge(f, cands[kind], traits)
	}
	return func(kind int) iter.Seq[*spot] {
		return func(yield func(*spot) bool) {
			for _, g := range groups[kind] {
				if !s.spotsAmong(kind, cands[kind], g.nodes, yield) {
					return
				}
			}
		}
	}
}

// judge groups the nodes of buckets by value, the highest first.
func (s *seeker) judge(f *priorityf.Function, cands []index.Candidate, traits []traitSet) (groups []judgedAlike) {
	state := priorityf.Node{Node: new(index.Node), Affinity: int(Neutral)}
	for _, t := range traits {
		of := make(map[float64][]*roaring.Bitmap)
		for _, c := range cands {
			*state.Node = index.Node{Priority: c.Bucket.Priority, Queue: c.Bucket.Queue, Res: c.Bucket.Values(),
				Speed: t.speed, Features: t.features}
			state.Preferred = s.Prefer.Matches(state.Node)
			value := f.Eval(&state)
			of[value] = append(of[value], s.Index.Nodes(c.Bucket, index.None))
		}
		for value, buckets := range of {
			nodes := roaring.FastOr(buckets...)
			if t.nodes != nil {
				nodes = roaring.And(nodes, t.nodes)
			}
			i := slices.IndexFunc(groups, func(g judgedAlike) bool { return g.value == value })
			if i < 0 {
				groups = append(groups, judgedAlike{value, nodes})
			} else {
				groups[i].nodes = roaring.Or(groups[i].nodes, nodes)
			}
		}
	}
	slices.SortFunc(groups, func(a, b judgedAlike) int {
		if a.value > b.value {
			return -1
		}
		return 1
	})
	if len(groups) == 1 {
		groups[0].nodes = nil // all nodes
	}
	return groups
}

// traitSet is nodes of one speed with the same of some features; nil nodes are all nodes.
type traitSet struct {
	speed    float64
	features []string
	nodes    *roaring.Bitmap
}

// traitSets splits all nodes by what a function and the request's preference depend on besides
// buckets. It reports whether bitmaps tell that.
func (s *seeker) traitSets(f *priorityf.Function) (sets []traitSet, told bool) {
	look := f.Looks()
	unsigned := func(id index.ResID) bool { return !s.Index.Signed(id) }
	told = s.tells(s.Prefer, &look)
	if look.Other || slices.ContainsFunc(look.Configured, unsigned) || !told && look.Preferred {
		return nil, false
	}
	sets = []traitSet{{}}
	if look.Speed {
		rest := roaring.Flip(roaring.New(), 0, uint64(s.Index.Limits().Nodes))
		sets = nil
		for speed, nodes := range s.Index.Speeds() {
			sets = append(sets, traitSet{speed: speed.Node, nodes: nodes})
			rest.AndNot(nodes)
		}
		sets = append(sets, traitSet{nodes: rest})
	}
	slices.Sort(look.Features)
	for _, word := range slices.Compact(look.Features) {
		if sets = split(sets, word, s.Index.With(index.Feature, word), s.Index.Limits().Nodes); len(sets) > maxJudged {
			return nil, false
		}
	}
	return sets, true
}

// split splits sets of nodes by whether they have a feature.
func split(sets []traitSet, word string, with *roaring.Bitmap, limit uint32) (out []traitSet) {
	for _, t := range sets {
		if t.nodes == nil {
			t.nodes = roaring.Flip(roaring.New(), 0, uint64(limit))
		}
		has, lacks := t, t
		has.features = append(slices.Clone(t.features), word)
		has.nodes, lacks.nodes = roaring.And(t.nodes, with), roaring.AndNot(t.nodes, with)
		for _, part := range [...]traitSet{has, lacks} {
			if !part.nodes.IsEmpty() {
				out = append(out, part)
			}
		}
	}
	return out
}

// tells adds what a preference depends on, and reports whether bitmaps tell it.
func (s *seeker) tells(p Preference, look *priorityf.Looks) bool {
	for i := range p.any {
		c := &p.any[i]
		switch {
		case c.res == index.Feature:
			look.Features = append(look.Features, c.value.Str)
		case c.res == index.Host, c.res == index.VNode, !s.Index.Signed(c.res):
			return false
		case c.also:
			look.Features = append(look.Features, c.value.Str)
		}
	}
	return true
}
