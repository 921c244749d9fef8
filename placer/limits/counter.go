package limits

import (
	"github.com/placectl/placectl/timeline"
)

// MaxAmount is the most that a counter has, and that is asked of it.
const MaxAmount = 1 << 40

// Holder is a job's or reservation's hold on a counter: Amount in [Start, End).
type Holder struct {
	Owner      uint64 // as in the calendar
	Start, End int64
	Amount     int64
	// Within is the reservation that the amount is taken out of, as an owner; 0 for none.
	Within uint64
	// Claim marks a reservation: it ends by the clock. All others hold until they give
	// back, and past their end are taken to go on for a grace from now, again and again.
	Claim bool
}

// Counter is an amount that many share. It is made by New, and not safe for concurrent
// use.
type Counter struct {
	Name string               // of the pool, or the rule: user:* running
	Rule bool                 // it lets only so many at once; else it is a pool
	Own  bool                 // a rule submitted with its jobs, such as a throttle: no job passes it
	Who  string               // of a rule with *: whom it is counted for
	Left bool                 // what is held is an amount times the seconds that are left of its time
	Soft bool                 // the rule refuses no job
	Text func(n int64) string // how an amount of it is written; nil: as a number
	// Overrun is how long past now an owner that is past its end is taken to go on; nil:
	// the grace, whoever it is.
	Overrun func(owner uint64) int64

	total      int64
	outside    int64 // of the total, what is used outside placectl
	until      int64 // and until when
	now, grace int64
	holders    map[uint64]Holder
	unread     func(*Counter) // adds the holders, until they are first read
	sum        int64          // of what they hold, until then
	views      map[viewKey]*view
}

// viewKey says whose view of a counter it is.
type viewKey struct {
	within uint64 // of those who take out of this reservation; 0: of all others
	by     bool   // by planned ends: those past theirs are taken to be gone
}

// view is what is free for some.
type view struct {
	plan  *timeline.Planner
	spans map[uint64]timeline.SpanID
}

// New makes a counter at an instant. grace is how long past now an overdue holder is assumed to go
// on.
func New(name string, rule bool, total, now, grace int64) *Counter {
	return &Counter{Name: name, Rule: rule, total: total, now: now, grace: max(grace, 1), holders: make(map[uint64]Holder)}
}

// Unread makes a counter that only knows the sum of its holders, until their times are needed: then
// read adds them.
func (c *Counter) Unread(sum int64, read func(*Counter)) { c.sum, c.unread = sum, read }

// Adjust changes the sum of a counter whose holders have not been read. It returns false if they
// have.
func (c *Counter) Adjust(by int64) bool {
	if c.unread == nil {
		return false
	}
	c.sum += by
	return true
}

// Roomy reports whether there is room for an amount, whenever the other holders hold theirs. It is
// false for a counter whose holders have been read, and reads none.
func (c *Counter) Roomy(amount int64) bool {
	return c.unread != nil && !c.Left && c.sum+amount <= c.total
}

// need reads the holders.
func (c *Counter) need() {
	if read := c.unread; read != nil {
		c.unread = nil
		read(c)
	}
}

// Binds reports whether it refuses those who pass limits, or do not.
func (c *Counter) Binds(overLimits bool) bool { return !c.Soft && (!c.Rule || c.Own || !overLimits) }

// SetTotal changes the total. Holders beyond it go on.
func (c *Counter) SetTotal(total int64) { c.total, c.views = total, nil }

// SetOutside sets how much is used outside placectl, and until when: timeline.Forever for an
// unknown time.
func (c *Counter) SetOutside(amount, until int64) { c.outside, c.until, c.views = amount, until, nil }

// SetNow moves the counter to another instant.
func (c *Counter) SetNow(now int64) {
	if now != c.now {
		c.now, c.views = now, nil
	}
}

// Total is the amount to share.
func (c *Counter) Total() int64 { return c.total }

// Holders goes through those who hold some of it, in no order.
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

// Put notes a holder, in place of what its owner held.
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

// Remove forgets what an owner holds.
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

// End is when a holder is expected to give back.
func (c *Counter) End(h Holder) int64 { return c.end(h, viewKey{}) }

// end is when a holder is expected to give back, as a view has it.
func (c *Counter) end(h Holder, key viewKey) int64 {
	if !h.Claim && h.End <= c.now && !key.by {
		if c.Overrun != nil {
			return c.now + c.Overrun(h.Owner)
		}
		return c.now + c.grace
	}
	return h.End
}

// view is the counter as some see it.
func (c *Counter) view(key viewKey) *view {
	c.need()
	if v := c.views[key]; v != nil {
		return v
	}
	plan, err := timeline.New(timeline.MaxTotal, c.now, timeline.Forever)
	if err != nil {
		panic(err) // an instant is never negative
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
	if err := plan.Resize(max(total, 0)); err != nil {
		panic(err) // amounts are bounded by MaxAmount
	}
	if c.views == nil {
		c.views = make(map[viewKey]*view)
	}
	c.views[key] = v
	return v
}

// add counts a holder. What is taken out of a reservation counts there, and for all
// others once that reservation is over: an overdue job goes on.
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
	_ = v.plan.Resize(timeline.MaxTotal) // more may be held than there is
	v.spans[h.Owner] = v.take(start, end, h.Amount)
	_ = v.plan.Resize(was)
}

func (v *view) take(start, end, amount int64) timeline.SpanID {
	id, err := v.plan.Add(timeline.Span{Start: start, Duration: end - start, Amount: amount})
	if err != nil {
		panic(err) // a plan of MaxTotal holds all that there can be
	}
	return id
}

func (v *view) remove(owner uint64) {
	if id, ok := v.spans[owner]; ok {
		_ = v.plan.Remove(id)
		delete(v.spans, owner)
	}
}

// Held is how much of the counter is taken at an instant that is not past, what others
// use and reservations keep among it.
func (c *Counter) Held(at int64) int64 {
	if c.Left {
		return c.left(max(at, c.now))
	}
	return c.peak(max(at, c.now), 1)
}

// peak is the most that is taken in a time.
func (c *Counter) peak(start, duration int64) int64 { return c.view(viewKey{}).peak(start, duration) }

func (v *view) peak(start, duration int64) int64 {
	total := v.plan.Total()
	_ = v.plan.Resize(timeline.MaxTotal) // more may be held than there is
	free, err := v.plan.FreeDuring(start, duration)
	_ = v.plan.Resize(total)
	if err != nil {
		return 0
	}
	return timeline.MaxTotal - free
}

// Outside is how much others use at an instant, and until when.
func (c *Counter) Outside(at int64) (amount, until int64) {
	if at < c.until {
		return c.outside, c.until
	}
	return 0, 0
}

// Exceeded reports whether more is held, at some instant at which a holder holds, than
// there is for it. by counts everybody by the end that was planned.
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

// NextBack is the first instant after a given one at which a holder is expected to give back, or
// Forever.
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

// Split is how much is held now, and how much more by those who are to start.
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
