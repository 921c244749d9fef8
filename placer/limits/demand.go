package limits

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/placectl/placectl/timeline"
)

// Demand is a request's want of one counter.
type Demand struct {
	*Counter
	Amount int64
	// Within are the reservations that the request requires, as owners; it will be in one of them. Its
	// demand comes out of those that hold some of the counter.
	Within []uint64
}

// Demands are the wants of a request, one for each counter.
type Demands []Demand

// Next returns the first instant at or after a given one from which the demand can be met for
// a duration; ok is false if there is none.
func (d Demand) Next(at, duration int64) (start int64, ok bool) {
	at = max(at, d.now)
	if d.Left {
		return d.nextLeft(at, duration, d.Amount)
	}
	if d.Roomy(d.Amount) {
		return at, true
	}
	claims := 0
	best := int64(timeline.Forever)
	for _, owner := range d.Within {
		claim, held := d.holders[owner]
		if !held {
			continue
		}
		claims++
		t, err := d.view(viewKey{within: owner}).plan.EarliestStart(max(at, claim.Start), duration, d.Amount)
		if err == nil && t <= claim.End-duration {
			best, ok = min(best, t), true
		}
	}
	if claims > 0 {
		return best, ok
	}
	start, err := d.view(viewKey{}).plan.EarliestStart(at, duration, d.Amount)
	return start, err == nil
}

// Fits reports whether the demand can be met for a duration.
func (d Demand) Fits(at, duration int64) bool {
	if claims := d.Within; len(claims) > 0 || d.Left {
		t, ok := d.Next(at, duration)
		return ok && t == at
	}
	if d.Roomy(d.Amount) {
		return true
	}
	fits, err := d.view(viewKey{}).plan.Fits(max(at, d.now), duration, d.Amount)
	return err == nil && fits
}

// Most returns the most that the demand could ever get.
func (d Demand) Most() int64 {
	most, claims := int64(0), 0
	for _, owner := range d.Within {
		if claim, held := d.holders[owner]; held {
			claims++
			most = max(most, claim.Amount)
		}
	}
	if claims == 0 {
		return d.total
	}
	return most
}

// Free returns how much the demand could get for a duration.
func (d Demand) Free(at, duration int64) int64 {
	at = max(at, d.now)
	key := viewKey{}
	for _, owner := range d.Within {
		if claim, held := d.holders[owner]; held && claim.Start <= at && at < claim.End {
			key.within = owner
		}
	}
	free, err := d.view(key).plan.FreeDuring(at, duration)
	if err != nil {
		return 0
	}
	return free
}

// Next returns the first instant at or after a given one from which all demands can be met for
// a duration; ok is false if there is none. Each step skips only instants at which some demand
// cannot be met, so none is missed.
func (ds Demands) Next(at, duration int64) (start int64, ok bool) {
	for agree := 0; agree < len(ds); {
		for _, d := range ds {
			t, ok := d.Next(at, duration)
			if !ok {
				return 0, false
			}
			if agree++; t > at {
				at, agree = t, 1
			}
			if agree >= len(ds) {
				break
			}
		}
	}
	return at, true
}

// Comparable reports whether demands for more could be met no sooner.
func (ds Demands) Comparable() bool {
	return !slices.ContainsFunc(ds, func(d Demand) bool { return d.Left || len(d.Within) > 0 })
}

// AtMost reports whether others want at least as much of each counter as these do.
func (ds Demands) AtMost(others Demands) bool {
	for _, d := range ds {
		more := func(o Demand) bool { return o.Counter == d.Counter && o.Amount >= d.Amount }
		if !slices.ContainsFunc(others, more) {
			return false
		}
	}
	return true
}

// Short returns the first demand that cannot be met for a duration, or nil. It looks at the
// demands of rules if rules is true, else at those of pools.
func (ds Demands) Short(at, duration int64, rules bool) *Demand {
	for i := range ds {
		if ds[i].Rule == rules && !ds[i].Fits(at, duration) {
			return &ds[i]
		}
	}
	return nil
}

// Kept returns the demands of rules that cannot be met for a duration.
func (ds Demands) Kept(at, duration int64) (out Demands) {
	for _, d := range ds {
		if d.Rule && !d.Fits(at, duration) {
			out = append(out, d)
		}
	}
	return out
}

// Pools returns the demands of pools.
func (ds Demands) Pools() (out Demands) {
	for _, d := range ds {
		if !d.Rule {
			out = append(out, d)
		}
	}
	return out
}

// NextBack returns the first instant after a given one at which any demanded amount is
// expected to be given back, or Forever.
func (ds Demands) NextBack(after int64) int64 {
	next := int64(timeline.Forever)
	for _, d := range ds {
		next = min(next, d.Counter.NextBack(after))
	}
	return next
}

// Text says why the demand cannot be met for a duration. For a rule, it names the use then.
// For a pool, it names the amount free then, and until when that is too little.
func (d Demand) Text(at, duration int64) string {
	asks := d.Amount
	if d.Left {
		asks = Product(d.Amount, duration)
	}
	if d.Rule && asks > d.total {
		return AsksText(d.Name, d.write(asks), d.write(d.total), d.Who)
	}
	if d.Rule {
		used := int64(0)
		if at = max(at, d.now); d.Left {
			used = d.left(at)
		} else {
			used = d.peak(at, duration)
		}
		return RuleText(d.Name, d.write(used), d.write(d.total), d.Who)
	}
	text := fmt.Sprintf("%s: %d asked, %d free", d.Name, d.Amount, d.Free(at, duration))
	if next, ok := d.Next(at, duration); ok && next > at {
		text += " until " + time.Unix(next, 0).UTC().Format(time.RFC3339)
	}
	return text
}

// RuleText describes a rule that blocks a request: which rule, the use and the limit, and the
// subject.
func RuleText(rule, used, most, who string) string {
	text := "limit: " + rule + " " + used + " of " + most
	if who != "" {
		text += " (" + who + ")"
	}
	return text
}

// AsksText says that a rule allows less than a request asks for.
func AsksText(rule, asked, most, who string) string {
	text := "limit: " + rule + " asks " + asked + ", the limit is " + most
	if who != "" {
		text += " (" + who + ")"
	}
	return text
}

func (c *Counter) write(n int64) string {
	if c.Text != nil {
		return c.Text(n)
	}
	return strconv.FormatInt(n, 10)
}
