package placer

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

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
