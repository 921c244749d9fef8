package locality

import (
	"math"
)

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
func (o *Op) cheapest(c *Cursor, at int) (int, error) {
	window := min(cutWindow, int(cutPart*float64(min(at-c.Low, c.High-at))))
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
