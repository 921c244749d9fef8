package placer

import (
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// priority scores by PRIORITYF: a node's own, else the store's. Idle nodes of a
// bucket score alike unless the expression tells nodes apart by number.
func (s *seeker) priority() (scorer, bool) {
	f := s.PriorityF
	if f == nil {
		f = s.defaultPriorityF()
	}
	own := make(map[string]*PriorityF)
	var state NodeState
	return func(sp *spot) (float64, []int64) {
		s.state(&state, sp)
		expr := f
		if text := state.Node.PriorityF; text != "" {
			if expr = own[text]; expr == nil {
				var err error
				if expr, err = ParsePriorityF(s.Index.Defs(), text); err != nil {
					expr = f // validated when it was written; a resource may have gone since
				}
				own[text] = expr
			}
		}
		return -expr.Eval(&state), nil
	}, !f.ByNumber()
}

func (s *seeker) defaultPriorityF() *PriorityF {
	f, err := ParsePriorityF(s.Index.Defs(), DefaultPriorityF)
	if err != nil {
		s.Index.Fail(err)
	}
	return f
}

// state is what PRIORITYF sees of a spot: at the start of the request, not over
// its time.
func (s *seeker) state(to *NodeState, sp *spot) {
	*to = NodeState{Taken: to.Taken[:0], FreeTime: timeline.Forever, Affinity: sp.affinity()}
	row := s.traitsOf(sp)
	if row == nil {
		row = &s.blank
		*row = index.Node{Number: sp.node, Priority: sp.bucket.Priority, Queue: sp.bucket.Queue, Res: sp.bucket.Values()}
	}
	to.Node, to.Preferred = row, s.Prefer.Matches(row)
	if s.at <= s.Now {
		to.Load = row.Load
	}
	if sp.class == index.Free || s.empty {
		return
	}
	for _, b := range s.Calendar.At(sp.node) {
		switch {
		case b.Start > s.at:
			to.FreeTime = min(to.FreeTime, b.Start-s.at)
		case s.Calendar.End(b) <= s.at || s.guest.Ignores(&b, s.at, s.end):
		case b.Use == nil:
			to.Whole = true
			fallthrough
		default:
			if !b.Claim {
				to.Jobs++
			}
			if b.Use != nil {
				to.Taken = addAmounts(to.Taken, b.Use.Amounts)
			}
		}
	}
	if s.at > s.Now {
		to.Load = float64(takenOf(to.Taken, index.NCPUs))
	}
}

func (sp *spot) affinity() Affinity {
	switch sp.level {
	case required, attracted:
		return Positive
	case repelled:
		return Negative
	}
	return Neutral
}

func addAmounts(to []index.Amount, amounts []timeline.Amount) []index.Amount {
	for _, a := range amounts {
		i := slices.IndexFunc(to, func(x index.Amount) bool { return x.Res == index.ResID(a.Quantity) })
		if i < 0 {
			i = len(to)
			to = append(to, index.Amount{Res: index.ResID(a.Quantity)})
		}
		to[i].Value.Num += a.N
	}
	return to
}

func takenOf(list []index.Amount, id index.ResID) int64 {
	for _, a := range list {
		if a.Res == id {
			return a.Value.Num
		}
	}
	return 0
}
