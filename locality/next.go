package locality

import "slices"

// Want is a host's request: at most a number of jobs, or as many as it can do in a number of
// seconds, at least one. If Lease is 0, the batch decides how long the lease is.
type Want struct {
	Jobs    int
	Seconds int64
	Lease   int64  // seconds
	Key     string // see Asked
}

// Grant is the work for a host.
type Grant struct {
	Jobs   []Given
	Fetch  []Span // files that it does not have
	Delete []Span // files that it may delete
	Again  bool   // it was given before, see Asked
}

// Given is a job for a host.
type Given struct {
	Job, Layer int
	Files      Span
	Until      int64 // until when it is leased, Unix seconds
}

// maxJobs is how many jobs a host may be given in one request.
const maxJobs = 10_000

// Next gives a host work. It returns ErrOver if nothing waits any more, and ErrIdle if nothing that
// waits is for this host now; the grant then only lists what the host may delete.
func (o *Op) Next(h *Host, w Want) (Grant, error) {
	m, err := o.member(h)
	if err != nil {
		return Grant{}, err
	}
	if g, err := o.repeat(h, m, w.Key); err != nil || g.Again {
		return g, err
	}
	h.decay(o.Now)
	m.Seen = o.Now
	var g Grant
	slots, err := o.choose(m, w)
	if err != nil {
		return g, err
	}
	if p, ok := o.policy.(doubler); ok && len(slots) == 0 {
		if slots, err = p.again(o, m); err != nil {
			return g, err
		}
	}
	if len(slots) > 0 {
		err = o.hand(h, m, slots, w, &g)
	} else if err = o.leave(m); err == nil && o.Batch.Waiting == 0 {
		err = ErrOver
	} else if err == nil {
		err = ErrIdle
	}
	if err != nil && err != ErrOver && err != ErrIdle {
		return g, err
	}
	why := err
	if g.Delete, err = o.deletable(m); err != nil {
		return g, err
	}
	m.Held = without(m.Held, g.Delete)
	m.Asked = asked(w.Key, slots, g)
	if err := o.PutHost(h); err != nil {
		return g, err
	}
	if err := o.PutMember(m); err != nil {
		return g, err
	}
	return g, why
}

// member returns a host's record in the batch. It makes one if the host is new.
func (o *Op) member(h *Host) (*Member, error) {
	m, err := o.Member(h.Number)
	if err != nil || m != nil {
		return m, err
	}
	h.fade(knownJobs * float64(o.Batch.mean()))
	return &Member{Host: h.Number, Joined: o.Now}, o.PutHost(h)
}

// maxTries is how many ranges are tried for one request before the host is told to ask again.
const maxTries = 4

