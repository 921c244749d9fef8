package placer

import (
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/priorityf"
	"github.com/placectl/placectl/timeline"
)

// priority scores by PRIORITYF: a node's own, else the store's. Idle nodes of a bucket score alike,
// unless the expression depends on node numbers or the preference on node names.
func (s *seeker) priority() (scorer, bool) {
	f := s.PriorityF
	if f == nil {
		f = s.defaultPriorityF()
	}
	own := make(map[string]*priorityf.Function)
	var state priorityf.Node
	return func(sp *spot) (float64, []int64) {
		s.state(&state, sp)
		expr := f
		if text := state.Node.PriorityF; text != "" {
			if expr = own[text]; expr == nil {
				var err error
				if expr, err = priorityf.Parse(s.Index.Defs(), text); err != nil {
					expr = f // it was valid when written; a resource may be gone since
				}
				own[text] = expr
			}
		}
		return -expr.Eval(&state), nil
	}, !f.ByNumber() && !s.Prefer.byName()
}

// byName reports whether a preference depends on node names, which buckets do not know.
func (p Preference) byName() bool {
	return slices.ContainsFunc(p.any, func(c condition) bool { return c.res == index.Host || c.res == index.VNode })
}

func (s *seeker) defaultPriorityF() *priorityf.Function {
	f, err := priorityf.Parse(s.Index.Defs(), priorityf.Default)
	if err != nil {
		s.Index.Fail(err)
	}
	return f
}

// state fills in what PRIORITYF sees of a spot at the start of the request, not over its whole
// time.
func (s *seeker) state(to *priorityf.Node, sp *spot) {
	*to = priorityf.Node{Taken: to.Taken[:0], FreeTime: timeline.Forever, Affinity: int(min(sp.affinity(), Positive))}
	row := s.traitsOf(sp)
	if s.Prefer.byName() {
		row = s.row(sp.node) // traits do not include names
	}
	if row == nil {
		row = &s.blank
		*row = index.Node{Number: sp.node, Priority: sp.bucket.Priority, Queue: sp.bucket.Queue,
			Res: sp.bucket.Values()}
	}
	to.Node, to.Preferred = row, s.Prefer.Matches(row)
	if s.byUsage && row.Usage == 0 && s.Used != nil {
		used, err := s.Used(row)
		if err != nil {
			s.Index.Fail(err)
		}
		s.blank = *row // rows must not be changed
		s.blank.Usage = used
		to.Node = &s.blank
	}
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
		case !s.mindsThen(&b):
		default:
			to.Whole = to.Whole || b.Use == nil
			if !b.Claim {
				to.Jobs++
			}
		}
	}
	to.Taken = s.takenThen(to.Taken, sp.node)
	if s.at > s.Now {
		to.Load = float64(takenOf(to.Taken, index.NCPUs))
	}
}

// mindsThen reports whether a stretch is under way at the start of the request and does not let it
// in.
func (s *seeker) mindsThen(b *timeline.Busy) bool {
	return b.Start <= s.at && s.Calendar.End(*b) > s.at && !s.guest.Ignores(b, s.at, s.end)
}

// takenThen adds what is taken of a node at the start of the request. A reservation counts with
// what its guests leave of it.
func (s *seeker) takenThen(to []index.Amount, node uint32) []index.Amount {
	list := s.Calendar.At(node)
	for i := range list {
		b := &list[i]
		if b.Use == nil || !s.mindsThen(b) {
			continue
		}
		for _, a := range b.Use.Amounts {
			if b.Claim {
				a.N = s.keptThen(b.Owner, a, list)
			}
			to = addAmount(to, a)
		}
	}
	return to
}

// keptThen returns how much of an amount a reservation keeps at the start of the request.
func (s *seeker) keptThen(claim uint64, kept timeline.Amount, list []timeline.Busy) int64 {
	for i := range list {
		b := &list[i]
		if b.Claim || b.Use == nil || b.Use.Within != claim || !s.mindsThen(b) {
			continue
		}
		for _, a := range b.Use.Amounts {
			if a.Quantity == kept.Quantity {
				kept.N -= a.N
			}
		}
	}
	return max(kept.N, 0)
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

func addAmount(to []index.Amount, a timeline.Amount) []index.Amount {
	i := slices.IndexFunc(to, func(x index.Amount) bool { return x.Res == index.ResID(a.Quantity) })
	if i < 0 {
		i = len(to)
		to = append(to, index.Amount{Res: index.ResID(a.Quantity)})
	}
	to[i].Value.Num += a.N
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
