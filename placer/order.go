package placer

// inNodeOrder sorts picks by priority, the highest first, then as the nodes were declared. Picks
// come in a few long runs, one per bucket and class, so runs are merged two by two (natural merge
// sort). The result may share memory with picks.
func inNodeOrder(picks []Pick) []Pick {
	if run(picks) == len(picks) {
		return picks
	}
	spare := make([]Pick, 0, len(picks))
	for runs := 2; runs > 1; {
		runs = 0
		for rest := picks; len(rest) > 0; runs++ {
			a := run(rest)
			b := a + run(rest[a:])
			spare, rest = merge(spare, rest[:a], rest[a:b]), rest[b:]
		}
		picks, spare = spare, picks[:0]
	}
	return picks
}

// run returns how many picks at the front are in order.
func run(picks []Pick) int {
	for i := 1; i < len(picks); i++ {
		if picks[i].before(&picks[i-1]) {
			return i
		}
	}
	return len(picks)
}

// merge appends the merged runs a and b.
func merge(to, a, b []Pick) []Pick {
	for len(a) > 0 && len(b) > 0 {
		if b[0].before(&a[0]) {
			to, b = append(to, b[0]), b[1:]
		} else {
			to, a = append(to, a[0]), a[1:]
		}
	}
	return append(append(to, a...), b...)
}

func (p *Pick) before(q *Pick) bool {
	if p.Bucket != q.Bucket && p.Bucket.Priority != q.Bucket.Priority {
		return p.Bucket.Priority > q.Bucket.Priority
	}
	return p.Node < q.Node
}
