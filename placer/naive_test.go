package placer

import (
	"github.com/placectl/placectl/index"
)

// naive is a matcher of nodes one by one, without buckets and bitmaps: the
// oracle for verdicts.
type naive struct {
	c    *cluster
	a    Ask
	per  [][]int // by chunk and node: how many of the chunk the node holds, empty
	sets [][]int // nodes by placement set; nil when there are none
	span bool
}

// naive looks at every node of the cluster.
func (c *cluster) naive(a Ask) *naive {
	n := &naive{c: c, a: a, per: make([][]int, len(a.Chunks)), span: !c.Rules.DoNotSpan}
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
		case w.Res == index.Feature:
			if !contains(node.Features, w.Value.Str) {
				return 0
			}
		case def.Type == index.StringArray:
			if !have.Has(w.Value.Str) {
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
	for _, nodes := range byValue {
		n.sets = append(n.sets, nodes)
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

// fits looks for an assignment over the nodes that are free: in one placement
// set, if one could hold the request when empty, else over all nodes.
func (n *naive) fits(free func(int) bool) bool {
	all := make([]int, len(n.c.nodes))
	for k := range all {
		all[k] = k
	}
	could := false
	for _, set := range n.sets {
		if n.assign(set, func(int) bool { return true }) {
			could = true
			if n.assign(set, free) {
				return true
			}
		}
	}
	if could || len(n.sets) > 0 && !n.span {
		return false
	}
	return n.assign(all, free)
}

// assign searches every way to give each node to one chunk, nodes that are alike
// being interchangeable.
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
