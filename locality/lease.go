package locality

import "slices"

// lease returns how long a host has for the slots it takes. If the host asked for a lease, it
// is that. Until the host is measured, it is what the batch gives. After that it is a multiple
// of the time that everything the host has should take. It is less towards the end, when
// waiting costs most. It doubles each time that a lease of one of the jobs has expired.
// Otherwise a job that takes longer than expected would go from host to host.
func (o *Op) lease(h *Host, m *Member, slots []int, w Want) (int64, error) {
	if w.Lease > 0 {
		return w.Lease, nil
	}
	if h.Spent == 0 {
		return o.Batch.Settings.Lease, nil
	}
	all, err := o.handsFull(slices.Concat(m.Live, slots), m.Rate)
	all = max(all+seconds(o.Batch.mean(), m.Rate), 0.8*o.Batch.Stretch*all) // for fetching files
	if err != nil {
		return 0, err
	}
	over, err := o.mostExpired(slots)
	lease := max(minLease, leastLease*all, min(mostLease*all, o.Batch.TimeLeft()/2))
	return int64(lease * float64(int(1)<<over)), err
}

// mostExpired returns the greatest number of leases that have expired for one of the slots'
// jobs, at most mostDoubled.
func (o *Op) mostExpired(slots []int) (int, error) {
	most := 0
	for _, slot := range slots {
		n, _ := o.Batch.JobOf(slot)
		_, t, err := o.task(n)
		if err != nil {
			return 0, err
		}
		over := 0
		for _, x := range t.Instances {
			if x.State == Expired {
				over++
			}
		}
		most = max(most, over)
	}
	return min(most, mostDoubled), nil
}

// Leases of measured hosts.
const (
	minLease   = 60 // seconds
	mostLease  = 3
	leastLease = 1.5

	mostDoubled = 6 // how often a lease is doubled at most
)
