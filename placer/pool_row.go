package placer

import (
	"cmp"
	"iter"
	"slices"

	"github.com/placectl/placectl/index"
)

// runs are the stretches of neighbouring node numbers that hold the request, the
// shortest first.
func (s *seeker) runs(members []member) iter.Seq[[]member] {
	row := slices.Clone(members)
	slices.SortFunc(row, func(a, b member) int { return cmp.Compare(a.node, b.node) })
	var runs [][]member
	for from := 0; from < len(row); {
		to := from + 1
		for to < len(row) && row[to].node == row[to-1].node+1 {
			to++
		}
		if s.enough(row[from:to]) {
			runs = append(runs, row[from:to])
		}
		from = to
	}
	slices.SortStableFunc(runs, func(a, b []member) int { return cmp.Compare(len(a), len(b)) })
	return slices.Values(runs)
}

// scattered is the shortfall of a request that wants nodes in a row.
func (s *seeker) scattered(cands [][]index.Candidate) shortfall {
	short := shortfall{cands: cands, row: true}
	for run := range s.longest(s.pool(cands)) {
		for _, m := range run {
			short.found += m.per[0]
		}
	}
	short.found = min(short.found, s.Chunks[0].Count)
	return short
}

// longest is the run that holds most of the first chunk.
func (s *seeker) longest(members []member) iter.Seq[[]member] {
	slices.SortFunc(members, func(a, b member) int { return cmp.Compare(a.node, b.node) })
	var best []member
	most := 0
	for from := 0; from < len(members); {
		to, n := from+1, members[from].per[0]
		for to < len(members) && members[to].node == members[to-1].node+1 {
			n += members[to].per[0]
			to++
		}
		if n > most {
			best, most = members[from:to], n
		}
		from = to
	}
	return slices.Values([][]member{best})
}
