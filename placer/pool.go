package placer

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
)

// Some policies are about nodes together: in a row, of one speed, behind one
// switch. They see all that could serve the request, its pool, and propose parts
// of it one after the other, the best first; the first part that holds the
// request is taken.

// member is a node of the pool, and how many chunks of each kind it could take.
type member struct {
	found
	level level
	per   []int
	speed float64 // for maxbalance
	path  string  // for topology: where in the network it is
}

// pool finds all nodes that could serve a chunk, in node order.
func (s *seeker) pool(cands [][]index.Candidate) []member {
	at := make(map[uint32]int) // with one kind of chunk no node comes twice
	several := len(s.Chunks) > 1
	var out []member
	var sp spot
	for kind := range s.Chunks {
		add := func(f found) {
			if !s.look(&sp, f.node, f.bucket, f.class) {
				return
			}
			n := s.holds(&sp, kind, s.Chunks[kind].Count)
			if n == 0 || !s.takeHost(&sp) {
				return
			}
			i, known := at[f.node]
			if !known {
				i = len(out)
				out = append(out, s.member(f, &sp))
			}
			if several && !known {
				at[f.node] = i
			}
			out[i].per[kind] = n
		}
		for f := range s.inOrder(kind, cands[kind]) {
			if len(s.Grants) == 0 || !s.granting().Contains(f.node) {
				add(f)
			}
		}
		if len(s.Grants) == 0 {
			continue
		}
		for it := s.granting().Iterator(); it.HasNext(); {
			if g := s.grantedSpot(it.Next(), cands[kind]); g != nil {
				add(found{g.node, g.bucket, g.class})
			}
		}
	}
	inOrder := func(a, b member) int {
		return cmp.Or(cmp.Compare(b.bucket.Priority, a.bucket.Priority), cmp.Compare(a.node, b.node))
	}
	if !slices.IsSortedFunc(out, inOrder) {
		slices.SortFunc(out, inOrder)
	}
	return out
}

// member makes a member of the pool of a spot.
func (s *seeker) member(f found, sp *spot) member {
	n := len(s.Chunks)
	if len(s.pers) < n {
		s.pers = make([]int, max(n, 1024))
	}
	m := member{found: f, level: sp.level, per: s.pers[:n:n]}
	s.pers = s.pers[n:]
	switch s.policy {
	case MaxBalance:
		m.speed = s.speed(sp)
	case Topology:
		m.path = s.switchPath(sp)
	}
	return m
}

// byPool tries the parts that the policy proposes: of the nodes of the best
// reservation affinity first, then with those of the next as well.
func (s *seeker) byPool(cands [][]index.Candidate) ([]Allotment, shortfall) {
	all := s.pool(cands)
	var short shortfall
	for upTo := required; upTo <= repelled; upTo++ {
		members := all
		if upTo < repelled {
			if !slices.ContainsFunc(all, func(m member) bool { return m.level == upTo }) {
				continue
			}
			members = slices.DeleteFunc(slices.Clone(all), func(m member) bool { return m.level > upTo })
		}
		if !s.enough(members) {
			short = s.lacks(members)
			continue
		}
		for part := range s.parts(members) {
			var chunks []Allotment
			if chunks, short = s.handOut(s.from(part)); chunks != nil {
				return chunks, shortfall{}
			}
		}
	}
	if len(all) == 0 {
		short = s.lacks(nil)
	}
	return nil, short
}

// parts proposes parts of the pool, the best first.
func (s *seeker) parts(members []member) iter.Seq[[]member] {
	switch s.policy {
	case Contiguous:
		return s.runs(members)
	case MaxBalance:
		return s.balanced(members)
	}
	return s.underSwitches(members)
}

// from is the order of a part as it stands.
func (s *seeker) from(part []member) ordered {
	return func(kind int) iter.Seq[*spot] {
		return func(yield func(*spot) bool) {
			for i := range part {
				if m := &part[i]; m.per[kind] > 0 {
					if sp := s.spotAt(m.node, m.bucket, m.class); sp != nil && !yield(sp) {
						return
					}
				}
			}
		}
	}
}