// choose picks slots for a host, in the range where it works or in another.
func (o *Op) choose(m *Member, w Want) ([]int, error) {
	var tried []int
	for range maxTries {
		if err := o.settle(m, tried); err != nil || !m.Placed {
			return nil, err
		}
		c, err := o.CursorAt(m.At)
		if err != nil {
			return nil, err
		}
		slots, err := o.pick(m, c, w)
		if err != nil || len(slots) > 0 {
			return slots, err
		}
		tried = append(tried, c.First)
		if err := o.leave(m); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// settle leaves a host where it is, or moves it to where the policy wants it. The ranges in
// tried have nothing for it.
func (o *Op) settle(m *Member, tried []int) error {
	if m.Placed {
		stays, err := o.policy.stays(o, m)
		if err != nil || stays {
			return err
		}
	}
	if err := o.leave(m); err != nil {
		return err
	}
	if err := o.measure(m); err != nil {
		return err
	}
	return o.policy.place(o, m, tried)
}

// pick finds slots of a range for a host: first those that were returned at its end, then open
// ones from its end.
func (o *Op) pick(m *Member, c *Cursor, w Want) ([]int, error) {
	p := picker{o: o, m: m, c: c, left: w.Jobs, credit: o.policy.most(o, m, c)}
	if w.Jobs == 0 {
		p.left, p.credit = maxJobs, min(p.credit, Credit(float64(m.Rate)/Day*float64(w.Seconds)))
	}
	p.left = min(p.left, maxJobs)
	first, last := o.policy.backRange(c, m.Side)
	if err := o.EachBack(first, last, p.back); err != nil {
		return nil, err
	}
	if err := p.open(); err != nil {
		return nil, err
	}
	if len(p.slots) == 0 && (first > c.First || last < c.Last) && c.Open == 0 {
		err := o.EachBack(c.First, c.Last, p.back)
		return p.slots, err
	}
	return p.slots, nil
}

// hand gives slots to a host.
func (o *Op) hand(h *Host, m *Member, slots []int, w Want, g *Grant) error {
	lease, err := o.lease(h, m, slots, w)
	if err != nil {
		return err
	}
	until := o.Now + lease
	twice := false // a second copy of what another host has
	if len(m.Live) == 0 {
		m.Busy = o.Now
	}
	for _, slot := range slots {
		n, layer := o.Batch.JobOf(slot)
		j, err := o.job(n)
		if err != nil {
			return err
		}
		block, t, err := o.task(n)
		if err != nil {
			return err
		}
		twice = t.state(j, layer) == Sent
		t.set(layer, Sent)
		t.Instances = append(t.Instances, Instance{Layer: layer, Host: h.Number, State: Live, Sent: o.Now,
			Until: until})
		if err := o.putTask(block); err != nil {
			return err
		}
		if err := o.PutDue(Due{until, h.Number, slot}); err != nil {
			return err
		}
		var missing []Span
		m.Held, missing = addFiles(m.Held, Span{j.A, j.B})
		for _, s := range missing {
			g.Fetch, _ = addFiles(g.Fetch, s)
		}
		m.Live = append(m.Live, slot)
		g.Jobs = append(g.Jobs, Given{n, layer, Span{j.A, j.B}, until})
	}
	o.Batch.Transfers += count(g.Fetch)
	if at, err := o.missing(m); err != nil {
		return err
	} else if err := o.watch(m, at); err != nil {
		return err
	}
	if twice {
		return nil
	}
	return o.taken(slots, m.Side)
}

// taken notes that slots of one range no longer wait but are with a host.
func (o *Op) taken(slots []int, from Side) error {
	c, err := o.CursorAt(slots[0])
	if err != nil {
		return err
	}
	for _, slot := range slots {
		_, credit, err := o.slot(slot)
		if err != nil {
			return err
		}
		if !c.isOpen(slot) {
			end := &c.Ends[c.sideOf(slot)]
			end.Back -= credit
			end.Hand += credit
			if err := o.TakeBack(slot); err != nil {
				return err
			}
		} else if err := o.pass(c, slot, from); err != nil {
			return err
		}
		o.Batch.Waiting -= credit
	}
	o.generate(c)
	return o.PutCursor(c)
}

// pass moves an end of the open slots past one of them. Slots in between that the host may not
// have wait for another; void ones are dropped.
func (o *Op) pass(c *Cursor, slot int, side Side) error {
	for c.isOpen(slot) {
		at := c.Low
		if side == HighEnd {
			at = c.High
		}
		s, credit, err := o.slot(at)
		if err != nil {
			return err
		}
		switch {
		case at == slot:
			c.Open -= credit
			c.Ends[side].Hand += credit
		case s.Terminal():
			c.Gone = slices.DeleteFunc(c.Gone, func(g int) bool { return g == at })
		default:
			c.Open -= credit
			c.Ends[side].Back += credit
			if err := o.setSlot(at, Unsent); err != nil {
				return err
			}
			if err := o.PutBack(at); err != nil {
				return err
			}
		}
		if side == LowEnd {
			c.Low++
		} else {
			c.High--
		}
	}
	return nil
}
