package plan

import (
	"slices"

	"github.com/placectl/placectl/query/internal/exec"
)

// reorder puts the largest source first, with the others kept by hash. If large ones can be looked up
// in, it puts the smallest first.
func (p *draft) reorder(pool []*condition) {
	small := slices.MinFunc(p.steps, func(a, b *step) int { return int(a.estimate - b.estimate) })
	large := slices.MaxFunc(p.steps, func(a, b *step) int { return int(a.estimate - b.estimate) })
	first := large
	if small.estimate*worthLookup < large.estimate {
		for _, c := range pool {
			if k, ok := large.keyOf(c); ok && large.canLookup(k) {
				first = small
			}
		}
	}
	order := []*step{first}
	done := exec.Slots(1) << first.src.Slot
	for len(order) < len(p.steps) {
		var next *step
		connected := false
		for _, st := range p.steps {
			if done.Has(st.src.Slot) {
				continue
			}
			con := slices.ContainsFunc(pool, func(c *condition) bool {
				k, ok := st.keyOf(c)
				return ok && k.other.Uses&done != 0
			})
			if next == nil || con && !connected || con == connected && st.estimate < next.estimate {
				next, connected = st, con
			}
		}
		order = append(order, next)
		done |= 1 << next.src.Slot
	}
	p.steps = order
}

// worthLookup is how many rows a scan reads in the time of one lookup.
const worthLookup = 16
