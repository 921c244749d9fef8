package fairshare

import "fmt"

// MaxThreshold is the greatest possible spread: one class without a worker is entitled to all, and
// another with all is entitled to none.
const MaxThreshold = 200

// Rebalance says when classes go back to their entitlements: when the spread has been at or above
// the threshold for the whole minimum duration. It is off if either is 0.
type Rebalance struct {
	Threshold   int   // in percentage points
	MinDuration int64 // seconds
}

// on reports whether rebalancing is on.
func (b Rebalance) on() bool { return b.Threshold > 0 && b.MinDuration > 0 }

// check says what is impossible, or "" if nothing is.
func (b Rebalance) check() string {
	switch {
	case b.Threshold < 0 || b.Threshold > MaxThreshold:
		return fmt.Sprintf("a rebalance threshold of %d: expected 0 to %d percentage points", b.Threshold, MaxThreshold)
	case b.MinDuration < 0:
		return fmt.Sprintf("a rebalance minimum duration of %d: expected 0 seconds or more", b.MinDuration)
	}
	return ""
}

// A Timer remembers since when the spread has been at or above the threshold.
type Timer struct {
	Running bool
	Since   int64 // seconds, like State.Now
}

// step returns the timer after a look at the spread, and whether the minimum duration is over, after
// which it begins again. It also begins again if the clock went back.
func (t Timer) step(b Rebalance, spread int, now int64) (Timer, bool) {
	switch {
	case !b.on() || spread < b.Threshold:
		return Timer{}, false
	case !t.Running || now < t.Since:
		return Timer{Running: true, Since: now}, false
	case uint64(now)-uint64(t.Since) < uint64(b.MinDuration):
		return t, false
	}
	return Timer{}, true
}

// spread returns how far apart the least and best served classes are: the most that one is below its
// percentage, and the most that one is above. Only classes with waiting tasks or workers on loan
// count. A single class has a spread of 0.
func (p *Planner) spread(workers int64) int {
	if len(p.rows) < 2 || workers == 0 {
		return 0
	}
	under, over := int64(0), int64(0)
	for i := range p.rows {
		r := &p.rows[i]
		short := r.pct - r.running*100/workers
		if short < 0 || r.waiting > 0 {
			under, over = max(under, short), min(over, short)
		}
	}
	return int(min(under-over, MaxThreshold))
}

// rebalance hands out all workers again, as if the tasks on loaned workers had not begun. Each class is
// filled up to its target, then the rest is loaned. A class that ends with fewer workers than it has
// stops tasks. One that ends with more starts some. It returns how many workers no class wants.
func (p *Planner) rebalance(idle int64) int64 {
	short := int64(0)
	for i := range p.rows {
		r := &p.rows[i]
		r.recalled, r.loaned = r.loaned, 0
		r.running -= r.recalled
		r.waiting += r.recalled
		idle += r.recalled
		short += r.short()
	}
	if short <= idle {
		for i := range p.rows {
			idle -= p.rows[i].take(p.rows[i].short())
		}
	}
	idle = p.allot(idle) // this fills classes only if workers are away and not all can reach their targets
	for i := range p.rows {
		p.rows[i].start -= p.rows[i].recalled
	}
	return idle
}

// short returns how many tasks a class can start before it reaches its target.
func (r *row) short() int64 { return min(r.waiting, max(0, r.target-r.running)) }
