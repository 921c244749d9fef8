package placer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// naive is a matcher of single nodes, without buckets and bitmaps: the oracle for verdicts.
type naive struct {
	c    *cluster
	a    Ask
	per  [][]int // by chunk and node: how many of the chunk the node holds, empty
	sets [][]int // nodes by placement set; nil when there are none
	span bool

	named   map[string][]int // the same sets by key=value
	grouped bool             // there is a group key, though perhaps no set
}

// naive examines every node of the cluster.
func (c *cluster) naive(a Ask) *naive {
	n := &naive{c: c, a: a, per: make([][]int, len(a.Chunks)), span: !c.Rules.DoNotSpan, named: make(map[string][]int)}
	for i := range a.Chunks {
		n.per[i] = make([]int, len(c.nodes))
		for k, node := range c.nodes {
			n.per[i][k] = n.holds(i, node)
		}
	}
	keys := c.Rules.GroupKey
	if a.Spec.Place.HasGroup {
		keys = []index.ResID{a.Spec.Place.Group}
	}
	n.grouped = len(keys) > 0
	for _, key := range keys {
		n.split(key)
	}
	return n
}

func (n *naive) holds(i int, node *index.Node) int {
	if node.State != index.Up || node.Queue != n.a.Queue {
		return 0
	}
	fits := n.a.Chunks[i].Count
	for _, w := range n.a.Chunks[i].Wants {
		def, _ := n.c.defs.Get(w.Res)
		have, _ := node.Get(w.Res)
		switch {
		case def.Directive:
		case w.Res == index.Host, w.Res == index.VNode:
			host, ok := node.Get(index.Host)
			if w.Value.Str != node.Name && !(ok && w.Res == index.Host && host.Str == w.Value.Str) {
				return 0
			}
		case w.Res == index.Feature:
			if !contains(node.Features, w.Value.Str) {
				return 0
			}
		case def.Type == index.StringArray:
			if !slices.Contains(have.Members(), w.Value.Str) {
				return 0
			}
		case def.Type == index.String:
			if have.Str != w.Value.Str {
				return 0
			}
		case def.Type == index.Boolean:
			if have.Num != w.Value.Num {
				return 0
			}
		case have.Num < w.Value.Num:
			return 0
		case def.Consumable && w.Value.Num > 0:
			fits = min(fits, int(have.Num/w.Value.Num))
		}
	}
	if n.a.Spec.Place.Arrange == Scatter || n.a.Spec.Place.Arrange == VScatter {
		fits = min(fits, 1)
	}
	return fits
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func (n *naive) split(key index.ResID) {
	def, _ := n.c.defs.Get(key)
	byValue := make(map[string][]int)
	for k, node := range n.c.nodes {
		if node.Queue != n.a.Queue {
			continue
		}
		v, ok := node.Get(key)
		values := []string{v.Str}
		if def.Type == index.StringArray {
			values = v.Members()
		}
		if !ok || len(values) == 0 {
			if n.c.Rules.ExplicitSets {
				continue
			}
			values = []string{"\x00unset"}
		}
		for _, value := range values {
			byValue[value] = append(byValue[value], k)
		}
	}
	for value, nodes := range byValue {
		n.sets = append(n.sets, nodes)
		n.named[def.Name+"="+strings.TrimPrefix(value, "\x00unset")] = nodes
	}
}

// ever reports whether the request fits the cluster when it is empty.
func (n *naive) ever() bool {
	return n.fits(func(int) bool { return true })
}

// now reports whether the request fits for the time it asks for, from at on.
func (n *naive) now(at int64) bool {
	return n.fits(func(k int) bool { return n.c.Calendar.FreeThrough(uint32(k), at, at+n.a.Duration) })
}

// fits searches for an assignment on the nodes that are free: in one placement set, if one
// could hold the request when empty, or else on all nodes.
func (n *naive) fits(free func(int) bool) bool {
	could := false
	for _, set := range n.sets {
		if n.assign(set, func(int) bool { return true }) {
			could = true
			if n.assign(set, free) {
				return true
			}
		}
	}
	if could || n.grouped && !n.span {
		return false
	}
	return n.assign(n.all(), free)
}

func (n *naive) all() []int {
	all := make([]int, len(n.c.nodes))
	for k := range all {
		all[k] = k
	}
	return all
}

// firstFit follows the bucket path's order node by node. It goes chunk after chunk, bucket
// after bucket by the first node that is up, first the nodes on which something is planned,
// then the others. The nodes found take chunks in node order. It returns the nodes of each
// chunk and how many each takes, or nil if they are not enough.
func (n *naive) firstFit(within []int, at int64) [][][2]int {
	type place struct {
		priority int32
		first    int
	}
	firsts := make(map[uint32]place)
	for _, k := range within {
		node := n.c.nodes[k]
		if _, ok := firsts[node.Bucket]; !ok && node.State == index.Up {
			firsts[node.Bucket] = place{-node.Priority, k}
		}
	}
	taken := make(map[int]bool)
	var out [][][2]int
	for i, chunk := range n.a.Chunks {
		var found []int
		for _, k := range within {
			if n.per[i][k] > 0 && !taken[k] && n.c.Calendar.FreeThrough(uint32(k), at, at+n.a.Duration) {
				found = append(found, k)
			}
		}
		slices.SortFunc(found, func(a, b int) int {
			x, y := firsts[n.c.nodes[a].Bucket], firsts[n.c.nodes[b].Bucket]
			return cmp.Or(cmp.Compare(x.priority, y.priority), cmp.Compare(x.first, y.first),
				n.later(b, at)-n.later(a, at), a-b)
		})
		sum, used := 0, 0
		for used < len(found) && sum < chunk.Count {
			sum += n.per[i][found[used]]
			used++
		}
		if sum < chunk.Count {
			return nil
		}
		out = append(out, n.handOut(i, found[:used], taken))
	}
	return out
}

// leadsNowhere reports whether first fit could not serve the request even with all nodes
// empty: in no set that could hold it, or, if there is none, on all nodes.
func (n *naive) leadsNowhere() bool {
	const nothing = 1 << 30 // is planned any more
	could := false
	for _, set := range n.sets {
		if n.assign(set, func(int) bool { return true }) {
			could = true
			slices.Sort(set)
			if n.firstFit(set, nothing) != nil {
				return false
			}
		}
	}
	return could || n.firstFit(n.all(), nothing) == nil
}

// later returns 1 for a node on which something is planned at or after an instant.
func (n *naive) later(k int, at int64) int {
	if n.c.Calendar.NextBusy(uint32(k), at) == timeline.Forever {
		return 0
	}
	return 1
}

// handOut gives a chunk's count to the nodes found, in node order.
func (n *naive) handOut(i int, found []int, taken map[int]bool) [][2]int {
	slices.SortFunc(found, func(a, b int) int {
		return cmp.Or(cmp.Compare(n.c.nodes[b].Priority, n.c.nodes[a].Priority), a-b)
	})
	var out [][2]int
	left := n.a.Chunks[i].Count
	for _, k := range found {
		taken[k] = true
		if takes := min(left, n.per[i][k]); takes > 0 {
			out = append(out, [2]int{k, takes})
			left -= takes
		}
	}
	return out
}

// assign tries every way to give each node to one chunk; equal nodes are interchangeable.
func (n *naive) assign(nodes []int, free func(int) bool) bool {
	kinds := make(map[string]int)
	vectors := make(map[string][]int)
	for _, k := range nodes {
		if !free(k) {
			continue
		}
		per := make([]int, len(n.per))
		for i := range n.per {
			per[i] = n.per[i][k]
		}
		key := perKey(per)
		kinds[key]++
		vectors[key] = per
	}
	var counts []int
	var pers [][]int
	for key, count := range kinds {
		counts = append(counts, count)
		pers = append(pers, vectors[key])
	}
	return n.searchKinds(0, counts, pers, make(map[string]bool))
}

func (n *naive) searchKinds(chunk int, counts []int, pers [][]int, dead map[string]bool) bool {
	if chunk == len(n.a.Chunks) {
		return true
	}
	key := perKey(append([]int{chunk}, counts...))
	if dead[key] {
		return false
	}
	if n.give(chunk, 0, n.a.Chunks[chunk].Count, counts, pers, dead) {
		return true
	}
	dead[key] = true
	return false
}

func (n *naive) give(chunk, kind, need int, counts []int, pers [][]int, dead map[string]bool) bool {
	if need <= 0 {
		return n.searchKinds(chunk+1, counts, pers, dead)
	}
	if kind == len(counts) {
		return false
	}
	per := pers[kind][chunk]
	for use := 0; use <= counts[kind] && (use == 0 || per > 0); use++ {
		counts[kind] -= use
		ok := n.give(chunk, kind+1, need-use*per, counts, pers, dead)
		counts[kind] += use
		if ok {
			return true
		}
		if use*per >= need {
			break
		}
	}
	return false
}
