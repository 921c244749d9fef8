package limits

import "slices"

// Some rules count how much of their time jobs have left: an amount times the seconds that they still
// have to run. This falls by itself, and rises when a job starts. So such a rule is checked at starts,
// and holds at all instants between them. A job past its end has nothing left.

// left returns the sum of what all holders have left at an instant.
func (c *Counter) left(at int64) (sum int64) {
	c.need()
	for _, h := range c.holders {
		if h.Start <= at && at < h.End {
			sum = min(sum+Product(h.Amount, h.End-at), MaxLeft)
		}
	}
	return sum
}

// MaxLeft is the largest product of an amount and seconds that is counted.
const MaxLeft = 1 << 60

// Product returns an amount times seconds, at most MaxLeft.
func Product(amount, seconds int64) int64 {
	if seconds > 0 && amount > MaxLeft/seconds {
		return MaxLeft
	}
	return amount * seconds
}

// starts lists the starts of holders in a time, ascending.
func (c *Counter) starts(after, before int64) (out []int64) {
	c.need()
	for _, h := range c.holders {
		if h.Start > after && h.Start < before {
			out = append(out, h.Start)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// nextLeft returns the first instant at or after a given one at which a job can start; ok is
// false if there is none.
func (c *Counter) nextLeft(at, duration, amount int64) (start int64, ok bool) {
	for {
		t, ok := c.leftDown(at, c.total-Product(amount, duration))
		if !ok {
			return 0, false
		}
		clash := int64(0)
		for _, s := range c.starts(t, t+duration) {
			if c.left(s)+Product(amount, t+duration-s) > c.total {
				clash = s
			}
		}
		if clash == 0 {
			return t, true
		}
		at = clash // if it starts later and before that, it has even more left then
	}
}

// leftDown returns the first instant, from a given one on, at which no more than most is left.
func (c *Counter) leftDown(at, most int64) (int64, bool) {
	if most < 0 {
		return 0, false
	}
	marks := c.starts(at, maxInstant)
	for _, h := range c.holders {
		if h.End > at {
			marks = append(marks, h.End)
		}
	}
	slices.Sort(marks)
	for _, mark := range append(marks, maxInstant) {
		// Until the next mark, the sum falls by the same amount each second.
		now, slope := c.left(at), int64(0)
		for _, h := range c.holders {
			if h.Start <= at && at < h.End {
				slope += h.Amount
			}
		}
		if now <= most {
			return at, true
		}
		if slope > 0 {
			if t := at + (now-most+slope-1)/slope; t < mark {
				return t, true
			}
		}
		at = mark
	}
	return 0, false
}

// maxInstant is later than all instants of holders.
const maxInstant = 1 << 60

// leftExceeded reports whether more is left than allowed, at the start of a holder or at that of another
// during its time.
func (c *Counter) leftExceeded(h Holder) bool {
	start := max(h.Start, c.now)
	if start >= h.End {
		return false
	}
	if c.left(start) > c.total {
		return true
	}
	return slices.ContainsFunc(c.starts(start, h.End), func(s int64) bool { return c.left(s) > c.total })
}
