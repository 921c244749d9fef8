package locality

import "math"

// Host holds what is known of a host across batches. Its speed is the credit it earned divided
// by the time it took. Both decay by half in halfLife, so a pause does not make a host look
// slow.
type Host struct {
	Number uint32
	Name   string
	User   string  // "" counts as a different user for each host
	Earned float64 // micro-credits, decayed
	Spent  float64 // seconds, decayed
	Seen   int64   // Unix seconds
}

// halfLife is the half-life of a host's record, in seconds.
const halfLife = 7 * Day

// priorJobs is how many mean jobs a host must have done for its own record to weigh as much as
// the general speed of hosts.
const priorJobs = 0.5

// decay brings the record to now.
func (h *Host) decay(now int64) {
	if now > h.Seen && h.Seen > 0 {
		f := math.Exp2(-float64(now-h.Seen) / halfLife)
		h.Earned *= f
		h.Spent *= f
	}
	h.Seen = max(h.Seen, now)
}

// earn adds work done and the time it took.
func (h *Host) earn(c Credit, spent, now int64) {
	h.decay(now)
	h.Earned += float64(c)
	h.Spent += float64(max(1, spent))
}

// knownJobs limits the weight of a host's earlier record to this many mean jobs of a batch,
// because its record in this batch counts more.
const knownJobs = 2

// fade limits the weight of a record to some credit. The speed that it shows stays.
func (h *Host) fade(most float64) {
	if h.Earned > most {
		h.Spent *= most / h.Earned
		h.Earned = most
	}
}

// rate returns the estimated speed in micro-credits a day. It is that of the record, to which
// priorJobs mean jobs at the speed of the median host are added.
func (h *Host) rate(prior int64, mean Credit) int64 {
	weight := priorJobs * float64(mean)
	day := float64(prior) / Day
	return max(1, int64((weight+h.Earned)/(weight/day+h.Spent)*Day))
}

// Side is the end of a range at which a host works.
type Side uint8

// A host works upwards from the low end or downwards from the high end.
const (
	LowEnd  Side = 0
	HighEnd Side = 1
)

// Member is a host in a batch.
type Member struct {
	Host     uint32
	Placed   bool // it has a range, and counts in the range's sums
	At       int  // a slot of the range, on its own side
	Side     Side
	Rate     int64 // as counted in the sums
	Joined   int64 // Unix seconds, as all of these
	Moved    int64
	Busy     int64 // when it began to work on its jobs
	Idle     int64 // when to check that it is still there; 0 for never
	Seen     int64
	Jobs     int    // done by it
	Measured bool   // Rate is in Batch.Rates
	Held     []Span // files that it has, in order
	Live     []int  // slots that it has, in the order of sending
	Asked    Asked
}

// Rates counts hosts by speed, with four classes to a doubling, which is fine enough for a
// median.
type Rates [128]uint32

func rateClass(rate int64) int {
	return min(len(Rates{})-1, max(0, int(4*math.Log2(float64(max(1, rate)))-80)))
}

// median returns a speed that half of the hosts exceed, or 0 if there are none.
func (r *Rates) median() int64 {
	total := uint32(0)
	for _, n := range r {
		total += n
	}
	if total == 0 {
		return 0
	}
	below := uint32(0)
	for i, n := range r {
		if below += n; 2*below >= total {
			return int64(math.Exp2((float64(i) + 80.5) / 4))
		}
	}
	return 0
}

// prior returns the speed that a host is assumed to have before it has a record.
func (b *Batch) prior() int64 {
	if m := b.Rates.median(); m > 0 {
		return m
	}
	return b.mean() * 24 // a job an hour: it only matters for the first ranges
}

// stretch adjusts Stretch: how much longer answers take than their credit suggests, mostly
// because files must be fetched. It goes up a step for an answer that takes longer, and down a
// hundredth of a step for each that does not. So it settles where one answer in a hundred
// takes longer.
func (b *Batch) stretch(ratio float64) {
	const step = 0.02
	b.Stretch = max(1, b.Stretch)
	if ratio > b.Stretch {
		b.Stretch *= 1 + step
	} else {
		b.Stretch *= 1 - step/100
	}
}
