package locality

import (
	"math"
	"os"
	"slices"
	"strconv"
)

// gaps is the default policy. A host grows a stretch of finished jobs in both
// directions from where it began; ranges are the gaps between the hosts' stretches,
// eaten from both ends. Which of its two gaps a host eats from is where more time is
// left, so that a slow host's neighbours, and theirs, do what it does not, and
// nobody has to be sent there. Only who has no gap left goes elsewhere: into the
// middle of the longest, which divides it among three.
type gaps struct{ layers }

// timeLeft estimates when the batch could end, with all the hosts that are
// expected.
func (gaps) timeLeft(o *Op) float64 {
	b := o.Batch
	rate := b.Rate
	if b.Active < b.Settings.Hosts && o.Now-b.Created < b.Settings.Away {
		rate += int64(max(0, b.Settings.Hosts-b.Active)) * b.meanRate()
	}
	return seconds(b.Waiting, rate)
}

func (b *Batch) meanRate() int64 {
	if b.Active == 0 {
		return b.prior()
	}
	return b.Rate / int64(b.Active)
}

func env(name string, def float64) float64 {
	if f, err := strconv.ParseFloat(os.Getenv(name), 64); err == nil {
		return f
	}
	return def
}

// What was tuned in bench/locality.
var (
	leastJobs  = env("leastJobs", 4.0)
	cutPart    = env("cutPart", 0.25)
	planSlack  = env("planSlack", 1.3)
	slowFactor = env("slowFactor", 1)
	stayFactor = env("stayFactor", 1.05)
	goFactor   = env("goFactor", 1.3)
	endSlack   = env("endSlack", 0.03)
)

// slack is how much later than the batch a range may end before anybody is sent to
// help, in seconds.
func slack(o *Op, left float64) float64 {
	return endSlack * (float64(o.Now-o.Batch.Created) + left)
}

// stay leaves what others will have finished first, and divides the host's speed
// between what it keeps.
func (g gaps) stay(o *Op, m *Member) error {
	left := g.timeLeft(o)
	job := seconds(o.Batch.mean(), m.Rate)
	spare, err := g.spare(o, m, left)
	if err != nil {
		return err
	}
	if spare {
		return o.leave(m)
	}
	for side := range Side(2) {
		p := m.Posts[side]
		if !p.On {
			continue
		}
		c, err := o.CursorAt(p.At)
		if err != nil {
			return err
		}
		if seconds(c.Waiting(), c.Rate()-p.Rate) <= job || g.tooSlow(o, m, left) {
			if err := o.leavePost(m, side); err != nil {
				return err
			}
		}
	}
	if m.Jobs == 0 {
		return nil
	}
	return o.balance(m)
}

// spare reports whether a host is missed less where it is than elsewhere: the others
// there finish in time without it, and somewhere they do not by far.
func (gaps) spare(o *Op, m *Member, left float64) (bool, error) {
	for _, p := range m.Posts {
		if !p.On {
			continue
		}
		c, err := o.CursorAt(p.At)
		if err != nil || seconds(c.Waiting(), c.Rate()-p.Rate) > stayFactor*left {
			return false, err
		}
	}
	longest := 0.0
	err := o.Longest(func(c *Cursor) (bool, error) {
		longest = c.TimeLeft()
		return false, nil
	})
	return longest > goFactor*left+slack(o, left), err
}

// tooSlow reports whether others can finish all that waits before a host has done
// a job.
func (gaps) tooSlow(o *Op, m *Member, left float64) bool {
	others := o.Batch.Rate - m.counted()
	job := seconds(o.Batch.mean(), m.Rate)
	return job > left+slack(o, left) && job > slowFactor*seconds(o.Batch.Waiting, others)
}

// most keeps a host from taking what would still be in its hands when the batch
// could have ended.
func (g gaps) most(o *Op, m *Member, c *Cursor) Credit {
	left := g.timeLeft(o)
	return Credit(float64(m.Rate) / Day * (left + slack(o, left)) / 2)
}

func (g gaps) place(o *Op, m *Member, tried []int) error {
	left := g.timeLeft(o)
	if g.tooSlow(o, m, left) {
		return nil
	}
	var to *Cursor
	looked := 0
	err := o.Longest(func(c *Cursor) (bool, error) {
		if looked++; looked > maxCandidates || c.TimeLeft() < left+slack(o, left) {
			return false, nil
		}
		if !slices.Contains(tried, c.First) && g.worth(o, m, c) {
			to = c
		}
		return to == nil, nil
	})
	if err != nil || to == nil {
		return err
	}
	return g.enter(o, m, to, left)
}

// worth reports whether a range is long enough for another host.
func (gaps) worth(o *Op, m *Member, c *Cursor) bool {
	if c.Hosts() == 0 {
		return true
	}
	if 2*seconds(o.Batch.mean(), m.Rate) > c.TimeLeft() {
		return false
	}
	mine := float64(c.Open) * float64(m.Rate) / float64(c.Rate()+m.Rate)
	return mine >= leastJobs*float64(o.Batch.mean())
}

// enter puts a host at a free end of a range, or, where that is more than it can
// do with the host at the other end, or where no end is free, between.
func (g gaps) enter(o *Op, m *Member, c *Cursor, left float64) error {
	low, high := &c.Ends[LowEnd], &c.Ends[HighEnd]
	half := m.Rate / 2
	plan := Credit(float64(low.Rate+half) * left / Day)
	large := float64(c.Open) > planSlack*float64(c.Rate()+m.Rate)*left/Day
	if low.Hosts > 0 && high.Hosts > 0 {
		large = true
		plan = Credit(float64(c.Open) * float64(low.Rate+half) / float64(c.Rate()+m.Rate))
	}
	if large {
		at, err := o.atCredit(c, plan)
		if err == nil && at >= 0 {
			at, err = o.cheapest(c, at, cutPart)
		}
		if err != nil {
			return err
		}
		if at >= 0 {
			return g.between(o, m, c, at)
		}
	}
	side := HighEnd
	if low.Hosts == 0 && (high.Hosts > 0 || low.Back >= high.Back) {
		side = LowEnd
	}
	return g.join(o, m, c, side)
}

// join puts a host at a free end, and at the free end of the range next to it too:
// so it takes the place of a host that has left.
func (gaps) join(o *Op, m *Member, c *Cursor, side Side) error {
	slot, other := c.First-1, HighEnd
	if side == HighEnd {
		slot, other = c.Last+1, LowEnd
	}
	if slot >= 0 && slot < o.Batch.Slots() {
		next, err := o.CursorAt(slot)
		if err != nil {
			return err
		}
		if next.Ends[other].Hosts == 0 && next.Waiting() > 0 && next.Hosts() > 0 {
			if err := o.enter(m, next, other, 0); err != nil {
				return err
			}
			if err := o.enter(m, c, side, m.Rate); err != nil {
				return err
			}
			return o.balance(m)
		}
	}
	return o.enter(m, c, side, m.Rate)
}

// between puts a host into the middle of a range.
func (gaps) between(o *Op, m *Member, c *Cursor, at int) error {
	left, right, err := o.split(c, at)
	if err != nil {
		return err
	}
	if err := o.enter(m, left, HighEnd, m.Rate/2); err != nil {
		return err
	}
	return o.enter(m, right, LowEnd, m.Rate-m.Rate/2)
}

// sooner is how long a host without work waits at least.
var _ = math.Inf
