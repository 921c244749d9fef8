package timeline

// Is a node that is free now and taken later free for long enough? To know, the placer must
// examine it, and with many such nodes that costs more than everything else. So each block has
// a reach: the latest instant until which one of these nodes stays free. A block that does not
// reach a request's end has no such node for it, and is skipped.

// Reach returns the latest next start among the nodes of a block that are free now and taken
// later, or 0 if there are none.
func (c *Calendar) Reach(number uint32) int64 {
	b, ok := c.blocks[number]
	if !ok {
		if c.src == nil {
			return 0
		}
		reach, err := c.src.Reach(number)
		if err != nil && c.err == nil {
			c.err = err
		}
		return reach
	}
	if !b.reached {
		b.reach, b.reached = c.reach(number), true
	}
	return b.reach
}

func (c *Calendar) reach(number uint32) int64 {
	reach := int64(0)
	for i := range uint32(BlockNodes) {
		node := number*BlockNodes + i
		list := c.At(node)
		if len(list) == 0 || list[len(list)-1].Start <= c.now {
			continue
		}
		if _, on := c.On(node); !on {
			reach = max(reach, c.NextBusy(node, c.now+1))
		}
	}
	return reach
}

// Begin records that a stretch has begun on a node, which changes its block's reach.
func (c *Calendar) Begin(node uint32) {
	b := c.block(node)
	b.changed, b.reached = true, false
}
