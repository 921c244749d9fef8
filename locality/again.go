package locality

import "slices"

// again gives a host without work a slot that another host is working on, so that one slow or
// vanished host does not delay a batch. It takes the slot that is expected last, if this host
// should finish it well before. The first answer counts.
func (g gaps) again(o *Op, m *Member) ([]int, error) {
	b := o.Batch
	if float64(b.Waiting) > againPart*float64(b.Total) || !m.Measured {
		return nil, nil
	}
	left := g.timeLeft(o)
	end := float64(o.Now) + left + slack(o, left)
	best, latest, looked := -1, end, 0
	err := o.EachDue(maxTime, func(d Due) (bool, error) {
		if looked++; looked > maxLooked {
			return false, nil
		}
		if d.Slot < 0 || d.Host == m.Host {
			return true, nil
		}
		at, credit, err := o.expected(d)
		if err != nil || at <= latest || at < float64(o.Now)+againFactor*seconds(credit+b.mean(), m.Rate) {
			return true, err
		}
		ok, err := o.mayDouble(m, d.Slot)
		if ok {
			best, latest = d.Slot, at
		}
		return true, err
	})
	if err != nil || best < 0 {
		return nil, err
	}
	return []int{best}, nil
}

const (
	againPart   = 0.01 // of the credit of a batch: while more waits, nothing is given twice
	againFactor = 1.5  // a second host must be expected to finish this many times as fast
	maxTime     = 1 << 62
)

// expected returns when an instance should be answered. The longer it is overdue, the later
// that is.
func (o *Op) expected(d Due) (at float64, credit Credit, err error) {
	holder, err := o.Member(d.Host)
	if err != nil {
		return 0, 0, err
	}
	before := Credit(0)
	for _, slot := range holder.Live {
		_, c, err := o.slot(slot)
		if err != nil {
			return 0, 0, err
		}
		before += c
		if credit = c; slot == d.Slot {
			break
		}
	}
	due := float64(holder.Busy) + seconds(before+o.Batch.mean(), holder.Rate)
	now := float64(o.Now)
	if due < now {
		due = now + (now-due)/2 + seconds(credit, holder.Rate)/2
	}
	return due, credit, nil
}

// mayDouble reports whether a host may have a slot that one other host has. It may not while
// another result of the job waits for a host, because hosts are needed for that one.
func (o *Op) mayDouble(m *Member, slot int) (bool, error) {
	n, layer := o.Batch.JobOf(slot)
	j, err := o.job(n)
	if err != nil {
		return false, err
	}
	_, t, err := o.task(n)
	if err != nil || t.waits(j) {
		return false, err
	}
	hands := 0
	for _, x := range t.Instances {
		if x.Layer == layer && x.State == Live {
			hands++
		}
	}
	if hands != 1 {
		return false, nil
	}
	return o.mayHave(m, slot)
}

// double returns the second instance of a slot that two hosts have, or nil if the job has
// none.
func (t *Task) double() *Instance {
	for i := range t.Instances {
		x := &t.Instances[i]
		if x.State != Live {
			continue
		}
		for _, earlier := range t.Instances[:i] {
			if earlier.State == Live && earlier.Layer == x.Layer {
				return x
			}
		}
	}
	return nil
}

// takeOver is for a slot that has lost its host. If two hosts have another slot of the job, it
// makes the second copy the instance of this one: as a copy it would only count if it were
// first. So a slot never waits for a host while two hosts have another slot of its job.
func (e *ending) takeOver(layer int) (bool, error) {
	x := e.t.double()
	if x == nil {
		return false, nil
	}
	from, to := e.o.Batch.Slot(e.n, x.Layer), e.o.Batch.Slot(e.n, layer)
	if err := e.o.TakeDue(Due{x.Until, x.Host, from}); err != nil {
		return false, err
	}
	if err := e.o.PutDue(Due{x.Until, x.Host, to}); err != nil {
		return false, err
	}
	m, err := e.o.Member(x.Host)
	if err != nil {
		return false, err
	}
	m.Live, m.Asked.Slots = replaced(m.Live, from, to), replaced(m.Asked.Slots, from, to)
	x.Layer = layer
	return true, e.o.PutMember(m)
}

func replaced(slots []int, from, to int) []int {
	slots = slices.Clone(slots)
	if i := slices.Index(slots, from); i >= 0 {
		slots[i] = to
	}
	return slots
}
