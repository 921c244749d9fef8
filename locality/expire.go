package locality

// Expiry is the result of Expire.
type Expiry struct {
	Leases int // instances that were overdue
	Hosts  int // hosts that left the sums
}

// Expire takes back expired leases, and removes silent hosts from the sums.
func (o *Op) Expire() (Expiry, error) {
	var out Expiry
	var due []Due
	if err := o.EachDue(o.Now, func(d Due) (bool, error) {
		due = append(due, d)
		return true, nil
	}); err != nil {
		return out, err
	}
	for _, d := range due {
		m, err := o.Member(d.Host)
		if err != nil {
			return out, err
		}
		if d.Slot < 0 {
			err = o.lookAfter(m, d, &out)
		} else {
			err = o.expire(m, d, &out)
		}
		if err != nil {
			return out, err
		}
		if err := o.PutMember(m); err != nil {
			return out, err
		}
	}
	return out, nil
}

// expire ends the lease of one slot. A host whose last lease has expired is considered gone.
func (o *Op) expire(m *Member, d Due, out *Expiry) error {
	n, _ := o.Batch.JobOf(d.Slot)
	h, err := o.Host(d.Host)
	if err != nil {
		return err
	}
	e, err := o.find(h, m, n)
	if err != nil {
		return err
	}
	if err := e.drop(); err != nil {
		return err
	}
	e.x.State, e.x.Until = Expired, o.Now
	if err := e.lose(e.x.Layer); err != nil { // the layer may have changed since the lease ran out
		return err
	}
	out.Leases++
	if err := o.putTask(e.block); err != nil || len(m.Live) > 0 || !m.Placed {
		return err
	}
	out.Hosts++
	return o.leave(m)
}

// lookAfter removes a host from the sums if its leases are overdue, or if it holds nothing and
// has been silent for a while. The host keeps its leases, and counts again when it asks for
// work. If the host still counts, it is checked again later.
func (o *Op) lookAfter(m *Member, d Due, out *Expiry) error {
	if err := o.TakeDue(d); err != nil {
		return err
	}
	m.Idle = 0
	if !m.Placed {
		return nil
	}
	at, err := o.missing(m)
	if err != nil {
		return err
	}
	if at <= o.Now {
		out.Hosts++
		return o.leave(m)
	}
	return o.watch(m, at)
}

// missing returns when a host is considered gone unless it is heard of before.
func (o *Op) missing(m *Member) (int64, error) {
	away := o.Batch.Settings.Away
	if len(m.Live) == 0 {
		return m.Seen + away, nil
	}
	if !m.Measured {
		return m.Busy + away, nil
	}
	left, err := o.handsFull(m.Live, m.Rate)
	grace := seconds(o.Batch.mean(), m.Rate) // for fetching files
	return m.Busy + int64(max(minLease, overdue*left+grace, stretched*o.Batch.Stretch*left)), err
}

// handsFull returns how long a host should take for slots, in seconds.
func (o *Op) handsFull(slots []int, rate int64) (float64, error) {
	sum := Credit(0)
	for _, slot := range slots {
		_, credit, err := o.slot(slot)
		if err != nil {
			return 0, err
		}
		sum += credit
	}
	return seconds(sum, rate), nil
}

// watch schedules a check of a host at a time, unless there is an earlier one.
func (o *Op) watch(m *Member, at int64) error {
	if m.Idle > 0 && m.Idle <= at {
		return nil
	}
	if m.Idle > 0 {
		if err := o.TakeDue(Due{m.Idle, m.Host, -1}); err != nil {
			return err
		}
	}
	m.Idle = at
	return o.PutDue(Due{at, m.Host, -1})
}

// overdue is how many times as long as expected a host may take before it no longer counts.
const overdue = 1.5

// stretched is the same factor, applied to the time that all but one answer in a hundred need.
const stretched = 1.2

// Recompute decays every host's record and recomputes every sum of speeds. It reads every host
// of the batch, so run it daily.
func (o *Op) Recompute() error {
	var all []*Member
	if err := o.EachMember(func(m *Member) error {
		all = append(all, m)
		return nil
	}); err != nil {
		return err
	}
	for _, m := range all {
		h, err := o.Host(m.Host)
		if err != nil {
			return err
		}
		h.decay(o.Now)
		if err := o.PutHost(h); err != nil {
			return err
		}
		if err := o.measure(m, h); err != nil {
			return err
		}
		if err := o.PutMember(m); err != nil {
			return err
		}
	}
	return nil
}
