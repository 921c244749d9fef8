package nodes

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/placectl/placectl/internal/row"
)

// release is when an owner is expected to release its nodes.
type release struct {
	at    int64
	owner uint64
}

func (e release) compare(o release) int {
	return cmp.Or(cmp.Compare(e.at, o.at), cmp.Compare(e.owner, o.owner))
}

// Releases holds the release times of everything that has nodes.
type Releases struct {
	Base
	// Often says that they are needed again and again, and are kept in memory. Without that,
	// and with 4,000 running jobs, job list takes 2.0 times as long, and a conservative cycle
	// 1.7 times.
	Often bool
	list  []release           // all, by time and owner; nil unless they are in memory
	nodes map[uint64][]uint32 // by owner, those that were needed since
}

// held returns all of them from memory, or nil if they are not kept there. An owner's nodes
// are only read when needed, because searches mostly stop at the first few.
func (r *Releases) held() ([]release, error) {
	if !r.Often || r.list != nil {
		return r.list, nil
	}
	list := []release{}
	err := r.Rows.Each(row.Releases, nil, func(k, _ []byte) (bool, error) {
		at, owner := row.SplitTimeKey(k)
		list = append(list, release{at, owner})
		return true, nil
	})
	if err == nil {
		r.list, r.nodes = list, make(map[uint64][]uint32)
	}
	return r.list, err
}

// nodesOf returns the nodes of an owner, which are read once.
func (r *Releases) nodesOf(owner uint64) (nodes []uint32, err error) {
	nodes, known := r.nodes[owner]
	if !known {
		if nodes, err = r.OwnerNodes(owner); err == nil && r.nodes != nil {
			r.nodes[owner] = nodes
		}
	}
	return nodes, err
}

// Put notes when an owner is expected to release its nodes.
func (r *Releases) Put(at int64, owner uint64, nodes []uint32) error {
	if r.list != nil {
		e := release{at, owner}
		if i, known := slices.BinarySearchFunc(r.list, e, release.compare); !known {
			r.list = slices.Insert(r.list, i, e)
		}
		r.nodes[owner] = nodes
	}
	return r.Rows.Mark(row.Releases, row.TimeKey(at, owner))
}

// Remove removes a release time.
func (r *Releases) Remove(at int64, owner uint64) error {
	if i, known := slices.BinarySearchFunc(r.list, release{at, owner}, release.compare); known {
		r.list = slices.Delete(r.list, i, i+1)
		delete(r.nodes, owner)
	}
	return r.Rows.Remove(row.Releases, row.TimeKey(at, owner))
}

// from calls fn for the release times from an instant on.
func (r *Releases) from(from int64, fn func(at int64, owner uint64, nodes func() ([]uint32, error)) (bool,
	error)) error {
	list, err := r.held()
	if err != nil {
		return err
	}
	if list == nil {
		return r.Rows.EachFrom(row.Releases, row.TimeKey(from, 0), nil, func(k, _ []byte) (bool, error) {
			at, owner := row.SplitTimeKey(k)
			return fn(at, owner, func() ([]uint32, error) { return r.nodesOf(owner) })
		})
	}
	i, _ := slices.BinarySearchFunc(list, release{at: from}, release.compare)
	for _, e := range list[i:] {
		if more, err := fn(e.at, e.owner, func() ([]uint32, error) { return r.nodesOf(e.owner) }); err != nil || !more {
			return err
		}
	}
	return nil
}

// After returns when nodes are expected to be released after an instant. Overdue jobs count as
// ending some time from now.
func (r *Releases) After(after int64) iter.Seq2[int64, []uint32] {
	return func(yield func(int64, []uint32) bool) {
		if err := r.each(after, yield); err != nil {
			r.Fail(err)
		}
	}
}

func (r *Releases) each(after int64, yield func(int64, []uint32) bool) error {
	overdue, err := r.overdue()
	if err != nil {
		return err
	}
	more := true
	giveBack := func(until int64) {
		for ; more && len(overdue) > 0 && overdue[0].at <= until; overdue = overdue[1:] {
			if overdue[0].at > after {
				more = yield(overdue[0].at, overdue[0].nodes)
			}
		}
	}
	err = r.from(max(after, *r.Now)+1, func(at int64, _ uint64, list func() ([]uint32, error)) (bool, error) {
		if giveBack(at); !more {
			return false, nil
		}
		nodes, err := list()
		if err == nil {
			more = yield(at, nodes)
		}
		return more, err
	})
	if err == nil {
		giveBack(math.MaxInt64)
	}
	return err
}

// given holds nodes that are expected to be released at an instant.
type given struct {
	at    int64
	nodes []uint32
}

// overdue returns the nodes of jobs that should have ended by now, by when they are expected
// to be released.
func (r *Releases) overdue() (list []given, err error) {
	err = r.from(0, func(at int64, owner uint64, nodes func() ([]uint32, error)) (bool, error) {
		if at > *r.Now {
			return false, nil
		}
		if row.IsReservation(owner) {
			return true, nil // over; a writer will remove it
		}
		mine, err := nodes()
		at = *r.Now + r.Overrun(owner)
		i, known := slices.BinarySearchFunc(list, at, func(g given, at int64) int { return cmp.Compare(g.at, at) })
		if !known {
			list = slices.Insert(list, i, given{at: at})
		}
		list[i].nodes = append(list[i].nodes, mine...)
		return true, err
	})
	return list, err
}
