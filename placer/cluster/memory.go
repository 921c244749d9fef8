package cluster

import (
	"iter"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/placer/cycle"
)

// memory is what the passes of a replay hand on. It is a cycle.Memory.
type memory struct {
	cluster *Cluster
	decided map[string]*cycle.Decision // by kind
	version uint64
	buckets map[uint32]uint64 // by bucket, the last invalidation that concerns it
	freed   *roaring.Bitmap   // nodes on which room was made since a pass has looked at all plans
	late    *roaring.Bitmap   // and of these, since the pass under way has begun
}

func newMemory(c *Cluster) *memory {
	return &memory{cluster: c, decided: make(map[string]*cycle.Decision), buckets: make(map[uint32]uint64), freed: roaring.New(), late: roaring.New()}
}

// invalidate notes that room was made on nodes.
func (m *memory) invalidate(nodes []uint32) {
	m.version++
	for _, n := range nodes {
		m.buckets[m.cluster.nodes[n].Bucket] = m.version
	}
	m.freed.AddMany(nodes)
	m.late.AddMany(nodes)
}

// begin begins a pass.
func (m *memory) begin() { m.late.Clear() }

func (m *memory) Recall(kind string) (*cycle.Decision, error) { return m.decided[kind], nil }

func (m *memory) Version() uint64 { return m.version }

func (m *memory) Invalidated(r *cycle.Request, since uint64) (bool, error) {
	if m.version == since || r.Beyond {
		return m.version != since, nil
	}
	for _, b := range r.Buckets {
		if m.buckets[b.ID] > since {
			return true, nil
		}
	}
	return false, nil
}

func (m *memory) Freed(*cycle.Request) (*roaring.Bitmap, error) { return m.freed, nil }

func (m *memory) Keep(kinds iter.Seq2[string, *cycle.Decision], whole bool) error {
	for kind, d := range kinds {
		if d != nil {
			m.decided[kind] = d
		}
	}
	if whole {
		m.freed.Clear()
		m.freed.Or(m.late)
	}
	return nil
}
