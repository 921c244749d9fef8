package timeline

// measure finds the longest runs of a node at height 0 from those of its leaves and the runs
// across their borders. It measures every second level, and the levels between take the value
// of the one below.
func (nd *inner) measure() {
	const levels = runLevels / 2
	r := &nd.runs
	r.reset(nd.bounds())
	var from [levels]int64 // where the run open at each level begins
	var open [levels]bool
	var end int64
	for i := range nd.n {
		l := nd.leaf[i]
		if l.runs.stale {
			l.measure()
		}
		for k := range levels {
			limit := r.edge(2 * k)
			best := r.length[2*k]
			switch {
			case nd.hi[i] <= limit:
				if !open[k] {
					open[k], from[k] = true, nd.first[i]
				}
				continue
			case nd.lo[i] > limit:
				if open[k] {
					best = max(best, nd.first[i]-from[k])
				}
				open[k] = false
			default:
				below := limit - nd.add[i]
				best = max(best, l.runs.bound(below))
				if open[k] {
					best = max(best, l.firstBusy(below)-from[k])
				}
				from[k] = l.lastBusy(below)
				open[k] = from[k] < l.end
			}
			r.length[2*k] = best
		}
		end = l.end
	}
	for k := range levels {
		if open[k] {
			r.length[2*k] = max(r.length[2*k], end-from[k])
		}
		r.length[2*k+1] = r.length[2*k]
	}
}

// firstBusy is leaf.firstBusy for a node at height 0 that is not within the limit throughout.
func (nd *inner) firstBusy(limit int64) int64 {
	i := 0
	for nd.hi[i] <= limit {
		i++
	}
	if nd.lo[i] > limit {
		return nd.first[i]
	}
	return nd.leaf[i].firstBusy(limit - nd.add[i])
}

// lastBusy is leaf.lastBusy for a node at height 0 that is not within the limit throughout.
// The second result is the node's end.
func (nd *inner) lastBusy(limit int64) (stop, end int64) {
	i := nd.n - 1
	end = nd.leaf[i].end
	for nd.hi[i] <= limit {
		i--
	}
	if nd.lo[i] > limit {
		return nd.leaf[i].end, end
	}
	return nd.leaf[i].lastBusy(limit - nd.add[i]), end
}
