package locality

// picker collects slots for one request.
type picker struct {
	o      *Op
	m      *Member
	c      *Cursor
	left   int    // jobs still wanted
	credit Credit // credit still wanted, at least one job
	slots  []int
	looked int
}

// maxLooked limits how many slots are examined and not given in one request.
const maxLooked = 512

// back considers a slot that waits behind the cursor.
func (p *picker) back(slot int) (more bool, err error) {
	if p.left == 0 || p.looked > maxLooked {
		return false, nil
	}
	p.looked++
	if ok, err := p.o.mayHave(p.m, slot); err != nil || !ok {
		return true, err
	}
	return p.take(slot)
}

// open considers the open slots, beginning at the host's end.
func (p *picker) open() error {
	low, high := p.c.Low, p.c.High
	for more := true; more && p.left > 0 && low <= high && p.looked <= maxLooked; {
		slot := low
		if p.m.Side == HighEnd {
			slot = high
			high--
		} else {
			low++
		}
		state, _, err := p.o.slot(slot)
		if err != nil {
			return err
		}
		if state.Terminal() {
			continue
		}
		ok, err := p.o.mayHave(p.m, slot)
		switch {
		case err != nil:
			return err
		case ok:
			more, err = p.take(slot)
			if err != nil {
				return err
			}
		case p.o.Batch.Layered:
			return nil // it has done this part in another layer
		default:
			p.looked++
		}
	}
	return nil
}

// take takes a slot if there is credit left for it. It always takes the first. A request gets
// a job only once.
func (p *picker) take(slot int) (more bool, err error) {
	_, credit, err := p.o.slot(slot)
	if err != nil {
		return false, err
	}
	if len(p.slots) > 0 && credit > p.credit {
		return false, nil
	}
	n, _ := p.o.Batch.JobOf(slot)
	for _, other := range p.slots {
		if k, _ := p.o.Batch.JobOf(other); k == n {
			return true, nil
		}
	}
	p.slots = append(p.slots, slot)
	p.left--
	p.credit -= credit
	return p.left > 0, nil
}

// mayHave reports whether a host may have an instance of a slot's job. It may not if it, or
// another host of its user, has one or has answered one. A job that has failed on a host goes
// to others, as long as there are any.
func (o *Op) mayHave(m *Member, slot int) (bool, error) {
	n, _ := o.Batch.JobOf(slot)
	_, t, err := o.task(n)
	if err != nil || len(t.Instances) == 0 {
		return err == nil, err
	}
	h, err := o.Host(m.Host)
	if err != nil {
		return false, err
	}
	for _, x := range t.Instances {
		if x.State == Broken && x.Host == m.Host && o.Batch.Active > 1 {
			return false, nil
		}
		if x.State != Live && x.State != Answered {
			continue
		}
		if x.Host == m.Host {
			return false, nil
		}
		if h.User == "" {
			continue
		}
		other, err := o.Host(x.Host)
		if err != nil {
			return false, err
		}
		if other.User == h.User {
			return false, nil
		}
	}
	return true, nil
}
