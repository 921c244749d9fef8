package cluster

import (
	"cmp"
	"iter"
	"slices"
	"sort"
)

// A change is an instant at which a placement begins or ends by itself.
type change struct {
	at    int64
	owner uint64
}

func (x change) compare(y change) int {
	return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.owner, y.owner))
}

func insert(list []change, x change) []change {
	i, _ := slices.BinarySearchFunc(list, x, change.compare)
	return slices.Insert(list, i, x)
}

func drop(list []change, x change) []change {
	if i, found := slices.BinarySearchFunc(list, x, change.compare); found {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// until returns the number of changes due by an instant.
func until(list []change, at int64) int {
	return sort.Search(len(list), func(i int) bool { return list[i].at > at })
}

// Pass lets time pass until an instant, which is not before the last one. Placements that begin by then
// get their nodes, and those that end give them back. It lists those that have begun, and the nodes
// given back.
func (c *Cluster) Pass(now int64) (begun []*Placement, freed []uint32, err error) {
	if now <= c.snap.Now {
		return nil, nil, nil
	}
	c.snap.Now = now
	c.snap.Calendar.SetNow(now)
	var touched []uint32
	due := until(c.starts, now)
	for _, x := range c.starts[:due] {
		p := c.placed[x.owner]
		for _, node := range p.nodes {
			c.snap.Calendar.Begin(node)
		}
		begun, touched = append(begun, p), append(touched, p.nodes...)
	}
	c.starts = slices.Delete(c.starts, 0, due)
	over := until(c.ends, now)
	for _, x := range c.ends[:over] {
		p := c.placed[x.owner]
		if err := c.forget(p); err != nil {
			return nil, nil, err
		}
		freed = append(freed, p.nodes...)
	}
	c.ends = slices.Delete(c.ends, 0, over)
	return begun, freed, c.reclass(append(touched, freed...))
}

// releases lists when nodes are given back, for placer.
func (c *Cluster) releases(after int64) iter.Seq2[int64, []uint32] {
	return func(yield func(int64, []uint32) bool) {
		for _, x := range c.ends[until(c.ends, after):] {
			if !yield(x.at, c.placed[x.owner].nodes) {
				return
			}
		}
	}
}
