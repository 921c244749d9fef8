package nodes

import (
	"fmt"
	"maps"
	"math"
	"slices"

	internallimits "github.com/placectl/placectl/internal/limits"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/placer/subject"
)

// What rules count beside pools: for each rule, and for each subject that it matches with *, a
// row of LimitSums has how much jobs hold together. Rows of Holdings say which job holds what,
// from when to when. The sum is enough if there is room; the holdings are only read otherwise.
// Rules on waiting jobs have sums alone. In a store without rules none of this is read.

// Ruled holds what rules count, as one transaction reads and changes it.
type Ruled struct {
	Base
	src   internallimits.Source
	read  bool
	rules *internallimits.Rules
	timed map[string]*limits.Counter
	tally map[string]int64 // as far as they have been read

	claims map[uint64]*row.Claim // by job; nil until they are read
}

// NewRuled returns what the rules in src count.
func NewRuled(b Base, src internallimits.Source) *Ruled {
	return &Ruled{Base: b, src: src, timed: make(map[string]*limits.Counter), tally: make(map[string]int64)}
}

// All returns the rules, or nil if there are none.
func (ru *Ruled) All() (*internallimits.Rules, error) {
	if ru.read {
		return ru.rules, nil
	}
	var err error
	if ru.rules, err = internallimits.Read(ru.src); err == nil {
		ru.read = true
	}
	return ru.rules, err
}

// Forget makes everything be read again.
func (ru *Ruled) Forget() {
	ru.read, ru.rules = false, nil
	clear(ru.timed)
	clear(ru.tally)
}

// Clear removes what rules count, to be counted again.
func (ru *Ruled) Clear() error {
	ru.Forget()
	return ru.Rows.Clear(row.LimitSums)
}

// Tally returns how much a counter of a rule counts.
func (ru *Ruled) Tally(key string) (int64, error) {
	if n, known := ru.tally[key]; known {
		return n, nil
	}
	payload, err := ru.Rows.Get(row.LimitSums, []byte(key))
	if err != nil {
		return 0, err
	}
	n := int64(0)
	if payload != nil {
		if err := row.LimitSumRow.Read(&n, []byte(key), payload); err != nil {
			return 0, err
		}
	}
	ru.tally[key] = n
	return n, nil
}

// moved changes a tally. Counters that belong to no rule have none.
func (ru *Ruled) moved(key string, by int64) error {
	if _, _, ok := row.LimitCounterOf(key); !ok || by == 0 {
		return nil
	}
	n, err := ru.Tally(key)
	if err != nil {
		return err
	}
	n += by
	ru.tally[key] = n
	if n == 0 {
		return ru.Rows.Remove(row.LimitSums, []byte(key))
	}
	return ru.Rows.Put(row.LimitSums, []byte(key), row.LimitSumRow.Encode(&n))
}

// Counter returns the counter of a rule: who holds what of it and when.
func (ru *Ruled) Counter(a *limits.Applied) (string, *limits.Counter, error) {
	key := row.LimitCounter(a)
	c := ru.timed[key]
	if c == nil {
		sum, err := ru.Tally(key)
		if err != nil {
			return key, nil, err
		}
		c = limits.New(a.Rule.String(), true, a.Max, ru.Calendar().Now(), Grace)
		c.Who, c.Left, c.Soft, c.Overrun, c.Text = a.Who(), a.Measure.Form == limits.Left, a.Soft, ru.Overrun,
			ru.rules.Text(a.Measure)
		if err := ru.claimed(key, func(h limits.Holder) { sum += h.Amount }); err != nil {
			return key, nil, err
		}
		c.Unread(sum, func(c *limits.Counter) { ru.readHolders(key, c) })
		ru.timed[key] = c
	}
	c.SetNow(ru.Calendar().Now())
	return key, c, nil
}

func (ru *Ruled) readHolders(key string, c *limits.Counter) {
	err := ru.Rows.Each(row.Holdings, row.HoldingPrefix(key), func(key, payload []byte) (bool, error) {
		h, err := row.HoldingRow.Decode(key, payload)
		c.Put(*h)
		return true, err
	})
	if err == nil {
		err = ru.claimed(key, c.Put)
	}
	if err != nil {
		ru.Fail(fmt.Errorf("%s: %w", key, err))
	}
}

