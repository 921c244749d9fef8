package locality

import (
	"math"
	"slices"
)

// End is one end of a range: the hosts there and what they hold.
type End struct {
	Hosts int
	Rate  int64  // micro-credits a day, the sum over its hosts
	Hand  Credit // that hosts have
	Back  Credit // returned or passed over, and waiting
}

// Cursor is a range of slots and the progress of the work in it. Slots below Low were handed
// out from the low end, and those above High from the high end. Those between are open.
type Cursor struct {
	First, Last int // the range, in slots
	Unfinished  int // no slot of the range below it is unfinished
	Top         int // no slot of the range above it is unfinished
	Low, High   int // the open slots are Low..High
	Generated   int // first ungenerated slot: those in Low..Generated-1 are unsent
	Open        Credit
	Gone        []int // open slots that are terminal: their jobs failed in another layer
	Ends        [2]End
}

// Remaining returns the credit of everything unfinished.
func (c *Cursor) Remaining() Credit {
	return c.Waiting() + c.Ends[LowEnd].Hand + c.Ends[HighEnd].Hand
}

// Waiting returns the credit of what no host has.
func (c *Cursor) Waiting() Credit { return c.Open + c.Ends[LowEnd].Back + c.Ends[HighEnd].Back }

// Rate returns the speed of all its hosts together.
func (c *Cursor) Rate() int64 { return c.Ends[LowEnd].Rate + c.Ends[HighEnd].Rate }

// Hosts returns how many hosts work in it.
func (c *Cursor) Hosts() int { return c.Ends[LowEnd].Hosts + c.Ends[HighEnd].Hosts }

// TimeLeft returns the estimated seconds until the range is finished: its remaining credit, by the speed of its hosts.
// It is infinite for work without a host. Ranges are ordered by it.
func (c *Cursor) TimeLeft() float64 { return seconds(c.Remaining(), c.Rate()) }

// sideOf returns the end from which a slot was handed out.
func (c *Cursor) sideOf(slot int) Side {
	if slot < c.Low {
		return LowEnd
	}
	return HighEnd
}

func (c *Cursor) isOpen(slot int) bool { return slot >= c.Low && slot <= c.High }

// seconds returns how long a credit takes at a speed.
func seconds(c Credit, rate int64) float64 {
	switch {
	case c == 0:
		return 0
	case rate <= 0:
		return math.Inf(1)
	}
	return float64(c) / float64(rate) * Day
}

// advance moves Unfinished and Top past terminal slots, and the open slots with them.
func (o *Op) advance(c *Cursor) error {
	for c.Unfinished <= c.Top {
		s, _, err := o.slot(c.Unfinished)
		if err != nil {
			return err
		}
		if !s.Terminal() {
			break
		}
		c.Unfinished++
	}
	for c.Top >= c.Unfinished {
		s, _, err := o.slot(c.Top)
		if err != nil {
			return err
		}
		if !s.Terminal() {
			break
		}
		c.Top--
	}
	if c.Unfinished > c.Top {
		c.Unfinished, c.Top = c.Last+1, c.First-1
	}
	for c.Low <= c.High && c.Low < c.Unfinished {
		c.Low++
	}
	for c.High >= c.Low && c.High > c.Top {
		c.High--
	}
	c.Gone = slices.DeleteFunc(c.Gone, func(slot int) bool { return !c.isOpen(slot) })
	c.Generated = max(c.Generated, c.Low, min(c.Unfinished, c.Last+1))
	return nil
}

// generate keeps a number of unsent instances ahead of the low end.
func (o *Op) generate(c *Cursor) {
	c.Generated = max(c.Generated, min(c.Low+o.Batch.Settings.Cushion, c.High+1), c.Low)
}

// split cuts a range before an open slot into two. The hosts of each end stay at theirs. Slots
// must be numbered layer by layer.
func (o *Op) split(c *Cursor, at int) (left, right *Cursor, err error) {
	upper, err := o.between(at, c.High)
	if err != nil {
		return nil, nil, err
	}
	l, r := *c, *c
	l.Gone, r.Gone = nil, nil
	for _, slot := range c.Gone {
		if slot < at {
			l.Gone = append(l.Gone, slot)
			continue
		}
		r.Gone = append(r.Gone, slot)
		n, _ := o.Batch.JobOf(slot)
		j, err := o.job(n)
		if err != nil {
			return nil, nil, err
		}
		upper -= j.Credit
	}
	l.Last, l.Top, l.High = at-1, min(c.Top, at-1), at-1
	l.Open, l.Ends[HighEnd] = c.Open-upper, End{}
	r.First, r.Unfinished, r.Low = at, at, at
	r.Open, r.Ends[LowEnd] = upper, End{}
	l.Generated, r.Generated = min(c.Generated, at), max(c.Generated, at)
	for _, half := range []*Cursor{&l, &r} {
		if err := o.advance(half); err != nil { // slots at the cut may be terminal
			return nil, nil, err
		}
		if err := o.PutCursor(half); err != nil {
			return nil, nil, err
		}
	}
	return &l, &r, nil
}
