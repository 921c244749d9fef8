package placer

import (
	"slices"

	"github.com/placectl/placectl/index"
)

// naiveNodes is the oracle of requests that share nodes: every way to put every
// single chunk on every node is tried, and what is taken is added up instant by
// instant. For small clusters only.
type naiveNodes struct {
	*naive
	at    int64
	empty bool
	left  [][]int64 // by node, of each resource
	defs  []index.ResID
	used  []int // by node: the kind of chunk on it, plus one, where that matters
	host  map[string]int
}

// nodesFit reports whether the request fits at an instant, or the empty cluster.
func (n *naive) nodesFit(at int64, empty bool) bool {
	groups := n.sets
	could := false
	for _, set := range groups {
		if n.nodesWithin(set, at, true) {
			could = true
			if n.nodesWithin(set, at, empty) {
				return true
			}
		}
	}
	if could || n.grouped && !n.span {
		return false
	}
	return n.nodesWithin(n.all(), at, empty)
}

func (n *naive) nodesWithin(nodes []int, at int64, empty bool) bool {
	s := &naiveNodes{naive: n, at: at, empty: empty, used: make([]int, len(n.c.nodes)), host: make(map[string]int)}
	for _, def := range n.c.defs.All() {
		if def.Consumable {
			s.defs = append(s.defs, def.ID)
		}
	}
	s.left = make([][]int64, len(n.c.nodes))
	var usable []int
	for _, k := range nodes {
		if left := s.free(k); left != nil && n.c.nodes[k].State == index.Up {
			s.left[k] = left
			usable = append(usable, k)
		}
	}
	return s.put(usable, 0, n.a.Chunks[0].Count, 0)
}

// free is the least of each resource that a node has free at any instant of the
// request's time, nil when the request may not be on it.
func (s *naiveNodes) free(k int) []int64 {
	node := s.c.nodes[k]
	whole := s.whole(node)
	left := make([]int64, len(s.defs))
	for i, id := range s.defs {
		v, _ := node.Get(id)
		left[i] = v.Num
	}
	if s.empty {
		return left
	}
	have := slices.Clone(left)
	list := s.c.Calendar.At(node.Number)
	instants := []int64{s.at}
	for _, b := range list {
		if b.Start > s.at && b.Start < s.at+s.a.Duration {
			instants = append(instants, b.Start)
		}
	}
	for _, t := range instants {
		now := slices.Clone(have)
		for _, b := range list {
			if b.Start > t || s.c.Calendar.End(b) <= t {
				continue
			}
			if whole || b.Use == nil {
				return nil
			}
			if (b.Use.Alone || s.access(node) == index.AccessSingleUser) && s.c.users[b.Owner] != s.a.User {
				return nil
			}
			for _, a := range b.Use.Amounts {
				now[slices.Index(s.defs, index.ResID(a.Quantity))] -= a.N
			}
		}
		for i := range left {
			left[i] = min(left[i], max(0, now[i]))
		}
	}
	return left
}

func (s *naiveNodes) access(node *index.Node) index.Access {
	return max(node.Access, s.a.Access, s.c.Rules.Access)
}

func (s *naiveNodes) whole(node *index.Node) bool {
	if s.access(node) >= index.AccessSingleJob {
		return true
	}
	asked := s.a.Spec.Place.Share
	switch node.Sharing {
	case index.ForceExcl, index.ForceExclHost:
		return true
	case index.IgnoreExcl:
		return false
	case index.DefaultExcl, index.DefaultExclHost:
		return asked != Shared
	}
	return asked == Excl || asked == ExclHost
}

// put tries to place the chunks from one on, count of its kind being left; nodes
// of one kind are taken in ascending order, for the chunks of a kind are alike.
func (s *naiveNodes) put(nodes []int, kind, count, from int) bool {
	if count == 0 {
		if kind++; kind == len(s.a.Chunks) {
			return true
		}
		return s.put(nodes, kind, s.a.Chunks[kind].Count, 0)
	}
	for i := from; i < len(nodes); i++ {
		k := nodes[i]
		if !s.may(k, kind) {
			continue
		}
		was := s.used[k]
		s.take(k, kind, 1)
		s.used[k] = kind + 1
		if s.put(nodes, kind, count-1, i) {
			return true
		}
		s.used[k] = was
		s.take(k, kind, -1)
	}
	return false
}

func (s *naiveNodes) may(k, kind int) bool {
	node := s.c.nodes[k]
	if s.per[kind][k] == 0 {
		return false
	}
	arrange := s.a.Spec.Place.Arrange
	if s.used[k] > 0 && (arrange == Scatter || arrange == VScatter || s.access(node) == index.AccessSingleTask ||
		s.whole(node) && arrange != Pack && s.used[k] != kind+1) {
		return false
	}
	if arrange == Pack {
		for other, used := range s.used {
			if used > 0 && other != k {
				return false
			}
		}
	}
	for _, w := range s.a.Chunks[kind].Wants {
		if i := slices.Index(s.defs, w.Res); i >= 0 && s.left[k][i] < w.Value.Num {
			return false
		}
	}
	return true
}

func (s *naiveNodes) take(k, kind int, n int64) {
	for _, w := range s.a.Chunks[kind].Wants {
		if i := slices.Index(s.defs, w.Res); i >= 0 {
			s.left[k][i] -= n * w.Value.Num
		}
	}
}
