package chart

// laneOf gives each of a node's stretches, which come by start, a lane: the first that
// is free from its start on, so that no two lie over each other. The node has as many
// lanes as it tells, one at least.
func laneOf(bars []Bar) (lane []int, lanes int) {
	var ends []int64
	lane = make([]int, len(bars))
	for i := range bars {
		at := 0
		for at < len(ends) && ends[at] > bars[i].Start {
			at++
		}
		if at == len(ends) {
			ends = append(ends, 0)
		}
		lane[i], ends[at] = at, bars[i].End
	}
	return lane, max(len(ends), 1)
}

// inLanes gives nodes on which stretches lie beside each other a row for each lane.
// Nodes without such stretches stay as they are, and so does the slice when there are
// no others.
func inLanes(nodes []Node) []Node {
	var out []Node
	for i := range nodes {
		lanes := nodes[i].lanes()
		if len(lanes) > 1 && out == nil {
			out = append(make([]Node, 0, len(nodes)+len(lanes)), nodes[:i]...)
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

// lanes are a node's rows.
func (n *Node) lanes() []Node {
	lane, lanes := laneOf(n.Bars)
	if lanes == 1 {
		return []Node{*n}
	}
	out := make([]Node, lanes)
	for at := range out {
		out[at] = *n
		out[at].Bars, out[at].lane, out[at].whole = nil, at, n.Bars
	}
	for i, at := range lane {
		out[at].Bars = append(out[at].Bars, n.Bars[i])
	}
	return out
}
