package cycle

import (
	"math"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// A play makes hundreds of passes over one queue, and little changes from one instant to the
// next. A request for chunks of one kind that did not fit stays refused until nodes are given
// back with room for the chunks it was short of. Passes count that room, and search again only
// once it may suffice.

// Memory holds what one pass over a queue knows of requests and hands on to the next. Between
// them the order of the queue must not change, nor nodes, settings or the access to
// reservations.
type Memory struct {
	kinds   map[string]*kind
	taken   int
	shared  bool // some nodes share a host: room on one may let a job onto another
	buckets map[uint32]*index.Bucket
	made    [][]uint32       // where room was made: the last element is that of Freed.times
	nodes   *placer.Snapshot // as any queue sees them
	pass    *Pass            // the pass that asked for them
	rooms   map[uint32]nodeRoom
	looked  looked // when it has looked at those
	peak    [1]int64
}

// NewMemory returns a memory of passes over the nodes of an index, which notes where room is made.
func NewMemory(ix *index.Index, freed *Freed) *Memory {
	m := &Memory{kinds: make(map[string]*kind), shared: len(ix.SharedHosts()) > 0,
		buckets: make(map[uint32]*index.Bucket), rooms: make(map[uint32]nodeRoom)}
	for _, b := range ix.Buckets() {
		nodes := ix.Nodes(b, index.None)
		for i := nodes.Iterator(); i.HasNext(); {
			m.buckets[i.Next()] = b
		}
	}
	freed.memory = m
	return m
}

// lasts returns until when a refusal holds while no room is made, or 0 if that is unknown.
func (k *kind) lasts(r *placer.Refusal) int64 {
	if r == nil || !k.steady || !k.comparable || len(k.Demands) > 0 || r.Kind != placer.ErrNotNow || r.Chunk != 0 {
		return 0
	}
	return r.Until
}

// stillShort reports whether the room made since a request was refused is too little for it. It
// does not decide for a job that may lift plans, which would make more.
func (p *Pass) stillShort(k *kind, j *Job) bool {
	m, missed := p.spec.Memory, p.freed.times-k.freed
	if m == nil || m.shared || missed > len(m.made) || k.until <= p.now || p.obstructed(j) {
		return false
	}
	if m.pass != p {
		var err error
		if m.nodes, err = p.host.Snapshot(j); err != nil {
			return false // the next look at the nodes fails, too
		}
		m.pass = p
	}
	for _, nodes := range m.made[len(m.made)-missed:] {
		if nodes == nil {
			return false
		}
		for _, node := range nodes {
			if k.missing -= m.holds(p, k, node); k.missing <= 0 {
				return false
			}
		}
	}
	k.freed = p.freed.times
	return true
}

// nodeRoom describes a node on which room was made.
type nodeRoom struct {
	bucket *index.Bucket // nil: no job can use it now
	idle   bool          // nothing is on it now
	next   int64         // when something else begins on it
	cpus   int64         // math.MaxInt64: unknown
	left   int64         // of these, not taken now
}

// room looks at a node, once until something is taken, given back or lifted off its nodes.
func (m *Memory) room(p *Pass, node uint32) nodeRoom {
	if at := (looked{p, p.taken, p.freed.times, p.lifts}); m.looked != at {
		clear(m.rooms)
		m.looked = at
	}
	if r, known := m.rooms[node]; known {
		return r
	}
	r := nodeRoom{bucket: m.buckets[node]}
	if r.bucket != nil {
		r.cpus = math.MaxInt64
		if v, known := r.bucket.Get(index.NCPUs); known {
			r.cpus = v.Num
		}
		r.left = r.cpus
		switch m.nodes.Index.ClassOf(r.bucket, node) {
		case index.None:
			r.bucket = nil
		case index.Free:
			r.idle, r.next = true, timeline.Forever
		case index.Later:
			r.idle, r.next = true, m.nodes.Calendar.NextBusy(node, p.now)
		case index.Busy:
			if m.nodes.Calendar.Taken(node, p.now, p.now+1, nil, onlyCPUs, m.peak[:]) == timeline.Whole {
				r.bucket = nil
			}
			r.left -= m.peak[0]
		}
	}
	m.rooms[node] = r
	return r
}

// holds returns an upper bound of the chunks of a request that fit on a node from now on.
func (m *Memory) holds(p *Pass, k *kind, node uint32) int64 {
	r := m.room(p, node)
	if r.bucket == nil || r.left < k.each || !slices.Contains(k.Buckets, r.bucket) {
		return 0
	}
	left := r.left
	if end := p.now + k.Duration; !r.idle || r.next < end {
		switch m.nodes.Calendar.Taken(node, p.now, end, nil, onlyCPUs, m.peak[:]) {
		case timeline.Whole:
			return 0
		case timeline.Open:
			if k.Place.Exclusive() {
				return 0
			}
			left = r.cpus - m.peak[0]
		}
	}
	switch {
	case k.each <= 0:
		return int64(k.Chunks[0].Count)
	case left < k.each:
		return 0
	case k.Place.Arrange == placer.Scatter || k.Place.Arrange == placer.VScatter:
		return 1
	}
	return left / k.each
}

// onlyCPUs is the quantity that is counted.
var onlyCPUs = []uint16{uint16(index.NCPUs)}

// looked is the state of a pass in which a memory looked at nodes.
type looked struct {
	pass                *Pass
	taken, times, lifts int
}