// EachTimed calls fn for what a job that has a start holds of rules.
func (ru *Ruled) EachTimed(j *row.Job, fn func(key string, c *limits.Counter, h limits.Holder) error) error {
	all, err := ru.All()
	if all == nil || err != nil {
		return err
	}
	return all.Of(j, func(a *limits.Applied, amount int64) error {
		if !a.Measure.Timed() {
			return nil
		}
		key, c, err := ru.Counter(a)
		if err != nil {
			return err
		}
		h := j.InArray()
		h.Amount = amount
		return fn(key, c, h)
	})
}

// Changed replaces what a job was by what it is in the rules on waiting and running jobs.
// Either may be nil.
func (ru *Ruled) Changed(was, is *row.Job) error {
	all, err := ru.All()
	if all == nil || err != nil || was != nil && is != nil && alike(was, is) {
		return err
	}
	if err := ru.counted(all, was, -1); err != nil {
		return err
	}
	return ru.counted(all, is, 1)
}

func (ru *Ruled) counted(all *internallimits.Rules, j *row.Job, sign int64) error {
	if j == nil || !j.State.Live() {
		return nil
	}
	return all.Of(j, func(a *limits.Applied, amount int64) error {
		if !a.Measure.Counts(j.State != row.JobRunning) {
			return nil
		}
		return ru.moved(row.LimitCounter(a), sign*amount)
	})
}

// alike reports whether two jobs count the same.
func alike(a, b *row.Job) bool {
	return a.State.Live() == b.State.Live() && (a.State == row.JobRunning) == (b.State == row.JobRunning) &&
		a.Whose() == b.Whose() &&
		a.Select == b.Select && a.Place == b.Place && a.Walltime == b.Walltime && slices.Equal(a.Pools, b.Pools)
}

// Without runs fn as if the job did not exist for the rules, so that a job that changes does not block
// itself. Nothing is written.
func (ru *Ruled) Without(j *row.Job, fn func() error) error {
	return ru.Unclaimed(j.ID, func() error {
		all, err := ru.All()
		if all == nil || err != nil {
			if err == nil {
				err = fn()
			}
			return err
		}
		was := make(map[string]int64)
		defer func() { maps.Copy(ru.tally, was) }()
		err = all.Of(j, func(a *limits.Applied, amount int64) error {
			if !a.Measure.Counts(j.State != row.JobRunning) {
				return nil
			}
			key := row.LimitCounter(a)
			n, err := ru.Tally(key)
			if err == nil {
				was[key], ru.tally[key] = n, n-amount
			}
			return err
		})
		if err != nil {
			return err
		}
		return fn()
	})
}

// Apart returns what tells a job from others for the rules: that no limit applies to it, or
// the names that they look at.
func (ru *Ruled) Apart(j *row.Job) ([]string, error) {
	all, err := ru.All()
	switch {
	case all == nil || err != nil:
		return nil, err
	case j.OverLimits:
		return []string{"over limits"}, nil
	}
	apart := []string{"limits"} // user and queue distinguish requests anyway
	who := j.Whose()
	for _, kind := range subject.Shared {
		if all.Look(kind) {
			apart = append(apart, who[kind])
		}
	}
	return apart, nil
}

// Demands returns what a request needs of the rules that are checked at instants.
func (ru *Ruled) Demands(who subject.Names, asked internallimits.Asked) (out limits.Demands, err error) {
	all, err := ru.All()
	if all == nil || err != nil {
		return nil, err
	}
	list, err := all.Under(who)
	for i := 0; i < len(list) && err == nil; i++ {
		a := &list[i]
		if !a.Measure.Timed() || a.Soft {
			continue
		}
		n, errAmount := all.Amount(a.Measure, asked)
		_, c, errCounter := ru.Counter(a)
		if err = errAmount; err == nil {
			err = errCounter
		}
		if n > 0 {
			out = append(out, limits.Demand{Counter: c, Amount: n})
		}
	}
	return out, err
}

