package placer

import "github.com/placectl/placectl/placer/priorityf"

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
