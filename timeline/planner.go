package timeline

import "iter"

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

// New returns an empty plan of the given total over [start, end). It fails
// with ErrRange if the total is negative or above MaxTotal, or if the plan is
// empty or longer than an int64 can say.
func New(total, start, end int64) (*Planner, error) {
	if total < 0 || total > MaxTotal || !plannable(start, end) {
		return nil, ErrRange
	}
	return &Planner{total: total, used: newProfile(start, end)}, nil
}

// plannable reports whether [start, end) has a length, and one that fits.
func plannable(start, end int64) bool {
	return start < end && end-start > 0
}

// covers reports whether a window lies inside the profile. It adds nothing to
// a time of the caller's, so that nothing can overflow.
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

// Add takes the span's amount for its window. It fails with ErrRange if the
// window is not inside the plan, or the amount is negative or above the
// total, and with ErrBusy if less than the amount is free anywhere in the
// window. A span of amount 0 always fits; it makes change points all the same.
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

// Resize changes the total. It fails with ErrRange if the new one is negative
// or above MaxTotal. Live spans stay, even where they use more than the new
// total: there nothing is free until enough of them has gone.
func (p *Planner) Resize(total int64) error {
	if total < 0 || total > MaxTotal {
		return ErrRange
	}
	p.total = total
	return nil
}

// FreeAt returns what is free at t, a moment of the plan or its end, when
// everything has been given back. It fails with ErrRange elsewhere.
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

// EarliestChange is EarliestStart, asked of change points alone: after itself
// counts only if it is one.
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

// Starts yields after, if amount is free throughout [after, after+duration),
// and then each later change point of which that is true. Arguments that
// EarliestStart refuses yield nothing. Every step looks at the plan as it is
// then, so the loop's body may change it.
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

// searchable reports whether the arguments of a search can be meant.
func (p *Planner) searchable(after, duration, amount int64) bool {
	return amount >= 0 && amount <= p.total && p.used.covers(after, 1) && duration >= 1
}
