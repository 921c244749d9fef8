package timeline

import "iter"

// FreeAt is Planner.FreeAt for quantity i; i is as in Quantities.
func (m *Multi) FreeAt(t int64, i int) (int64, error) {
	if i < 0 || i >= len(m.used) {
		return 0, ErrRange
	}
	return m.used[i].freeAt(t, m.quantities[i].Total)
}

// FreeDuring is Planner.FreeDuring for quantity i; i is as in Quantities.
func (m *Multi) FreeDuring(start, duration int64, i int) (int64, error) {
	if i < 0 || i >= len(m.used) {
		return 0, ErrRange
	}
	return m.used[i].freeDuring(start, duration, m.quantities[i].Total)
}

// Fits reports whether all amounts are free throughout [start, start+duration). Its errors are
// those of Planner.Fits; ErrRange also means that there are not as many amounts as quantities.
func (m *Multi) Fits(start, duration int64, amounts []int64) (bool, error) {
	if !m.points.covers(start, duration) || !m.askable(amounts) {
		return false, ErrRange
	}
	for i, a := range amounts {
		p := m.used[i]
		if a > 0 && !fits(p.root, p.height, start, start+duration, m.quantities[i].Total-a) {
			return false, nil
		}
	}
	return true, nil
}

// EarliestStart returns the earliest t >= after such that all amounts are free throughout [t,
// t+duration). Its errors are those of Planner.EarliestStart; ErrRange also means that there
// are not as many amounts as quantities.
func (m *Multi) EarliestStart(after, duration int64, amounts []int64) (int64, error) {
	if !m.points.covers(after, 1) || duration < 1 || !m.askable(amounts) {
		return 0, ErrRange
	}
	return m.search(after, duration, amounts)
}

// EarliestChange is EarliestStart for change points only: after itself counts only if it is
// one.
func (m *Multi) EarliestChange(after, duration int64, amounts []int64) (int64, error) {
	if !m.points.covers(after, 1) || duration < 1 || !m.askable(amounts) {
		return 0, ErrRange
	}
	after, ok := m.points.search(after, 1, 0, 0, true)
	if !ok {
		return 0, ErrNoFit
	}
	return m.search(after, duration, amounts)
}

// search lets each quantity in turn move the start to its own earliest one, until the start
// stays the same for a whole round. No quantity moves it past a moment that fits all.
func (m *Multi) search(after, duration int64, amounts []int64) (int64, error) {
	t, agreed := after, 0
	for i := 0; agreed < len(amounts); i = (i + 1) % len(amounts) {
		at, ok := m.used[i].search(t, duration, amounts[i], m.quantities[i].Total, false)
		if !ok {
			return 0, ErrNoFit
		}
		if at > t {
			t, agreed = at, 0
		}
		agreed++
	}
	return t, nil
}

// Starts is Planner.Starts for all amounts together.
func (m *Multi) Starts(after, duration int64, amounts []int64) iter.Seq[int64] {
	return func(yield func(int64) bool) { m.starts(after, duration, amounts, yield) }
}

func (m *Multi) starts(after, duration int64, amounts []int64, yield func(int64) bool) {
	ok, err := m.Fits(after, duration, amounts)
	if ok && !yield(after) {
		return
	}
	for err == nil && after < m.points.end-1 {
		after, err = m.EarliestChange(after+1, duration, amounts)
		if err == nil && !yield(after) {
			return
		}
	}
}

// askable reports whether amounts are one for each quantity and none negative
// or above its total.
func (m *Multi) askable(amounts []int64) bool {
	if len(amounts) != len(m.quantities) {
		return false
	}
	for i, a := range amounts {
		if a < 0 || a > m.quantities[i].Total {
			return false
		}
	}
	return true
}
