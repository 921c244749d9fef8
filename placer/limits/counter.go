package limits

import (
	"github.com/placectl/placectl/timeline"
)

// MaxAmount is the largest amount of a counter, and the largest that can be asked of it.
const MaxAmount = 1 << 40

// Holder is a job's or reservation's hold on a counter: Amount in [Start, End).
type Holder struct {
	Owner      uint64 // as in the calendar
	Start, End int64
	Amount     int64
	// Within is the reservation that the amount is taken out of, as an owner; 0 for none.
	Within uint64
	// Claim marks a reservation: it ends by the clock. All others hold until they give back.
	// Past their end, they are expected to hold for a grace beyond now, however late it is.
	Claim bool
}

// Counter is an amount that jobs and reservations share. It is made by New, and not safe for concurrent
// use.
type Counter struct {
	Name string               // the pool's name, or the rule: user=* running
	Rule bool                 // it is a rule, which allows only so many at once; else it is a pool
	Own  bool                 // a rule submitted with its jobs, such as a throttle: no job passes it
	Who  string               // of a rule with *: the subject it is counted for
	Left bool                 // a holder counts by its amount times the seconds that it has left
	Soft bool                 // the rule refuses no job
	Text func(n int64) string // writes an amount of it; nil: as a number
	// Overrun is how long beyond now an overdue owner is expected to go on; nil: the grace for all
	// owners.
	Overrun func(owner uint64) int64

	total      int64
	outside    int64 // of the total, used outside placectl
	until      int64 // the end of that use
	now, grace int64
	holders    map[uint64]Holder
	unread     func(*Counter) // adds the holders when they are first needed
	sum        int64          // of what they hold, until then
	views      map[viewKey]*view
}

// viewKey says for which holders a counter is viewed.
type viewKey struct {
	within uint64 // for jobs within this reservation; 0: for all others
	by     bool   // by planned ends: overdue holders are gone
}

// view holds what is free for them.
type view struct {
	plan  *timeline.Planner
	spans map[uint64]timeline.SpanID
}

// New makes a counter at an instant; one before 1970 counts as 1970. grace is how long beyond now an
// overdue holder is expected to go on.
func New(name string, rule bool, total, now, grace int64) *Counter {
	return &Counter{Name: name, Rule: rule, total: total, now: planned(now), grace: max(grace, 1),
		holders: make(map[uint64]Holder)}
}

// planned returns the nearest instant at which a plan can begin.
func planned(now int64) int64 { return min(max(now, 0), timeline.Forever-1) }

// Unread makes a counter know only the sum of its holders until their times are needed. Then read adds
// them.
func (c *Counter) Unread(sum int64, read func(*Counter)) { c.sum, c.unread = sum, read }

// Adjust changes the sum of a counter whose holders have not been read. It returns false if
// they have been read.
func (c *Counter) Adjust(by int64) bool {
	if c.unread == nil {
		return false
	}
	c.sum += by
	return true
}

// Roomy reports whether there is room for an amount even if all other holders hold theirs at
// once. It reads no holders, and returns false once they have been read.
func (c *Counter) Roomy(amount int64) bool {
	return c.unread != nil && !c.Left && amount <= c.total-c.sum
}

// need reads the holders if they have not been read.
func (c *Counter) need() {
	if read := c.unread; read != nil {
		c.unread = nil
		read(c)
	}
}

// Binds reports whether the counter can refuse a job. overLimits is true for a job that may
// exceed limits.
func (c *Counter) Binds(overLimits bool) bool { return !c.Soft && (!c.Rule || c.Own || !overLimits) }

// SetTotal changes the total. Holders beyond it go on.
func (c *Counter) SetTotal(total int64) { c.total, c.views = total, nil }

// SetOutside sets how much is used outside placectl, and until when: timeline.Forever for an
// unknown time.
func (c *Counter) SetOutside(amount, until int64) { c.outside, c.until, c.views = amount, until, nil }

// SetNow moves the counter to another instant; one before 1970 counts as 1970.
func (c *Counter) SetNow(now int64) {
	if now = planned(now); now != c.now {
		c.now, c.views = now, nil
	}
}

func (c *Counter) Total() int64 { return c.total }

// Holders goes through the holders, in no order.
func (c *Counter) Holders(yield func(Holder) bool) {
	c.need()
	for _, h := range c.holders {
		if !yield(h) {
			return
		}
	}
}

// Holder is what an owner holds.
func (c *Counter) Holder(owner uint64) (h Holder, ok bool) {
	c.need()
	h, ok = c.holders[owner]
	return h, ok
}

// Put records a holder, and replaces its owner's former one.
func (c *Counter) Put(h Holder) {
	c.Remove(h.Owner)
	c.holders[h.Owner] = h
	if h.Claim || h.Within != 0 {
		c.views = nil
		return
	}
	for key, v := range c.views {
		if key.within == 0 {
			v.add(c, key, h)
		}
	}
}

// Remove removes an owner's holder.
func (c *Counter) Remove(owner uint64) {
	c.need()
	h, ok := c.holders[owner]
	if !ok {
		return
	}
	delete(c.holders, owner)
	if h.Claim || h.Within != 0 {
		c.views = nil
		return
	}
	for key, v := range c.views {
		if key.within == 0 {
			v.remove(owner)
		}
	}
}

// End returns when a holder is expected to give back.
func (c *Counter) End(h Holder) int64 { return c.end(h, viewKey{}) }

