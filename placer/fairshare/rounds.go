package fairshare

import "math/bits"

// Workers are handed out in rounds. A round offers a number of workers. In class order each
// class gets a percentage of them, rounded up, while there are workers and it has waiting
// tasks. What a class cannot use is offered again in the next round, in which that class has
// no part. There are at most as many rounds as classes.
//
// There are two kinds of rounds, with different percentages. Rounds of entitlement fill classes up to
// their targets, and rounds of loans hand out what is beyond. As percentages are whole numbers, and a
// small class can have 0 %, rounds may end with workers left over. A third step deals these out by exact
// quotients of the loads.

// allot hands out idle workers and returns how many no class wants.
func (p *Planner) allot(idle int64) int64 {
	idle = p.fill(idle)
	idle = p.loan(idle)
	return p.deal(idle)
}

// fill makes rounds of entitlement: a class claims what it is short of its target.
func (p *Planner) fill(idle int64) int64 {
	for range p.rows {
		if idle == 0 {
			break
		}
		sum := int64(0)
		for i := range p.rows {
			r := &p.rows[i]
			r.want = 0
			if r.waiting > 0 {
				r.want = max(0, r.target-r.running-r.start)
			}
			sum += r.want
		}
		if sum == 0 {
			break
		}
		// The first class gets what is missing from 100, even if it claims nothing.
		p.rows[0].share = 100 - p.percentages(p.rows[1:], sum)
		idle -= p.offer(min(idle, sum))
	}
	return idle
}

// loan makes rounds of loans. All loaned workers, old and new, are divided by the percentages of the
// classes with waiting tasks. A class claims what it lacks of its part.
func (p *Planner) loan(idle int64) int64 {
	loaned := int64(0)
	for i := range p.rows {
		loaned += p.rows[i].loaned
	}
	for range p.rows {
		if idle == 0 {
			break
		}
		pcts := int64(0)
		for i := range p.rows {
			if p.rows[i].waiting > 0 {
				pcts += p.rows[i].pct
			}
		}
		if pcts == 0 {
			break
		}
		sum := int64(0)
		for i := range p.rows {
			r := &p.rows[i]
			r.want = 0
			if r.waiting > 0 {
				r.want = max(0, r.pct*(loaned+idle)/pcts-r.loaned)
			}
			sum += r.want
		}
		if sum == 0 { // all have their parts: the rest is divided by the parts themselves
			sum = pcts
			for i := range p.rows {
				if r := &p.rows[i]; r.waiting > 0 {
					r.want = r.pct
				}
			}
		}
		p.percentages(p.rows, sum)
		idle -= p.offer(idle)
	}
	return idle
}

// percentages sets the share of each of some rows in a sum, and returns the sum of the shares.
func (p *Planner) percentages(rows []row, sum int64) int64 {
	all := int64(0)
	for i := range rows {
		r := &rows[i]
		r.share = 0
		if r.want > 0 {
			r.share = r.want * 100 / sum
			all += r.share
		}
	}
	return all
}

// offer gives every class its share of n workers and returns how many were taken.
func (p *Planner) offer(n int64) int64 {
	left := n
	for i := range p.rows {
		r := &p.rows[i]
		if r.share == 0 || r.waiting == 0 {
			continue
		}
		left -= r.take(min((n*r.share+99)/100, left))
		if left == 0 {
			break
		}
	}
	return n - left
}

// take starts up to n waiting tasks and returns how many it starts.
func (r *row) take(n int64) int64 {
	n = min(n, r.waiting)
	r.start += n
	r.waiting -= n
	return n
}

// deal hands out what the rounds left over, by exact quotients: first by percentage, then by load among
// the classes too small for a percentage, and at last evenly among those of load 0. It returns how many
// workers no class wants.
func (p *Planner) deal(idle int64) int64 {
	for _, weight := range [...]func(*row) int64{
		func(r *row) int64 { return r.pct },
		func(r *row) int64 { return r.load },
		func(*row) int64 { return 1 },
	} {
		idle = p.dealBy(weight, idle)
	}
	return idle
}

// dealBy deals among the classes that have a weight. Each gets its part of what those before it left.
// Every turn either hands out all workers or starts the last waiting task of a class.
func (p *Planner) dealBy(weight func(*row) int64, idle int64) int64 {
	for idle > 0 {
		sum := int64(0)
		for i := range p.rows {
			if r := &p.rows[i]; r.waiting > 0 {
				sum += weight(r)
			}
		}
		if sum == 0 {
			break
		}
		for i := range p.rows {
			if r := &p.rows[i]; r.waiting > 0 && sum > 0 {
				n := ceilDiv(idle, weight(r), sum)
				sum -= weight(r)
				idle -= r.take(n)
			}
		}
	}
	return idle
}

// ceilDiv returns a*b/c rounded up, for b <= c. None is negative.
func ceilDiv(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	quo, rem := bits.Div64(hi, lo, uint64(c))
	if rem > 0 {
		quo++
	}
	return int64(quo)
}
