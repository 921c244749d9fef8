package timeline

import "slices"

// A Quantity is one of the quantities that a Multi plans.
type Quantity struct {
	Name  string
	Total int64
}

// A MultiSpan takes Amounts for [Start, Start+Duration), one for each quantity of its plan, in
// their order.
type MultiSpan struct {
	Start    int64
	Duration int64
	Amounts  []int64
}

// A Multi plans several named quantities that are taken and given back together. Amounts are passed
// as a vector in the order of the quantities. A call that fails for one quantity changes none. A
// change point of the plan is one of every quantity, even of those that the span does not take. Use
// NewMulti.
type Multi struct {
	quantities []Quantity
	used       []*profile // only the points of spans with an amount above zero
	points     *profile   // the points of all spans, of amount zero
	spans      spanTable[MultiSpan]
}

// NewMulti returns an empty plan of the quantities over [start, end). It fails
// with ErrRange as New does, and if there are no quantities or two of the same
// name.
func NewMulti(quantities []Quantity, start, end int64) (*Multi, error) {
	if !plannable(start, end) || !distinct(quantities) {
		return nil, ErrRange
	}
	m := &Multi{quantities: slices.Clone(quantities), points: newProfile(start, end)}
	for range quantities {
		m.used = append(m.used, newProfile(start, end))
	}
	return m, nil
}

func distinct(quantities []Quantity) bool {
	for i, q := range quantities {
		if q.Total < 0 || q.Total > MaxTotal || index(quantities[:i], q.Name) >= 0 {
			return false
		}
	}
	return len(quantities) > 0
}

func index(quantities []Quantity, name string) int {
	return slices.IndexFunc(quantities, func(q Quantity) bool { return q.Name == name })
}

// Len returns the number of live spans.
func (m *Multi) Len() int { return m.spans.live }

// Quantities returns the quantities in the order of the vectors.
func (m *Multi) Quantities() []Quantity { return slices.Clone(m.quantities) }

// Vector returns the amounts in the order of the quantities, and zero for those not mentioned.
// It fails with ErrRange if a name is not one of the quantities.
func (m *Multi) Vector(amounts map[string]int64) ([]int64, error) {
	v := make([]int64, len(m.quantities))
	for name, a := range amounts {
		i := index(m.quantities, name)
		if i < 0 {
			return nil, ErrRange
		}
		v[i] = a
	}
	return v, nil
}

// Span returns a copy of a live span as it is now, or ErrSpan.
func (m *Multi) Span(id SpanID) (MultiSpan, error) {
	s := m.spans.get(id)
	if s == nil {
		return MultiSpan{}, ErrSpan
	}
	c := *s
	c.Amounts = slices.Clone(s.Amounts)
	return c, nil
}

// Add takes all amounts for the span's window, or none. Its errors are those of Planner.Add;
// ErrRange also means that there are not as many amounts as quantities.
func (m *Multi) Add(s MultiSpan) (SpanID, error) {
	ok, err := m.Fits(s.Start, s.Duration, s.Amounts)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, ErrBusy
	}
	m.points.add(s.Start, s.Start+s.Duration, 0)
	for i, a := range s.Amounts {
		if a > 0 {
			m.used[i].add(s.Start, s.Start+s.Duration, a)
		}
	}
	s.Amounts = slices.Clone(s.Amounts)
	return m.spans.put(s), nil
}

// Remove gives a span back. It fails with ErrSpan.
func (m *Multi) Remove(id SpanID) error {
	s := m.spans.get(id)
	if s == nil {
		return ErrSpan
	}
	m.points.sub(s.Start, s.Start+s.Duration, 0)
	for i, a := range s.Amounts {
		if a > 0 {
			m.used[i].sub(s.Start, s.Start+s.Duration, a)
		}
	}
	m.spans.drop(id)
	return nil
}

// Reduce gives amounts of a span back over its whole window. Giving back all
// that it holds removes the span. It fails with ErrSpan, and with ErrRange if
// there are not as many amounts as quantities, or one is negative or more than
// the span holds.
func (m *Multi) Reduce(id SpanID, amounts []int64) error {
	s := m.spans.get(id)
	if s == nil {
		return ErrSpan
	}
	if len(amounts) != len(s.Amounts) {
		return ErrRange
	}
	for i, a := range amounts {
		if a < 0 || a > s.Amounts[i] {
			return ErrRange
		}
	}
	if slices.Equal(amounts, s.Amounts) {
		return m.Remove(id)
	}
	for i, a := range amounts {
		switch {
		case a == 0:
		case a == s.Amounts[i]:
			m.used[i].sub(s.Start, s.Start+s.Duration, a)
		default:
			m.used[i].change(s.Start, s.Start+s.Duration, -a)
		}
		s.Amounts[i] -= a
	}
	return nil
}

// Resize changes the quantities and their totals. Quantities no longer named are dropped, also
// from the live spans. New ones are free throughout, and the order is the new one. It fails
// with ErrRange as NewMulti does. As in Planner.Resize, live spans stay, whatever they use,
// and one may be left holding nothing.
func (m *Multi) Resize(quantities []Quantity) error {
	if !distinct(quantities) {
		return ErrRange
	}
	old := make([]int, len(quantities)) // the quantity's old place, or -1
	used := make([]*profile, len(quantities))
	for i, q := range quantities {
		if old[i] = index(m.quantities, q.Name); old[i] >= 0 {
			used[i] = m.used[old[i]]
		} else {
			used[i] = newProfile(m.points.start, m.points.end)
		}
	}
	if len(old) != len(m.quantities) || !slices.IsSorted(old) || old[0] < 0 {
		m.spans.each(func(s *MultiSpan) {
			amounts := make([]int64, len(old))
			for i, k := range old {
				if k >= 0 {
					amounts[i] = s.Amounts[k]
				}
			}
			s.Amounts = amounts
		})
	}
	m.quantities, m.used = slices.Clone(quantities), used
	return nil
}
