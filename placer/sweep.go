package placer

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// A request for chunks of one kind starts as soon as the nodes together have room for all of them.
// The calendar finds that instant in one sweep over the nodes' steps (timeline.FindRoom), however
// many instants it skips. The nodes to take are then chosen as at any instant. The first sweep
// examines every node; later ones reuse its work. So instants are first tried one by one, until
// that has cost as much as a sweep.

// patience is how many instants all searches on a calendar try one by one before the first sweep.
// For each of them, a sweep may examine nodesAnInstant nodes, because skipping an instant costs as
// much as a sweep over that many nodes.
const (
	patience       = 32
	nodesAnInstant = 16
)

// impatient counts an instant, and reports whether it is time to sweep.
func (m *mapping) impatient() bool {
	m.Calendar.Passed++
	return m.Calendar.Passed > patience && m.Calendar.Passed*nodesAnInstant > int(m.serving().GetCardinality())
}

// sweeps reports whether a sweep can tell when the request fits. It can if a node's room depends
// only on what is taken of it.
func (m *mapping) sweeps() bool {
	if len(m.Chunks) != 1 || len(m.Grants) > 0 || len(m.sets) > 0 {
		return false
	}
	if m.path == BucketPath {
		return true
	}
	if m.policy == Contiguous || m.packed != nil || !m.ruled.IsEmpty() || m.Access == index.AccessSingleUser {
		return false
	}
	for _, q := range m.quantities {
		if !m.Index.Signed(index.ResID(q)) {
			return false
		}
	}
	return true
}

// sweepAll finds the first count starts from an instant on, and their plans. Those after the first
// are at instants when nodes are given back. It returns nil if the sweep cannot tell, or if there
// is no start.
func (m *mapping) sweepAll(after int64, count int) (plans []*Plan, err error) {
	for len(plans) < count {
		plan, told, err := m.sweep(after)
		switch {
		case err != nil || !told:
			return nil, err
		case plan == nil:
			return plans, nil
		}
		plans = append(plans, plan)
		more := false
		for after = range m.Releases(plan.Start) {
			more = true
			break
		}
		if !more {
			break
		}
	}
	return plans, nil
}

// sweep finds the first start from an instant on, and its plan, or nil if there is none. told reports
// whether the sweep can tell.
func (m *mapping) sweep(after int64) (plan *Plan, told bool, err error) {
	found, known := m.Calendar.FindRoom(m.rooms(), int64(m.Chunks[0].Count), m.Duration, after)
	if !known || found.Fit == nil {
		return nil, known, m.orFailure(nil)
	}
	m.swept = &found
	ended := found.Fit
	if found.At <= m.Now {
		ended, m.swept = nil, nil
	}
	plan, _, err = m.place(found.At, ended)
	m.swept = nil
	return plan, plan != nil, err
}

// rooms groups the nodes that are up and serve the chunk by how many chunks they hold when empty.
func (m *mapping) rooms() []timeline.Room {
	var out []timeline.Room
	var nodes [][]*roaring.Bitmap // by room
	alike := make(map[string]int)
	var key []byte
	byBucket := m.path == BucketPath || m.bucketable < math.MaxInt64
	add := func(c *index.Candidate, within *roaring.Bitmap, room func() timeline.Room) {
		i, known := alike[string(key)]
		if !known {
			i = len(out)
			alike[string(key)] = i
			out, nodes = append(out, room()), append(nodes, nil)
		}
		for _, class := range [...]index.Class{index.Free, index.Later, index.Busy} {
			if c.Bucket.Count[class] == 0 {
				continue
			}
			up := m.Index.Nodes(c.Bucket, class)
			if within != nil {
				up = roaring.And(up, within)
			}
			nodes[i] = append(nodes[i], up)
		}
	}
	var counted []Want
	if !byBucket {
		counted = m.counted()
	}
	for k := range m.whole[0] {
		c := &m.whole[0][k]
		if !byBucket {
			key = key[:0]
			for _, w := range counted {
				v, _ := c.Bucket.Get(w.Res)
				key = binary.AppendVarint(binary.AppendVarint(binary.AppendUvarint(key, uint64(w.Res)), w.Value.Num),
					v.Num)
			}
			add(c, cellNodes(c.Cells), func() timeline.Room { return m.sharedRoom(c.Bucket, counted, string(key)) })
			continue
		}
		for _, cell := range c.Cells {
			units := int64(min(m.perNode(cell), m.Chunks[0].Count))
			key = binary.AppendVarint(key[:0], units)
			add(c, cell.Nodes, func() timeline.Room { return wholeRoom(units) })
		}
	}
	for i := range out {
		out[i].Nodes = roaring.FastOr(nodes[i]...)
	}
	return out
}

// counted returns the amounts that a chunk takes, for a request with one kind of chunk.
func (m *mapping) counted() []Want {
	return slices.DeleteFunc(slices.Clone(m.Chunks[0].Wants), func(w Want) bool {
		_, counted := slices.BinarySearch(m.quantities, uint16(w.Res))
		return !counted || w.Value.Num <= 0
	})
}

// wholeRoom returns the room of nodes that are taken whole.
func wholeRoom(units int64) timeline.Room {
	return timeline.Room{Idle: true, Units: func(of timeline.Taken) int64 {
		if of != timeline.NothingTaken {
			return 0
		}
		return units
	}}
}

// sharedRoom returns the room of a bucket's nodes for a request that may share them.
func (m *mapping) sharedRoom(b *index.Bucket, counted []Want, key string) timeline.Room {
	how := m.sharingOn(nil)
	most := int64(m.Chunks[0].Count)
	if how.one {
		most = 1
	}
	return timeline.Room{Idle: how.whole, Key: key, Units: func(of timeline.Taken) int64 {
		taken, whole := m.Calendar.AmountsOf(of)
		if whole || how.whole && of != timeline.NothingTaken {
			return 0
		}
		units := most
		for _, w := range counted {
			v, _ := b.Get(w.Res)
			left := v.Num
			for _, a := range taken {
				if a.Quantity == uint16(w.Res) {
					left -= a.N
				}
			}
			units = min(units, max(left, 0)/w.Value.Num)
		}
		return units
	}}
}
