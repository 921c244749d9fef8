package chart

// laneOf assigns each of a node's stretches, which are sorted by start, the first lane that is free from
// its start on. So stretches in a lane never overlap. The node has lanes lanes, at least one.
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

// inLanes gives nodes with overlapping stretches a row for each lane. Other nodes stay as they are. If
// there is no such node, the slice stays, too.
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

// lanes returns a node's rows.
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
