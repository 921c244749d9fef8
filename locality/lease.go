package locality

import "slices"

// lease is how long a host has for what it takes: what it asked for; what the batch
// gives, as long as the host has not been measured; then so many times as long as
// all in its hands should take, less towards the end, where nobody can wait.
func (o *Op) lease(h *Host, m *Member, slots []int, w Want) (int64, error) {
	if w.Lease > 0 {
		return w.Lease, nil
	}
	if h.Spent == 0 {
		return o.Batch.Settings.Lease, nil
	}
	all, err := o.handsFull(slices.Concat(m.Live, slots), m.Rate)
	all = max(all+seconds(o.Batch.mean(), m.Rate), 0.8*o.Batch.Stretch*all) // for fetching files
	return int64(max(minLease, leastLease*all, min(mostLease*all, o.Batch.TimeLeft()/2))), err
}

// Leases of measured hosts.
const (
	minLease   = 60 // seconds
	mostLease  = 3
	leastLease = 1.5
)
