package placer

import (
	"cmp"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/priorityf"
)

// Ranked is a node in the order of a policy that scores nodes.
type Ranked struct {
	Chunk, Rank int
	Node        uint32
	Value       float64          // see Policy.Score; infinite for a node that the policy puts last
	Terms       []priorityf.Term // of PRIORITYF
	Own         bool             // the node has a function of its own
}

// Score describes in a few words what a policy's score means.
func (p Policy) Score() string {
	switch p {
	case LastAvailable:
		return "seconds that the node would stay unused after it"
	case Priority:
		return "PRIORITYF"
	case CPULoad:
		return "unused processors"
	case MinResource:
		return "share of the cluster"
	case Fastest:
		return "speed"
	case Tetris:
		return "alignment with what is asked for"
	}
	return ""
}

// rank lists, for each chunk, the first nodes in the policy's order among those that could serve it
// now.
func (x *explainer) rank(limit int) {
	if limit < 1 || x.out.Policy.Score() == "" {
		return
	}
	cands := x.whole
	for _, sm := range x.sets {
		if x.out.Verdict == StartsNow && SetName(x.Index.Defs(), sm.set) == x.out.Plan.Set {
			cands = sm.cands
		}
	}
	for kind := range x.Chunks {
		s := x.mapping.seek(x.Now, nil, false)
		score, _ := s.scorer(kind)
		n := 0
		for sp := range s.ranking(cands)(kind) {
			n++
			r := Ranked{Chunk: kind, Rank: n, Node: sp.node}
			if r.Value, _ = score(sp); x.policy != MinResource && x.policy != LastAvailable {
				r.Value = 0 - r.Value // scores sort ascending; 0, not -0
			}
			if x.policy == Priority {
				x.terms(&r, s, sp)
			}
			x.out.Ranking = append(x.out.Ranking, r)
			if n == limit {
				break
			}
		}
	}
}

// terms evaluates PRIORITYF for a spot, term by term. A node's own function takes precedence.
func (x *explainer) terms(r *Ranked, s *seeker, sp *spot) {
	f := s.PriorityF
	if f == nil {
		f = s.defaultPriorityF()
	}
	var state priorityf.Node
	s.state(&state, sp)
	if text := state.Node.PriorityF; text != "" {
		if own, err := priorityf.Parse(x.Index.Defs(), text); err == nil {
			f, r.Own = own, true
		}
	}
	r.Value, r.Terms = f.Eval(&state), f.Terms(&state)
}

// compareSets describes the placement sets, and how far the best of them leaves the chunks from
// starting.
func (x *explainer) compareSets() {
	kinds := len(x.Chunks)
	for _, sm := range x.sets {
		view := SetView{Name: SetName(x.Index.Defs(), sm.set), Fits: make([]int64, kinds)}
		serving := make([]*roaring.Bitmap, kinds)
		for kind := range kinds {
			serving[kind] = x.nodesOf(sm.cands[kind])
			view.Fits[kind] = x.sieves[kind].room(serving[kind])
		}
		view.Nodes = int(roaring.FastOr(serving...).AndCardinality(x.up))
		x.out.Sets = append(x.out.Sets, view)
		x.out.Together = x.out.Together || x.each(view.Fits)
	}
	keeps := len(x.sets) > 0 && !x.maySpan(x.Now)
	fits := make([]int64, kinds)
	for kind := range kinds {
		if fits[kind] = x.sieves[kind].room(nil); keeps {
			fits[kind] = 0
			for _, view := range x.out.Sets {
				fits[kind] = max(fits[kind], view.Fits[kind])
			}
		}
		x.out.Chunks[kind].Fits = fits[kind]
	}
	x.out.Together = x.out.Verdict == StartsLater && kinds > 1 && (x.out.Together || !keeps && x.each(fits))
}

// compareHosts describes the hosts that could hold a packed request.
func (x *explainer) compareHosts() {
	x.out.Packed = x.packed != nil
	for _, on := range x.onHosts {
		view := HostView{Fits: make([]int64, len(on.Chunks)), Wants: on.needs()}
		nodes := roaring.New()
		s := on.seek(x.Now, nil, false)
		for kind := range on.Chunks {
			for i := range on.whole[kind] {
				c := &on.whole[kind][i]
				up := roaring.And(within(x.Index.Nodes(c.Bucket, index.None), c.Cells), x.up)
				nodes.Or(up)
				for it := up.Iterator(); it.HasNext(); {
					node := it.Next()
					if s.look(&x.spot, node, c.Bucket, x.Index.ClassOf(c.Bucket, node)) {
						view.Fits[kind] += int64(s.holds(&x.spot, kind, on.Chunks[kind].Count))
					}
					view.Name = cmp.Or(x.spot.host, view.Name)
				}
			}
		}
		view.Nodes = int(nodes.GetCardinality())
		x.out.Hosts = append(x.out.Hosts, view)
	}
}

// each reports whether every chunk fits by itself.
func (x *explainer) each(fits []int64) bool {
	for kind, n := range fits {
		if n < int64(x.Chunks[kind].Count) {
			return false
		}
	}
	return true
}
