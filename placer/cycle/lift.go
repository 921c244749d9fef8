package cycle

// clearTheWay takes the plans of all jobs behind one off the nodes that has none and may
// fit, or get one, or whose plan an overdue job is in the way of: it comes before them.
// Those ahead of it were looked at with all plans in place.
func (p *Pass) clearTheWay(j *Job, behind []*Job) error {
	if p.cleared {
		return nil
	}
	if needs, err := p.needsRoom(j); !needs || err != nil {
		return err
	}
	p.cleared = true
	for _, j := range behind {
		if !j.Planned {
			continue
		}
		if err := p.lift(j); err != nil {
			return err
		}
	}
	return nil
}

// needsRoom reports whether a job may be started or planned anew.
func (p *Pass) needsRoom(j *Job) (bool, error) {
	if j.Planned {
		return j.Delayed, nil
	}
	k, err := p.kind(j)
	if err != nil || k.refused != nil {
		return false, err
	}
	settled, err := p.settled(k, j)
	return !settled || !k.decision.Never && p.planned < p.spec.Depth, err
}

func (p *Pass) lift(j *Job) error {
	p.lifted[j] = true
	return p.host.Lift(j)
}

// putBack puts a lifted plan back if nothing else has taken its place: it is not given
// up for one that is not earlier.
func (p *Pass) putBack(j *Job) (bool, error) {
	back, err := p.host.PutBack(j)
	if back {
		delete(p.lifted, j)
		p.taken++
		p.planned++
	}
	return back, err
}

// giveUp gives a job without a new plan its old one, or none where that does not fit any
// more.
func (p *Pass) giveUp(j *Job) error {
	if !p.lifted[j] {
		return nil
	}
	delete(p.lifted, j)
	back, err := p.host.PutBack(j)
	if back {
		p.taken++
	}
	if back || err != nil {
		return err
	}
	j.Planned, j.Start = false, 0
	return p.host.Withdraw(j)
}

// putRestBack puts plans back that were lifted and not made anew, as far as what came
// before them has left room.
func (p *Pass) putRestBack(rest []*Job) error {
	if len(p.lifted) == 0 {
		return nil
	}
	for _, j := range rest {
		if err := p.giveUp(j); err != nil {
			return err
		}
	}
	return nil
}