// enough reports whether members hold every chunk, each counted alone.
func (s *seeker) enough(members []member) bool { return s.lacks(members).cands == nil }

var lacking = [][]index.Candidate{}

// lacks is the first chunk of which members do not hold all; its cands are nil
// when there is none.
func (s *seeker) lacks(members []member) shortfall {
	for i, c := range s.Chunks {
		n := 0
		for k := range members {
			if n += members[k].per[i]; n >= c.Count {
				break
			}
		}
		if n < c.Count {
			return shortfall{chunk: i, found: n, cands: lacking}
		}
	}
	return shortfall{}
}

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

// speed is what nodes are balanced by: the speed of their processors, else their
// own.
func (s *seeker) speed(sp *spot) float64 {
	row := s.traitsOf(sp)
	switch {
	case row == nil:
		return 1
	case row.ProcSpeed != 0:
		return row.ProcSpeed
	case row.Speed != 0:
		return row.Speed
	}
	return 1
}

// maxParts bounds how many parts are proposed before the whole pool is.
const maxParts = 64

// balanced are the spans of speed that hold the request, the smallest first. For
// each slowest speed the narrowest span is enough.
func (s *seeker) balanced(members []member) iter.Seq[[]member] {
	speeds := make([]float64, len(members))
	for i := range members {
		speeds[i] = members[i].speed
	}
	distinct := slices.Clone(speeds)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	sums := make([][]int, len(distinct))
	first := make([]int, len(distinct))
	for i := range sums {
		sums[i], first[i] = make([]int, len(s.Chunks)), math.MaxInt
	}
	for i := range members {
		d, _ := slices.BinarySearch(distinct, speeds[i])
		first[d] = min(first[d], i)
		for k, n := range members[i].per {
			sums[d][k] += n
		}
	}
	type span struct {
		lo, hi float64
		first  int
	}
	var spans []span
	held, hi := make([]int, len(s.Chunks)), 0
	short := func() bool {
		return slices.ContainsFunc(indices(len(held)), func(k int) bool { return held[k] < s.Chunks[k].Count })
	}
	for lo := range distinct {
		for hi < len(distinct) && short() {
			for k, n := range sums[hi] {
				held[k] += n
			}
			hi++
		}
		if short() {
			break
		}
		spans = append(spans, span{distinct[lo], distinct[hi-1], slices.Min(first[lo:hi])})
		for k, n := range sums[lo] {
			held[k] -= n
		}
	}
	slices.SortStableFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.hi-a.lo, b.hi-b.lo), cmp.Compare(a.first, b.first))
	})
	return func(yield func([]member) bool) {
		for _, sp := range spans[:min(len(spans), maxParts)] {
			var part []member
			for i := range members {
				if speeds[i] >= sp.lo && speeds[i] <= sp.hi {
					part = append(part, members[i])
				}
			}
			if !yield(part) {
				return
			}
		}
		yield(members)
	}
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// underSwitches are the subtrees of the network that hold the request: those of
// the lowest level first, of these the ones of which it uses the fewest leaf
// switches, then the tightest. The network is the values of the topology's
// resources, the outermost first; nodes that lack one are behind a switch of their
// own kind. A subtree's nodes come by leaf switch, so that few are used: the largest
// that is needed whole, and in the end the smallest that takes the rest.
func (s *seeker) underSwitches(members []member) iter.Seq[[]member] {
	paths := make([]string, len(members))
	for i := range members {
		paths[i] = members[i].path
	}
	depth := len(s.Rules.Topology)
	return func(yield func([]member) bool) {
		for level := depth; level > 0; level-- {
			groups := make(map[string][]int)
			var names []string
			for i, path := range paths {
				name := prefix(path, level)
				if groups[name] == nil {
					names = append(names, name)
				}
				groups[name] = append(groups[name], i)
			}
			var parts []subtree
			for _, name := range names {
				if s.enough(pickMembers(members, groups[name])) {
					parts = append(parts, s.byLeaf(members, paths, groups[name]))
				}
			}
			slices.SortStableFunc(parts, func(a, b subtree) int {
				return cmp.Or(cmp.Compare(a.leaves, b.leaves), cmp.Compare(a.volume, b.volume))
			})
			for _, part := range parts[:min(len(parts), maxParts)] {
				if !yield(part.nodes) {
					return
				}
			}
		}
		yield(s.byLeaf(members, paths, indices(len(members))).nodes)
	}
}

