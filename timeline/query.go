package timeline

import "iter"

// FreeAt returns the amount free at t, which is a moment of the plan or its end; at the end,
// everything is free. It fails with ErrRange elsewhere.
func (p *Planner) FreeAt(t int64) (int64, error) {
	return p.used.freeAt(t, p.total)
}

func (p *profile) freeAt(t, total int64) (int64, error) {
	if t < p.start || t > p.end {
		return 0, ErrRange
	}
	if t == p.end {
		return total, nil
	}
	return max(0, total-p.usedAt(t)), nil
}

// FreeDuring returns the least that is free in [start, start+duration). It
// fails with ErrRange if the window is not inside the plan.
func (p *Planner) FreeDuring(start, duration int64) (int64, error) {
	return p.used.freeDuring(start, duration, p.total)
}

func (p *profile) freeDuring(start, duration, total int64) (int64, error) {
	if !p.covers(start, duration) {
		return 0, ErrRange
	}
	return max(0, total-peak(p.root, p.height, start, start+duration)), nil
}

// Fits reports whether amount is free throughout [start, start+duration). It
// fails with ErrRange if the window is not inside the plan, or the amount is
// negative or above the total.
func (p *Planner) Fits(start, duration, amount int64) (bool, error) {
	if amount < 0 || amount > p.total || !p.used.covers(start, duration) {
		return false, ErrRange
	}
	return amount == 0 || fits(p.used.root, p.used.height, start, start+duration, p.total-amount), nil
}

// EarliestStart returns the earliest t >= after such that amount is free
// throughout [t, t+duration). It fails with ErrNoFit if there is none, and
// with ErrRange if after is not a moment of the plan, duration is below one,
// or the amount is negative or above the total.
func (p *Planner) EarliestStart(after, duration, amount int64) (int64, error) {
	return p.earliest(after, duration, amount, false)
}

// EarliestChange is EarliestStart for change points only: after itself counts only if it is
// one.
func (p *Planner) EarliestChange(after, duration, amount int64) (int64, error) {
	return p.earliest(after, duration, amount, true)
}

func (p *Planner) earliest(after, duration, amount int64, points bool) (int64, error) {
	if !p.searchable(after, duration, amount) {
		return 0, ErrRange
	}
	if t, ok := p.used.search(after, duration, amount, p.total, points); ok {
		return t, nil
	}
	return 0, ErrNoFit
}

// Starts yields after, if amount is free throughout [after, after+duration), and then each later
// change point for which that is true. Arguments that EarliestStart refuses yield nothing. Every
// step reads the plan as it is then, so the loop's body may change it.
func (p *Planner) Starts(after, duration, amount int64) iter.Seq[int64] {
	return func(yield func(int64) bool) { p.starts(after, duration, amount, yield) }
}

func (p *Planner) starts(after, duration, amount int64, yield func(int64) bool) {
	if !p.searchable(after, duration, amount) {
		return
	}
	if ok, _ := p.Fits(after, duration, amount); ok && !yield(after) {
		return
	}
	for {
		t, err := p.EarliestChange(after+1, duration, amount)
		if err != nil || !yield(t) {
			return
		}
		after = t
	}
}

// searchable reports whether the arguments of a search are valid.
func (p *Planner) searchable(after, duration, amount int64) bool {
	return amount >= 0 && amount <= p.total && p.used.covers(after, 1) && duration >= 1
}