// Barred returns the text of the rule on single jobs that a request breaks, or "".
func (ru *Ruled) Barred(who subject.Names, asked internallimits.Asked) (string, error) {
	return ru.broken(who, asked, func(a *limits.Applied, n int64) (how string, much int64, err error) {
		if a.Measure.Form == limits.OfOne && n > a.Max {
			how = isFull
		}
		return how, n, nil
	})
}

// Full returns the rule on waiting or running jobs that refuses this many more jobs of a request,
// some of which will wait, or "" if none does.
func (ru *Ruled) Full(who subject.Names, asked internallimits.Asked, jobs int64, waits bool) (string, error) {
	return ru.broken(who, asked, func(a *limits.Applied, n int64) (how string, used int64, err error) {
		if !a.Measure.Counts(waits) || n == 0 {
			return "", 0, nil
		}
		if jobs > a.Max/n { // n*jobs may overflow
			return tooMuch, n * min(jobs, math.MaxInt64/n), nil
		}
		if used, err = ru.Tally(row.LimitCounter(a)); used > a.Max-n*jobs {
			how = isFull
		}
		return how, used, err
	})
}

// isFull and tooMuch say how a rule is broken: it is full, or the request asks for more than
// it ever allows.
const isFull, tooMuch = "is full", "too much"

// broken returns the text of the first hard rule that is broken, or "". The function is says
// how, "" if it is not, and how much was used or asked for.
func (ru *Ruled) broken(who subject.Names, asked internallimits.Asked, is func(a *limits.Applied, n int64) (how string,
	much int64, err error)) (string, error) {
	all, err := ru.All()
	if all == nil || err != nil {
		return "", err
	}
	list, err := all.Under(who)
	if err != nil {
		return "", err
	}
	for i := range list {
		a := &list[i]
		if a.Soft || a.Measure.Timed() {
			continue
		}
		n, err := all.Amount(a.Measure, asked)
		if err != nil {
			return "", err
		}
		how, much, err := is(a, n)
		if err != nil {
			return "", err
		}
		text := all.Text(a.Measure)
		if text == nil {
			text = func(n int64) string { return fmt.Sprint(n) }
		}
		switch how {
		case isFull:
			return limits.RuleText(a.Rule.String(), text(much), text(a.Max), a.Who()), nil
		case tooMuch:
			return limits.AsksText(a.Rule.String(), text(much), text(a.Max), a.Who()), nil
		}
	}
	return "", nil
}

// EachWhom calls fn for each subject with a count for a rule.
func (ru *Ruled) EachWhom(r *limits.Rule, fn func(c *limits.Counter) error) error {
	if _, err := ru.All(); err != nil {
		return err
	}
	var whom []string
	prefix := row.LimitCounter(&limits.Applied{Rule: r})
	err := ru.Rows.Each(row.LimitSums, []byte(prefix), func(key, _ []byte) (bool, error) {
		whom = append(whom, string(key[len(prefix):]))
		return true, nil
	})
	for i := 0; i < len(whom) && err == nil; i++ {
		var c *limits.Counter
		if _, c, err = ru.Counter(&limits.Applied{Rule: r, Whom: whom[i]}); err == nil {
			err = fn(c)
		}
	}
	return err
}

// Uses lists how much of the rules is used, by rule and subject.
func (ru *Ruled) Uses() (out []limits.Use, err error) {
	all, err := ru.All()
	if all == nil || err != nil {
		return nil, err
	}
	err = ru.Rows.Each(row.LimitSums, nil, func(key, payload []byte) (bool, error) {
		n, err := row.LimitSumRow.Decode(key, payload)
		if err != nil {
			return false, err
		}
		name, whom, _ := row.LimitCounterOf(string(key))
		r := all.Named(name)
		if r == nil {
			return false, fmt.Errorf("%w: %q is counted, and there is no such limit", row.ErrDamaged, key)
		}
		a := limits.Applied{Rule: r, Whom: whom}
		u := limits.Use{Rule: r, Who: a.Who(), Used: *n}
		if r.Measure.Timed() {
			_, c, err := ru.Counter(&a)
			if err != nil {
				return false, err
			}
			u.Used, u.Planned = c.Split()
		}
		out = append(out, u)
		return true, nil
	})
	return out, err
}
