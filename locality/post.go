package locality

// enter sends a host to an end of a range.
func (o *Op) enter(m *Member, c *Cursor, side Side) error {
	at := c.Low
	switch {
	case c.Low > c.High && side == LowEnd:
		at = c.First
	case c.Low > c.High:
		at = c.Last
	case side == HighEnd:
		at = c.High
	}
	m.Placed, m.At, m.Side = true, at, side
	if m.Moved > 0 {
		o.Batch.Moves++
	}
	m.Moved = o.Now
	c.Ends[side].Hosts++
	c.Ends[side].Rate += m.Rate
	o.Batch.Active++
	o.Batch.Rate += m.Rate
	if err := o.PutCursor(c); err != nil {
		return err
	}
	return o.watch(m, o.Now+o.Batch.Settings.Away)
}

// leave removes a host from the sums of its range, if it has one.
func (o *Op) leave(m *Member) error {
	if !m.Placed {
		return nil
	}
	c, err := o.CursorAt(m.At)
	if err != nil {
		return err
	}
	m.Placed = false
	c.Ends[m.Side].Hosts--
	c.Ends[m.Side].Rate -= m.Rate
	o.Batch.Active--
	o.Batch.Rate -= m.Rate
	return o.PutCursor(c)
}

// measure updates what a host counts in the sums to what is known of it.
func (o *Op) measure(m *Member, known ...*Host) error {
	var h *Host
	var err error
	if len(known) > 0 {
		h = known[0]
	} else if h, err = o.Host(m.Host); err != nil {
		return err
	}
	rate := h.rate(o.Batch.prior(), o.Batch.mean())
	if h.Spent > 0 {
		if m.Measured {
			o.Batch.Rates[rateClass(m.Rate)]--
		}
		o.Batch.Rates[rateClass(rate)]++
		m.Measured = true
	} else if m.Measured {
		o.Batch.Rates[rateClass(m.Rate)]--
		m.Measured = false
	}
	change := rate - m.Rate
	if m.Rate = rate; !m.Placed || change == 0 {
		return nil
	}
	c, err := o.CursorAt(m.At)
	if err != nil {
		return err
	}
	c.Ends[m.Side].Rate += change
	o.Batch.Rate += change
	return o.PutCursor(c)
}
