package locality

import (
	"fmt"
	"slices"
)

// Check verifies every invariant of a batch against all of its rows, and reports what does not
// hold. The ranges are disjoint, ordered and cover every slot; everything below a range's
// Unfinished and above its Top is terminal; credits and speeds are the exact sums. What waits
// and what is due agrees with the jobs.
func (o *Op) Check(find func(format string, args ...any)) error {
	c := &check{Op: o, find: find, posts: make(map[int]*[2]End), hands: make(map[uint32][]int)}
	for _, step := range []func() error{c.members, c.ranges, c.dues} {
		if err := step(); err != nil {
			return err
		}
	}
	c.sums()
	return nil
}

type check struct {
	*Op
	find      func(string, ...any)
	posts     map[int]*[2]End  // ranges according to members, by first slot
	hands     map[uint32][]int // jobs by host, according to the jobs
	want      []Due
	remaining Credit
	waiting   Credit
	rate      int64
	active    int
	used      int // jobs that are done, and failed
	failed    int
}

// members sums up what hosts say about where they work.
func (c *check) members() error {
	var rates Rates
	err := c.EachMember(func(m *Member) error {
		if m.Placed {
			cur, err := c.CursorAt(m.At)
			if err != nil {
				return err
			}
			ends := c.posts[cur.First]
			if ends == nil {
				ends = new([2]End)
				c.posts[cur.First] = ends
			}
			ends[m.Side].Hosts++
			ends[m.Side].Rate += m.Rate
			c.rate += m.Rate
			c.active++
		}
		if m.Measured {
			rates[rateClass(m.Rate)]++
		}
		if m.Idle > 0 {
			c.want = append(c.want, Due{m.Idle, m.Host, -1})
		}
		c.hands[m.Host] = slices.Clone(m.Live)
		return nil
	})
	if rates != c.Batch.Rates {
		c.find("the speeds of the hosts are not those that are counted")
	}
	return err
}

// ranges checks every range and every slot.
func (c *check) ranges() error {
	for slot := 0; slot < c.Batch.Slots(); {
		cur, err := c.CursorAt(slot)
		if err != nil {
			return err
		}
		if cur.First != slot || cur.Last < slot || cur.Last >= c.Batch.Slots() {
			c.find("slots %d to %d are a range, where one begins at %d", cur.First, cur.Last, slot)
			return nil
		}
		if err := c.cursor(cur); err != nil {
			return err
		}
		slot = cur.Last + 1
	}
	for host, live := range c.hands {
		if len(live) > 0 {
			c.find("host %d has slots %v in its hands, and their jobs do not know", host, live)
		}
	}
	return nil
}

func (c *check) cursor(cur *Cursor) error {
	name := fmt.Sprintf("slots %d to %d", cur.First, cur.Last)
	if cur.Unfinished < cur.First || cur.Unfinished > cur.Last+1 || cur.Top < cur.First-1 || cur.Top > cur.Last {
		c.find("%s: unfinished from %d to %d", name, cur.Unfinished, cur.Top)
	}
	if cur.Generated < min(cur.Unfinished, cur.Last+1) || cur.Generated > cur.Last+1 || cur.Low > cur.High+1 {
		c.find("%s: unfinished from %d, generated up to %d, open from %d to %d", name, cur.Unfinished, cur.Generated,
			cur.Low, cur.High)
	}
	sum := Cursor{Low: cur.Low, High: cur.High}
	if ends := c.posts[cur.First]; ends != nil {
		sum.Ends = *ends
	}
	for slot := cur.First; slot <= cur.Last; slot++ {
		state, credit, err := c.slot(slot)
		if err != nil {
			return err
		}
		if (slot < cur.Unfinished || slot > cur.Top) && !state.Terminal() {
			c.find("%s: slot %d is outside what is unfinished, and is not finished", name, slot)
		}
		if err := c.state(&sum, slot, state, credit); err != nil {
			return err
		}
	}
	if sum.Open != cur.Open || sum.Ends != cur.Ends {
		c.find("%s: open credit %d and ends %v; the jobs and hosts say %d and %v", name, cur.Open, cur.Ends, sum.Open,
			sum.Ends)
	}
	if (cur.Remaining() == 0) != (cur.Unfinished > cur.Top) {
		c.find("%s: credit %d remains, unfinished from %d to %d", name, cur.Remaining(), cur.Unfinished, cur.Top)
	}
	c.remaining += cur.Remaining()
	c.waiting += cur.Waiting()
	return nil
}

// state counts one slot, and what its job says of it.
func (c *check) state(sum *Cursor, slot int, state SlotState, credit Credit) error {
	back := false
	if err := c.EachBack(slot, slot, func(int) (bool, error) {
		back = true
		return false, nil
	}); err != nil {
		return err
	}
	open, side := sum.isOpen(slot), sum.sideOf(slot)
	switch {
	case open && state == Ungenerated:
		sum.Open += credit
	case !open && state == Unsent:
		sum.Ends[side].Back += credit
	case !open && state == Sent:
		sum.Ends[side].Hand += credit
	case !state.Terminal():
		c.find("slot %d cannot be in state %d here", slot, state)
	}
	if back != (state == Unsent) {
		c.find("slot %d is in state %d; that it waits is %v", slot, state, back)
	}
	return c.instances(slot, state)
}

// instances compares the job's record of which hosts have a slot with the hosts' records.
func (c *check) instances(slot int, state SlotState) error {
	n, layer := c.Batch.JobOf(slot)
	j, err := c.job(n)
	if err != nil {
		return err
	}
	_, t, err := c.task(n)
	if err != nil {
		return err
	}
	live := 0
	for _, x := range t.Instances {
		if x.Layer != layer || x.State != Live {
			continue
		}
		live++
		c.want = append(c.want, Due{x.Until, x.Host, slot})
		i := slices.Index(c.hands[x.Host], slot)
		if i < 0 {
			c.find("slot %d is in the hands of host %d, which does not know", slot, x.Host)
			continue
		}
		c.hands[x.Host] = slices.Delete(c.hands[x.Host], i, i+1)
	}
	if (state == Sent) != (live > 0) {
		c.find("slot %d is in state %d with %d in hands", slot, state, live)
	}
	if layer == 0 && t.finished(j) {
		if slices.Contains(t.Slots, Failed) {
			c.failed++
		} else {
			c.used++
		}
	}
	return nil
}

// dues compares what is due with what should be.
func (c *check) dues() error {
	var have []Due
	err := c.EachDue(maxTime, func(d Due) (bool, error) {
		have = append(have, d)
		return true, nil
	})
	SortDues(c.want)
	if !slices.Equal(have, c.want) {
		c.find("%d leases and hosts are due to be looked at, %d should be", len(have), len(c.want))
	}
	return err
}

func (c *check) sums() {
	b := c.Batch
	if b.Remaining != c.remaining || b.Waiting != c.waiting || b.Rate != c.rate || b.Active != c.active {
		c.find("credit %d remains, %d waits, %d hosts do %d a day; the ranges and hosts say %d, %d, %d, %d",
			b.Remaining, b.Waiting, b.Active, b.Rate, c.remaining, c.waiting, c.active, c.rate)
	}
	if b.Done != c.used || b.Failed != c.failed {
		c.find("%d jobs are done and %d failed; the jobs say %d and %d", b.Done, b.Failed, c.used, c.failed)
	}
}
