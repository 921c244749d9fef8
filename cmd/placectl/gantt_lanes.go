package main

// inLanes gives nodes on which stretches lie beside each other as many rows as it
// takes to show them all: a stretch goes into the first lane that is free from its
// start on. Nodes without such stretches stay as they are, and so does the slice
// when there are no others.
func inLanes(nodes []ganttNode) []ganttNode {
	var out []ganttNode
	for i := range nodes {
		lanes := nodes[i].lanes()
		if len(lanes) > 1 && out == nil {
			out = append(make([]ganttNode, 0, len(nodes)+len(lanes)), nodes[:i]...)
		}
		if out != nil {
			out = append(out, lanes...)
		}
	}
	if out == nil {
		return nodes
	}
	return out
}

// lanes are a node's rows. Its stretches come by start.
func (n *ganttNode) lanes() []ganttNode {
	var out []ganttNode
	var ends []int64
	for _, b := range n.bars {
		at := 0
		for at < len(ends) && ends[at] > b.start {
			at++
		}
		if at == len(ends) {
			lane := *n
			lane.bars, lane.lane = nil, at
			out, ends = append(out, lane), append(ends, 0)
		}
		out[at].bars = append(out[at].bars, b)
		ends[at] = b.end
	}
	if out == nil {
		return []ganttNode{*n}
	}
	return out
}
