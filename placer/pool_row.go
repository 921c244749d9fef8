package placer

import (
	"cmp"
	"iter"
	"slices"

	"github.com/placectl/placectl/index"
)

// runs yields the stretches of neighbouring node numbers that hold the request, the shortest first.
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

// shortestRow returns the shortest row of neighbours that holds a request of one kind of chunk, or
// nil. If several are equally short, it returns the first. It skips rows that are too short
// whatever is on their nodes, and stops when no shorter row is possible.
func (s *seeker) shortestRow(cands []index.Candidate) iter.Seq[*spot] {
	rooms, need := s.roomsFor(0), s.Chunks[0].Count
	sets := s.nodeSets(0, cands)
	set := make([]int32, s.Index.Limits().Nodes+1) // by node: the number of its set, plus one; the last is in none
	mosts, most := make([]int, len(sets)), 0
	for i, c := range sets {
		mosts[i] = rooms.most(c.bucket)
		most = max(most, mosts[i])
		eachOf(c.nodes, func(node uint32) { set[node] = int32(i + 1) })
	}
	if most == 0 {
		return nil
	}
	least := (need + most - 1) / most
	var best []found
	for from := 0; from < len(set) && len(best) != least; from++ {
		to, could := from, 0
		for ; set[to] != 0; to++ {
			could += mosts[set[to]-1]
		}
		if could < need {
			from = to
			continue
		}
		var row []found
		held := 0
		for ; from <= to; from++ {
			if i := set[from] - 1; i >= 0 {
				f := found{uint32(from), sets[i].bucket, sets[i].class}
				if n := rooms.on(f); n > 0 {
					row, held = append(row, f), held+n
					continue
				}
			}
			if held >= need && (best == nil || len(row) < len(best)) {
				if best = slices.Clone(row); len(best) == least {
					break
				}
			}
			row, held = row[:0], 0
		}
		from = to
	}
	if best == nil {
		return nil
	}
	return func(yield func(*spot) bool) {
		for _, f := range best {
			if sp := s.spotAt(f.node, f.bucket, f.class); sp != nil && !yield(sp) {
				return
			}
		}
	}
}

// scattered returns the shortfall of a request that needs nodes in a row.
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

// longest yields the run that holds most of the first chunk.
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

// rooms tells how many chunks nodes have room for. Idle nodes of a bucket have the same room,
// unless they have something of their own that counts.
type rooms struct {
	*seeker
	kind  int  // of chunk
	spot  spot // of the node examined last
	idle  map[*index.Bucket]int
	alike bool // buckets describe idle nodes completely
}

func (s *seeker) roomsFor(kind int) *rooms {
	r := &rooms{seeker: s, kind: kind, idle: make(map[*index.Bucket]int), alike: len(s.Grants) == 0}
	for _, q := range s.quantities {
		r.alike = r.alike && s.Index.Signed(index.ResID(q))
	}
	return r
}

// on returns how many chunks a node has room for.
func (r *rooms) on(f found) int {
	idle := r.alike && (f.class == index.Free || r.empty) && !r.ruled.Contains(f.node)
	if idle {
		if n, known := r.idle[f.bucket]; known {
			r.spot = spot{node: f.node, bucket: f.bucket, class: f.class, level: unreserved, left: r.spot.left[:0]}
			return n
		}
	}
	n := 0
	if r.look(&r.spot, f.node, f.bucket, f.class) {
		if n = r.holds(&r.spot, r.kind, r.Chunks[r.kind].Count); n > 0 && !r.takeHost(&r.spot) {
			n = 0
		}
	}
	if idle {
		r.idle[f.bucket] = n
	}
	return n
}

// most returns how many chunks a node of a bucket could have room for at best.
func (r *rooms) most(b *index.Bucket) int {
	n := r.Chunks[r.kind].Count
	if p := r.Spec.Place.Arrange; p == Scatter || p == VScatter {
		n = 1
	}
	for _, w := range r.Chunks[r.kind].Wants {
		if v, _ := b.Get(w.Res); w.Value.Num > 0 && slices.Contains(r.quantities, uint16(w.Res)) &&
			r.Index.Signed(w.Res) {
			n = min(n, int(min(v.Num/w.Value.Num, index.Unlimited)))
		}
	}
	return n
}
