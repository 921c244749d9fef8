package devices

import (
	"cmp"
	"math/bits"
	"slices"
)

// Layout is the part of a set that choosing devices needs: the group of each device, and which are
// slices of one device.
type Layout struct {
	groups  []group // by number
	parents []Bits  // by cut device; nil if the set has no slices
	service Bits
}

type group struct {
	number  int
	members Bits
}

// Layout returns the layout of the set.
func (s Set) Layout() *Layout {
	l := &Layout{}
	var cut map[string]int
	for i := range s {
		if s[i].InService() {
			l.service.set(i)
		}
		k, found := slices.BinarySearchFunc(l.groups, s[i].Group, func(g group, n int) int {
			return cmp.Compare(g.number, n)
		})
		if !found {
			l.groups = slices.Insert(l.groups, k, group{number: s[i].Group})
		}
		l.groups[k].members.set(i)
		p := parent(s[i].ID)
		if p == "" {
			continue
		}
		if cut == nil {
			cut = make(map[string]int)
		}
		k, found = cut[p]
		if !found {
			k = len(l.parents)
			cut[p] = k
			l.parents = append(l.parents, nil)
		}
		l.parents[k].set(i)
	}
	return l
}

// InService returns the devices that jobs can get: neither drained nor cut.
func (l *Layout) InService() Bits { return l.service }

// take adds n free devices of a group to chosen: the lowest ones, or, for slices, those of as
// few devices as possible.
func (l *Layout) take(g *group, free Bits, n int, chosen *Bits) {
	for _, p := range l.byNeed(g, free, n) {
		if n <= 0 {
			return
		}
		n -= lowest(p.and(free, g.members), n, chosen)
	}
	if l.parents == nil || n > 0 {
		lowest(func(i int) uint64 { return word(g.members, i) & word(free, i) &^ word(*chosen, i) }, n, chosen)
	}
}

// part holds the positions of some devices' slices, nil for all.
type part struct{ members Bits }

func (p part) and(free, group Bits) func(int) uint64 {
	return func(i int) uint64 { return word(p.members, i) & word(free, i) & word(group, i) }
}

// byNeed lists the cut devices of a group in the order in which to take n slices from them. It
// begins with the one that has the most free slices, until a single device has all that are
// still needed. Then it takes the smallest such device.
func (l *Layout) byNeed(g *group, free Bits, n int) []part {
	if l.parents == nil {
		return nil
	}
	type counted struct {
		part
		free int
	}
	var list []counted
	for _, p := range l.parents {
		if c := p.And(g.members).countIn(free); c > 0 {
			list = append(list, counted{part{p}, c})
		}
	}
	slices.SortStableFunc(list, func(a, b counted) int { return cmp.Compare(b.free, a.free) })
	var out []part
	for n > 0 && len(list) > 0 {
		k := 0
		for k+1 < len(list) && list[k+1].free >= n {
			k++
		}
		for k > 0 && list[k-1].free == list[k].free && list[k].free >= n { // the lowest of equal ones
			k--
		}
		out, n = append(out, list[k].part), n-list[k].free
		list = slices.Delete(list, k, k+1)
	}
	return out
}

// lowest adds the n lowest positions, given word by word, to chosen, and returns how many it
// has added.
func lowest(of func(int) uint64, n int, chosen *Bits) (added int) {
	for i := 0; added < n && i < MaxDevices/64; i++ {
		w := of(i)
		if c := bits.OnesCount64(w); c > n-added {
			rest := w
			for range n - added {
				rest &= rest - 1
			}
			w &^= rest
		}
		if w == 0 {
			continue
		}
		for len(*chosen) <= i {
			*chosen = append(*chosen, 0)
		}
		(*chosen)[i] |= w
		added += bits.OnesCount64(w)
	}
	return added
}

func word(b Bits, i int) uint64 {
	if i < len(b) {
		return b[i]
	}
	return 0
}
