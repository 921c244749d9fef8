package locality

// enter gives a host a post at an end of a range, with so much of its speed.
func (o *Op) enter(m *Member, c *Cursor, side Side, rate int64) error {
	at := c.Low
	switch {
	case c.Low > c.High && side == LowEnd:
		at = c.First
	case c.Low > c.High:
		at = c.Last
	case side == HighEnd:
		at = c.High
	}
	if !m.Placed() {
		o.Batch.Active++
		if m.Moved > 0 {
			o.Batch.Moves++
		}
		m.Moved = o.Now
	}
	m.Posts[side] = Post{true, at, 0}
	c.Ends[side].Hosts++
	if err := o.PutCursor(c); err != nil {
		return err
	}
	if err := o.setRate(m, side, rate); err != nil {
		return err
	}
	return o.watch(m, o.Now+o.Batch.Settings.Away)
}

// setRate changes what of a host's speed counts at a post.
func (o *Op) setRate(m *Member, side Side, rate int64) error {
	p := &m.Posts[side]
	change := rate - p.Rate
	if change == 0 {
		return nil
	}
	c, err := o.CursorAt(p.At)
	if err != nil {
		return err
	}
	p.Rate = rate
	c.Ends[side].Rate += change
	o.Batch.Rate += change
	return o.PutCursor(c)
}

// leave takes a host from its posts, if it has any, and out of the sums.
func (o *Op) leave(m *Member) error {
	for side := range Side(2) {
		if err := o.leavePost(m, side); err != nil {
			return err
		}
	}
	return nil
}

// leavePost takes a host from one post. All of its speed counts at the other.
func (o *Op) leavePost(m *Member, side Side) error {
	p := &m.Posts[side]
	if !p.On {
		return nil
	}
	if err := o.setRate(m, side, 0); err != nil {
		return err
	}
	c, err := o.CursorAt(p.At)
	if err != nil {
		return err
	}
	*p = Post{}
	c.Ends[side].Hosts--
	if err := o.PutCursor(c); err != nil {
		return err
	}
	if other := 1 - side; m.Posts[other].On {
		return o.setRate(m, other, m.Rate)
	}
	o.Batch.Active--
	return nil
}

// share divides a host's speed between two posts, so much of it to the low end.
func (o *Op) share(m *Member, low int64) error {
	low = max(0, min(m.Rate, low))
	if err := o.setRate(m, LowEnd, low); err != nil {
		return err
	}
	return o.setRate(m, HighEnd, m.Rate-low)
}

// firstPost is the side on which a host with two posts works next: where more time
// is left.
func (o *Op) firstPost(m *Member) Side {
	if !m.Posts[HighEnd].On || !m.Posts[LowEnd].On {
		if m.Posts[HighEnd].On {
			return HighEnd
		}
		return LowEnd
	}
	low, err := o.CursorAt(m.Posts[LowEnd].At)
	if err != nil {
		return LowEnd // gather meets the error again
	}
	high, err := o.CursorAt(m.Posts[HighEnd].At)
	if err == nil && high.TimeLeft() > low.TimeLeft() {
		return HighEnd
	}
	return LowEnd
}

// balance divides the speed of a host with two posts so that both of its ranges
// have as much time left, as far as it can.
func (o *Op) balance(m *Member) error {
	if !m.Posts[LowEnd].On || !m.Posts[HighEnd].On {
		return nil
	}
	low, err := o.CursorAt(m.Posts[LowEnd].At)
	if err != nil {
		return err
	}
	high, err := o.CursorAt(m.Posts[HighEnd].At)
	if err != nil {
		return err
	}
	mine := float64(m.Rate)
	wl, wh := float64(low.Waiting()), float64(high.Waiting())
	if wl+wh == 0 {
		return nil
	}
	ol := float64(low.Rate() - m.Posts[LowEnd].Rate)
	oh := float64(high.Rate() - m.Posts[HighEnd].Rate)
	return o.share(m, int64((wl*(oh+mine)-wh*ol)/(wl+wh)))
}
