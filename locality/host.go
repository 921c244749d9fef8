package locality

import "math"

// Host is what is known of a host across batches. Its speed is the credit it earned over the time
// it took, both decaying by half in halfLife, so a pause does not make a host look slow.
type Host struct {
	Number uint32
	Name   string
	User   string  // "" is a user of its own
	Earned float64 // micro-credits, decayed
	Spent  float64 // seconds, decayed
	Seen   int64   // Unix seconds
}

// halfLife is the half-life of a host's record, in seconds.
const halfLife = 7 * Day

// priorJobs is how many mean jobs a host must have done for its own record to
// weigh as much as what hosts are like in general.
const priorJobs = 0.5

// decay ages the record to now.
func (h *Host) decay(now int64) {
	if now > h.Seen && h.Seen > 0 {
		f := math.Exp2(-float64(now-h.Seen) / halfLife)
		h.Earned *= f
		h.Spent *= f
	}
	h.Seen = max(h.Seen, now)
}

// earn notes work done in a stretch of time.
func (h *Host) earn(c Credit, spent, now int64) {
	h.decay(now)
	h.Earned += float64(c)
	h.Spent += float64(max(1, spent))
}

// knownJobs limits the weight of a host's earlier record to this many mean jobs of a batch: its
// record in this batch counts more.
const knownJobs = 2

// fade makes a record weigh no more than some credit. The speed that it shows stays.
func (h *Host) fade(most float64) {
	if h.Earned > most {
		h.Spent *= most / h.Earned
		h.Earned = most
	}
}

// rate returns the estimated speed in micro-credits a day: the record, and priorJobs
// mean jobs at the speed of the median host.
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
	Placed   bool // it has a range, and counts in its sums
	At       int  // a slot of the range, on its own side
	Side     Side
	Rate     int64 // as it counts in the sums
	Joined   int64 // Unix seconds, as all of these
	Moved    int64
	Busy     int64 // since when it has worked on its jobs
	Idle     int64 // when to check that it is still there; 0 for never
	Seen     int64
	Jobs     int    // done by it
	Measured bool   // Rate is in Batch.Rates
	Held     []Span // files that it has, in order
	Live     []int  // slots in its hands, in the order of sending
	Asked    Asked
}

// Rates counts hosts by speed, four classes to a doubling: enough for a median.
type Rates [128]uint32

func rateClass(rate int64) int {
	return min(len(Rates{})-1, max(0, int(4*math.Log2(float64(max(1, rate)))-80)))
}

// median returns a speed that half of the hosts exceed, 0 without any.
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

// prior returns the speed that a host is taken to have before it has shown any.
func (b *Batch) prior() int64 {
	if m := b.Rates.median(); m > 0 {
		return m
	}
	return b.mean() * 24 // a job an hour: it counts for nothing but the first ranges
}

// stretch follows how much longer than their credit says answers take, files to
// fetch being the usual reason: up a step for one that takes longer, down a
// hundredth of one for each that does not, which ends where one in a hundred does.
func (b *Batch) stretch(ratio float64) {
	const step = 0.02
	b.Stretch = max(1, b.Stretch)
	if ratio > b.Stretch {
		b.Stretch *= 1 + step
	} else {
		b.Stretch *= 1 - step/100
	}
}
