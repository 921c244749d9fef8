package locality

import (
	"math"
	"slices"
)

// layers is what the policies that split ranges have in common: each layer is a sequence of
// its own. So the second results of a run of jobs go to one host, as the first results did.
type layers struct{}

func (layers) layered() bool                     { return true }
func (layers) most(*Op, *Member, *Cursor) Credit { return math.MaxInt64 }

func (layers) cuts(o *Op) ([]int, error) {
	starts := make([]int, o.Batch.Layers)
	for i := range starts {
		starts[i] = o.Batch.Slot(0, i)
	}
	return starts, nil
}

func (layers) backRange(c *Cursor, side Side) (first, last int) {
	if side == LowEnd {
		return c.First, c.Low - 1
	}
	return c.High + 1, c.Last
}

func (layers) stays(o *Op, m *Member) (bool, error) {
	c, err := o.CursorAt(m.At)
	return err == nil && c.Waiting() > 0, err
}

// halves splits the range with the most time left whenever a host is free.
type halves struct {
	layers
	twoEnded     bool // a second host works downwards from the high end
	proportional bool // splits by speed and between files, else in half
	least        int  // jobs on either side of a split
}

func (p halves) place(o *Op, m *Member, tried []int) error {
	var to *Cursor
	side, at := LowEnd, -1
	looked := 0
	err := o.Longest(func(c *Cursor) (bool, error) {
		if looked++; looked > maxCandidates {
			return false, nil
		}
		if slices.Contains(tried, c.First) {
			return true, nil
		}
		for s := range Side(2) {
			if c.Ends[s].Hosts == 0 && (s == LowEnd || p.twoEnded) {
				to, side, at = c, s, -1
				return false, nil
			}
		}
		cut, err := p.cut(o, m, c)
		if err != nil || cut < 0 {
			return true, err
		}
		to, at = c, cut
		return false, nil
	})
	if err != nil || to == nil {
		return err
	}
	if at >= 0 {
		left, right, err := o.split(to, at)
		if err != nil {
			return err
		}
		if to = right; p.twoEnded {
			to, side = left, HighEnd
		}
	}
	return o.enter(m, to, side)
}

// cut returns where to split a range for a host, or -1 if it is too short.
func (p halves) cut(o *Op, m *Member, c *Cursor) (int, error) {
	mean := o.Batch.mean()
	part := 0.5
	if p.proportional {
		part = float64(c.Ends[LowEnd].Rate) / float64(c.Rate()+m.Rate)
		if p.twoEnded {
			part = float64(c.Ends[LowEnd].Rate+m.Rate) / float64(c.Rate()+m.Rate)
		}
	}
	want := Credit(float64(c.Open) * part)
	if least := Credit(p.least) * mean; want < least || c.Open-want < least {
		return -1, nil
	}
	at, err := o.atCredit(c, want)
	if err != nil || !p.proportional || at < 0 {
		return at, err
	}
	return o.cheapest(c, at, 0.2)
}

// atCredit returns the open slot before which a range has that much open credit, or -1 if
// there is none inside.
func (o *Op) atCredit(c *Cursor, want Credit) (int, error) {
	low, layer := o.Batch.JobOf(c.Low)
	before, err := o.before(layer, low)
	if err != nil {
		return -1, err
	}
	job, err := o.seek(layer, before+want)
	if err != nil {
		return -1, err
	}
	at := o.Batch.Slot(job, layer)
	if job >= o.Batch.Jobs || at <= c.Low || at > c.High {
		return -1, nil
	}
	return at, nil
}

// The limits of searches.
const (
	maxCandidates = 64  // ranges
	cutWindow     = 256 // jobs on either side of where a cut is wanted
)

// cheapest moves a cut to where the fewest files are used on both of its sides, within a part
// of what is on either side of it.
func (o *Op) cheapest(c *Cursor, at int, part float64) (int, error) {
	window := min(cutWindow, int(part*float64(min(at-c.Low, c.High-at))))
	low, high := max(c.Low+1, at-window), min(c.High, at+window)
	best, cost, away := at, math.MaxInt, 0
	from, _ := o.Batch.JobOf(low)
	reach, err := o.reach(from)
	if err != nil {
		return at, err
	}
	for slot := low; slot <= high; slot++ {
		n, _ := o.Batch.JobOf(slot)
		j, err := o.job(n)
		if err != nil {
			return at, err
		}
		shared := max(0, reach-j.A+1)
		d := max(slot-at, at-slot)
		if shared < cost || shared == cost && d < away {
			best, cost, away = slot, shared, d
		}
		reach = max(reach, j.B)
	}
	return best, nil
}
