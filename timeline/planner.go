package timeline

// MaxTotal is the greatest total of a plan. The room above it keeps every
// intermediate amount inside the tree from overflowing.
const MaxTotal = 1 << 59

// A Span takes Amount for [Start, Start+Duration).
type Span struct {
	Start    int64
	Duration int64
	Amount   int64
}

// A Planner plans one quantity over time. See the package comment for what
// its operations guarantee. Use New.
type Planner struct {
	total int64
	used  *profile
	spans spanTable[Span]
}

// New returns an empty plan of the given total over [start, end). It fails with ErrRange if
// the total is negative or above MaxTotal, or if the plan is empty or its length does not fit
// an int64.
func New(total, start, end int64) (*Planner, error) {
	if total < 0 || total > MaxTotal || !plannable(start, end) {
		return nil, ErrRange
	}
	return &Planner{total: total, used: newProfile(start, end)}, nil
}

// plannable reports whether [start, end) is not empty and its length fits an int64.
func plannable(start, end int64) bool {
	return start < end && end-start > 0
}

// covers reports whether a window lies inside the profile. It adds nothing to the caller's
// times, so that nothing can overflow.
func (p *profile) covers(start, duration int64) bool {
	return duration >= 1 && start >= p.start && start < p.end && duration <= p.end-start
}

// Len returns the number of live spans.
func (p *Planner) Len() int { return p.spans.live }

// Total returns the total.
func (p *Planner) Total() int64 { return p.total }

// Span returns a live span as it is now, or ErrSpan.
func (p *Planner) Span(id SpanID) (Span, error) {
	s := p.spans.get(id)
	if s == nil {
		return Span{}, ErrSpan
	}
	return *s, nil
}

// Add takes the span's amount for its window. It fails with ErrRange if the window is not
// inside the plan, or the amount is negative or above the total, and with ErrBusy if less than
// the amount is free anywhere in the window. A span of amount 0 always fits, but still makes
// change points.
func (p *Planner) Add(s Span) (SpanID, error) {
	if s.Amount < 0 || s.Amount > p.total || !p.used.covers(s.Start, s.Duration) {
		return 0, ErrRange
	}
	stop := s.Start + s.Duration
	if s.Amount == 0 {
		p.used.add(s.Start, stop, 0)
	} else if !p.used.addFree(s.Start, stop, s.Amount, p.total-s.Amount) {
		return 0, ErrBusy
	}
	return p.spans.put(s), nil
}

// Remove gives a span back. It fails with ErrSpan.
func (p *Planner) Remove(id SpanID) error {
	s := p.spans.get(id)
	if s == nil {
		return ErrSpan
	}
	p.used.sub(s.Start, s.Start+s.Duration, s.Amount)
	p.spans.drop(id)
	return nil
}

// Reduce gives amount of a span back over its whole window. Giving back all
// that it holds removes the span. It fails with ErrSpan, and with ErrRange if
// the amount is negative or more than the span holds.
func (p *Planner) Reduce(id SpanID, amount int64) error {
	s := p.spans.get(id)
	switch {
	case s == nil:
		return ErrSpan
	case amount < 0 || amount > s.Amount:
		return ErrRange
	case amount == s.Amount:
		return p.Remove(id)
	}
	p.used.change(s.Start, s.Start+s.Duration, -amount)
	s.Amount -= amount
	return nil
}

// Resize changes the total. It fails with ErrRange if the new one is negative or above
// MaxTotal. Live spans stay, even where they use more than the new total. There, nothing is
// free until enough of them are removed.
func (p *Planner) Resize(total int64) error {
	if total < 0 || total > MaxTotal {
		return ErrRange
	}
	p.total = total
	return nil
}