// end returns when a holder is expected to give back in a view.
func (c *Counter) end(h Holder, key viewKey) int64 {
	if h.Claim || h.End > c.now || key.by {
		return h.End
	}
	over := c.grace
	if c.Overrun != nil {
		over = c.Overrun(h.Owner)
	}
	return c.now + min(over, timeline.Forever-c.now)
}

// view returns the counter as viewed for some holders.
func (c *Counter) view(key viewKey) *view {
	c.need()
	if v := c.views[key]; v != nil {
		return v
	}
	plan, err := timeline.New(timeline.MaxTotal, c.now, timeline.Forever)
	if err != nil {
		panic(err) // now is an instant at which a plan can begin
	}
	v := &view{plan: plan, spans: make(map[uint64]timeline.SpanID)}
	total := c.total
	if key.within != 0 {
		total = c.holders[key.within].Amount
	} else if c.outside > 0 && c.until > c.now {
		v.take(c.now, c.until, c.outside)
	}
	for _, h := range c.holders {
		v.add(c, key, h)
	}
	_ = plan.Resize(min(max(total, 0), timeline.MaxTotal))
	if c.views == nil {
		c.views = make(map[viewKey]*view)
	}
	c.views[key] = v
	return v
}

// add counts a holder. An amount taken out of a reservation counts there. For all others it
// counts once that reservation is over, because an overdue job keeps it.
func (v *view) add(c *Counter, key viewKey, h Holder) {
	start, end := max(h.Start, c.now), c.end(h, key)
	claim, kept := c.holders[h.Within]
	switch {
	case key.within != 0 && h.Within != key.within:
		return
	case key.within == 0 && h.Within != 0 && kept:
		start = max(start, claim.End)
	}
	if start >= end || h.Amount <= 0 {
		return
	}
	was := v.plan.Total()
	_ = v.plan.Resize(timeline.MaxTotal) // more may be held than the total
	v.spans[h.Owner] = v.take(start, end, h.Amount)
	_ = v.plan.Resize(was)
}

// take takes an amount, at most what the plan has left.
func (v *view) take(start, end, amount int64) timeline.SpanID {
	s := timeline.Span{Start: start, Duration: end - start, Amount: amount}
	id, err := v.plan.Add(s)
	if err != nil {
		s.Amount, _ = v.plan.FreeDuring(s.Start, s.Duration)
		id, _ = v.plan.Add(s)
	}
	return id
}

func (v *view) remove(owner uint64) {
	if id, ok := v.spans[owner]; ok {
		_ = v.plan.Remove(id)
		delete(v.spans, owner)
	}
}

// Held returns how much of the counter is taken at an instant that is not past. Use outside
// placectl and reservations count.
func (c *Counter) Held(at int64) int64 {
	if c.Left {
		return c.left(max(at, c.now))
	}
	return c.peak(max(at, c.now), 1)
}

// peak returns the most that is taken at any instant of a period.
func (c *Counter) peak(start, duration int64) int64 { return c.view(viewKey{}).peak(start, duration) }

func (v *view) peak(start, duration int64) int64 {
	total := v.plan.Total()
	_ = v.plan.Resize(timeline.MaxTotal) // more may be held than the total
	free, err := v.plan.FreeDuring(start, duration)
	_ = v.plan.Resize(total)
	if err != nil {
		return 0
	}
	return timeline.MaxTotal - free
}

// Outside returns how much is used outside placectl at an instant, and until when.
func (c *Counter) Outside(at int64) (amount, until int64) {
	if at < c.until {
		return c.outside, c.until
	}
	return 0, 0
}

// Exceeded reports whether more than the total is held at some instant of a holder's time. If
// by is true, holders count by their planned ends.
func (c *Counter) Exceeded(h Holder, by bool) bool {
	if c.Left {
		return c.leftExceeded(h)
	}
	key, total := viewKey{by: by}, c.total
	if claim, ok := c.holders[h.Within]; ok && h.Within != 0 {
		key.within, total = h.Within, claim.Amount
	}
	start, end := max(h.Start, c.now), c.end(h, key)
	return start < end && c.view(key).peak(start, end-start) > total
}

// Refuses reports whether a new holder would exceed the counter.
func (c *Counter) Refuses(h Holder, by bool) bool {
	if c.Roomy(h.Amount) {
		return false
	}
	was, had := c.Holder(h.Owner)
	c.Put(h)
	exceeds := c.Exceeded(h, by)
	c.Remove(h.Owner)
	if had {
		c.Put(was)
	}
	return exceeds
}

// NextBack returns the first instant after a given one at which a holder is expected to give
// back, or Forever.
func (c *Counter) NextBack(after int64) int64 {
	c.need()
	next := int64(timeline.Forever)
	if c.outside > 0 && c.until > after {
		next = c.until
	}
	for _, h := range c.holders {
		if end := c.end(h, viewKey{}); end > after {
			next = min(next, end)
		}
	}
	return next
}

// Split returns how much is held now, and how much more by planned holders.
func (c *Counter) Split() (now, planned int64) {
	c.need()
	for _, h := range c.holders {
		switch {
		case h.Claim && c.Rule: // a job waits for it, without a plan
		case h.Start <= c.now && c.Left:
			now = min(now+Product(h.Amount, max(0, h.End-c.now)), MaxLeft)
		case h.Start <= c.now:
			now += h.Amount
		case c.Left:
			planned = min(planned+Product(h.Amount, h.End-h.Start), MaxLeft)
		default:
			planned += h.Amount
		}
	}
	return now, planned
}
