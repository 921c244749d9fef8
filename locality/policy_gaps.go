package locality

import (
	"math"
	"slices"
)

// gaps is the default policy. At most two hosts work in a range, from its two ends towards
// each other. The speed that a range needs to end with the batch is its waiting credit divided
// by the time left. A host goes to the range whose missing speed it matches best, and leaves a
// range that the other host can finish in time.
//
// Each layer is a sequence of its own. So the second results of a run of jobs go to one host, as the first
// results did.
type gaps struct{}

func (gaps) layered() bool { return true }

func (gaps) cuts(o *Op) ([]int, error) {
	starts := make([]int, o.Batch.Layers)
	for i := range starts {
		starts[i] = o.Batch.Slot(0, i)
	}
	return starts, nil
}

func (gaps) backRange(c *Cursor, side Side) (first, last int) {
	if side == LowEnd {
		return c.First, c.Low - 1
	}
	return c.High + 1, c.Last
}

// timeLeft estimates when the batch could end, with all the expected hosts.
func (gaps) timeLeft(o *Op) float64 {
	b := o.Batch
	rate := b.Rate
	if b.Done+b.Failed == 0 || b.Active < b.Settings.Hosts && o.Now-b.Created < b.Settings.Away {
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

func (g gaps) stays(o *Op, m *Member) (bool, error) {
	c, err := o.CursorAt(m.At)
	if err != nil || c.Waiting() == 0 {
		return false, err
	}
	left := g.timeLeft(o)
	alone := seconds(c.Waiting(), c.Rate()-m.Rate)
	job := seconds(o.Batch.mean(), m.Rate)
	if alone <= job || g.tooSlow(o, m, left) { // others will have finished before
		return false, nil
	}
	if alone > left*stayFactor {
		return true, nil
	}
	longest := 0.0
	err = o.Longest(func(d *Cursor) (bool, error) {
		longest = d.TimeLeft()
		return false, nil
	})
	return longest < left*goFactor+slack(o, left), err
}

// Constants tuned in bench/locality. A smaller endSlack ends a batch earlier and sends more files;
// a smaller leastPiece does the opposite.
const (
	stayFactor = 1    // a host leaves a range that the other there finishes within this part of the time left
	goFactor   = 1.6  // if another range has this many times as much time left
	leastPiece = 6    // mean jobs that a range must have for a host if it is cut for that host
	cutPart    = 0.25 // how far a cut may be from where it is wanted, as a part of what is on either side
	overFactor = 4    // how much worse a host that is too fast for a range is than one that is too slow
	slowFactor = 1    // a host is too slow if it takes this many times as long for a job as others for all that waits
	workFactor = 3    // a host only goes to a range whose time left is this many times that of its first job there
	thirdPart  = 2    // a range is cut for two hosts if this many times a mean host's part is left over
	endSlack   = 0.02 // of a batch's whole time, see slack
)

// slack returns how much later than the batch a range may end before another host is sent to
// help, in seconds.
func slack(o *Op, left float64) float64 {
	return endSlack * (float64(o.Now-o.Batch.Created) + left)
}

// tooSlow reports whether the others can finish everything that waits before this host has
// done one job.
func (gaps) tooSlow(o *Op, m *Member, left float64) bool {
	others := o.Batch.Rate
	if m.Placed {
		others -= m.Rate
	}
	job := seconds(o.Batch.mean(), m.Rate)
	return job > left+slack(o, left) && job > slowFactor*seconds(o.Batch.Waiting, others)
}

// most limits what a host takes, so that it does not still have it when the batch could have
// ended.
func (g gaps) most(o *Op, m *Member, c *Cursor) Credit {
	left := g.timeLeft(o)
	return Credit(float64(m.Rate) / Day * (left + slack(o, left)) / 2)
}

func (g gaps) place(o *Op, m *Member, tried []int) error {
	left := g.timeLeft(o)
	if home, err := g.home(o, m, tried, left); err != nil || home != nil {
		if err == nil {
			err = o.enter(m, home, m.Side)
		}
		return err
	}
	best := choice{cost: math.Inf(1)}
	looked := 0
	err := o.Longest(func(c *Cursor) (bool, error) {
		if looked++; looked > maxCandidates {
			return false, nil
		}
		if slices.Contains(tried, c.First) {
			return true, nil
		}
		if x := g.weigh(o, m, c, left); x.cost < best.cost {
			best = x
		}
		return !math.IsInf(c.TimeLeft(), 1), nil // ranges without a host come first
	})
	if err != nil || best.c == nil {
		return err
	}
	return g.enter(o, m, best, left)
}

// home returns the range that a host has left, if its end there is free and the range still
// lacks speed: the host has its files. A host that took longer than expected is soon back in
// this way.
func (g gaps) home(o *Op, m *Member, tried []int, left float64) (*Cursor, error) {
	if m.Moved == 0 || g.tooSlow(o, m, left) {
		return nil, nil
	}
	c, err := o.CursorAt(m.At)
	if err != nil || c.Ends[m.Side].Hosts > 0 || c.TimeLeft() <= left+slack(o, left) ||
		slices.Contains(tried, c.First) {
		return nil, err
	}
	return c, nil
}

// choice is a range for a host, and how well they match.
type choice struct {
	c     *Cursor
	side  Side
	split bool
	cost  float64
}

// weigh judges a range by how much the speed that it lacks differs from the host's. Too much
// speed is worse than too little, because the host would soon be free again.
func (g gaps) weigh(o *Op, m *Member, c *Cursor, left float64) choice {
	no := choice{cost: math.Inf(1)}
	x := choice{c: c}
	switch {
	case c.Ends[LowEnd].Hosts == 0 && (c.Ends[HighEnd].Hosts > 0 || c.Ends[LowEnd].Back >= c.Ends[HighEnd].Back):
		x.side = LowEnd
	case c.Ends[HighEnd].Hosts == 0:
		x.side = HighEnd
	default:
		x.split = true
	}
	job := seconds(o.Batch.mean(), m.Rate)
	if g.tooSlow(o, m, left) {
		return no
	}
	if c.Hosts() == 0 {
		x.cost = -1
		return x
	}
	first := job * max(1, o.Batch.Stretch)                            // it must fetch files
	gain := c.TimeLeft() * float64(m.Rate) / float64(m.Rate+c.Rate()) // how much sooner the range would end
	if first*workFactor > c.TimeLeft() || gain < slack(o, left) || c.TimeLeft() < left+slack(o, left) {
		return no
	}
	mine := float64(c.Open) * float64(m.Rate) / float64(c.Rate()+m.Rate)
	if x.split && mine < leastPiece*float64(o.Batch.mean()) {
		return no
	}
	if g.loose(o, m, c, left) >= 0 {
		x.cost = -0.5
		return x
	}
	lack := float64(c.Waiting())/max(left, 1)*Day - float64(c.Rate())
	s := float64(m.Rate)
	if lack < s {
		x.cost = (s - lack) * overFactor / s
	} else {
		x.cost = (lack - s) / s
	}
	return x
}

// loose returns how much of a range the one host in it and another would do in the time left,
// if that leaves enough for a third host. Otherwise it returns -1.
func (g gaps) loose(o *Op, m *Member, c *Cursor, left float64) Credit {
	plan := float64(m.Rate+c.Rate()) * left / Day
	if c.Hosts() == 1 && plan+thirdPart*float64(o.Batch.meanRate())*left/Day < float64(c.Open) {
		return Credit(plan)
	}
	return -1
}

// enter moves a host to where it was chosen to go. In a range with at most one other host, it
// leaves what both cannot do in the time left, so that the second host matches the first.
func (g gaps) enter(o *Op, m *Member, x choice, left float64) error {
	c, side := x.c, x.side
	want, at := Credit(-1), -1
	var err error
	switch plan := g.loose(o, m, c, left); {
	case x.split:
		side = HighEnd
		want = Credit(float64(c.Open) * float64(c.Ends[LowEnd].Rate+m.Rate) / float64(c.Rate()+m.Rate))
	case plan >= 0:
		if want = plan; side == LowEnd {
			want = c.Open - want
		}
	}
	if want >= 0 {
		if at, err = o.atCredit(c, want); err == nil && at >= 0 {
			at, err = o.cheapest(c, at)
		}
	}
	if err != nil || x.split && at < 0 {
		return err
	}
	if at >= 0 {
		left, right, err := o.split(c, at)
		if err != nil {
			return err
		}
		if c = left; !x.split && side == LowEnd {
			c = right
		}
	}
	return o.enter(m, c, side)
}