// subtree is the nodes behind a switch, by leaf switch.
type subtree struct {
	nodes  []member
	leaves int // how many leaf switches the request uses of it
	volume int
}

func pickMembers(members []member, which []int) []member {
	out := make([]member, len(which))
	for i, k := range which {
		out[i] = members[k]
	}
	return out
}

// volume is how many chunks of all kinds nodes hold, each kind counted alone.
func (s *seeker) volume(members []member, which []int) int {
	n := 0
	for _, i := range which {
		for _, per := range members[i].per {
			n += per
		}
	}
	return n
}

// byLeaf orders a subtree's nodes by leaf switch.
func (s *seeker) byLeaf(members []member, paths []string, which []int) subtree {
	leaves := make(map[string][]int)
	volumes := make(map[string]int)
	var names []string
	for _, i := range which {
		if leaves[paths[i]] == nil {
			names = append(names, paths[i])
		}
		leaves[paths[i]] = append(leaves[paths[i]], i)
	}
	for _, name := range names {
		volumes[name] = s.volume(members, leaves[name])
	}
	need := 0
	for _, c := range s.Chunks {
		need += c.Count
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(volumes[b], volumes[a]) })
	var out subtree
	for len(names) > 0 {
		next := 0
		for i, name := range names {
			if v := volumes[name]; v >= need && v < volumes[names[next]] {
				next = i // the smallest that takes all the rest: they come by size
			}
		}
		if need > 0 {
			out.leaves++
		}
		out.nodes = append(out.nodes, pickMembers(members, leaves[names[next]])...)
		out.volume += volumes[names[next]]
		need -= volumes[names[next]]
		names = slices.Delete(names, next, next+1)
	}
	return out
}

// switchPath is where in the network a node is: the values of the topology's
// resources, one after the other.
func (s *seeker) switchPath(sp *spot) string {
	s.text = s.text[:0]
	for _, id := range s.Rules.Topology {
		v, ok := sp.bucket.Get(id)
		if !s.Index.Signed(id) {
			if row := s.traitsOf(sp); row != nil {
				v, ok = row.Get(id)
			}
		}
		if ok {
			s.text = append(append(s.text, '='), v.Str...)
		}
		s.text = append(s.text, 0)
	}
	if s.paths == nil {
		s.paths = make(map[string]string)
	}
	path, ok := s.paths[string(s.text)]
	if !ok {
		path = string(s.text)
		s.paths[path] = path
	}
	return path
}

// prefix is the first parts of a switch path.
func prefix(path string, parts int) string {
	at := 0
	for range parts {
		at += strings.IndexByte(path[at:], 0) + 1
	}
	return path[:at]
}

// Candidates are the nodes that could serve one chunk of a request or another at an
// instant, in node order: what a site's own policy chooses from.
func (s *Snapshot) Candidates(a Ask, at int64) ([]uint32, error) {
	var m mapping
	a.Policy = Local
	if err := m.prepare(s, a); err != nil {
		return nil, err
	}
	var out []uint32
	for _, one := range m.seek(at, s.endedBy(at), false).pool(m.whole) {
		out = append(out, one.node)
	}
	return out, s.orFailure(nil)
}
