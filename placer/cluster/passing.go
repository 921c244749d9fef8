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

// until is how many of the changes are due by an instant.
func until(list []change, at int64) int {
	return sort.Search(len(list), func(i int) bool { return list[i].at > at })
}

// Pass lets time pass until an instant, which is not before the last: what is to end
// by then gives its nodes back, what is to begin has them. It reports whether
// something was given back.
func (c *Cluster) Pass(now int64) (freed bool, err error) {
	if now <= c.snap.Now {
		return false, nil
	}
	c.snap.Now = now
	c.snap.Calendar.SetNow(now)
	var touched []uint32
	over := until(c.endings, now)
	for _, x := range c.endings[:over] {
		p := c.placed[x.owner]
		if err := c.forget(p); err != nil {
			return false, err
		}
		touched = append(touched, p.nodes...)
	}
	c.endings = slices.Delete(c.endings, 0, over)
	begun := until(c.starts, now)
	for _, x := range c.starts[:begun] {
		if p := c.placed[x.owner]; p != nil { // it may have ended as well
			for _, node := range p.nodes {
				c.snap.Calendar.Begin(node)
			}
			touched = append(touched, p.nodes...)
		}
	}
	c.starts = slices.Delete(c.starts, 0, begun)
	return over > 0, c.reclass(touched)
}

// endingsAfter lists when nodes are given back, as placer asks.
func (c *Cluster) endingsAfter(after int64) iter.Seq2[int64, []uint32] {
	return func(yield func(int64, []uint32) bool) {
		for _, x := range c.endings[until(c.endings, after):] {
			if x.at >= c.limit || !yield(x.at, c.placed[x.owner].nodes) {
				return
			}
		}
	}
}
