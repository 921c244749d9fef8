package index

import "github.com/RoaringBitmap/roaring/v2"

// Configured returns how much of a consumable all nodes have together.
func (ix *Index) Configured(id ResID) int64 {
	if ix.configured == nil || ix.configuredAt != ix.generation {
		ix.configured, ix.configuredAt = make(map[ResID]int64), ix.generation
	}
	sum, ok := ix.configured[id]
	if !ok {
		sum = ix.total(id, func(b *Bucket) int64 { return int64(b.Total) }, nil)
		ix.configured[id] = sum
	}
	return sum
}

// InService returns how much of a consumable the nodes that are up have together. The cost
// depends on the number of different values, not of nodes.
func (ix *Index) InService(id ResID) int64 {
	return ix.total(id, func(b *Bucket) int64 { return int64(b.Up()) }, ix.NotUp())
}

// total sums up a resource. If it is part of the signature, it counts as many nodes of each
// bucket as nodes returns; otherwise all nodes except those in but.
func (ix *Index) total(id ResID, nodes func(*Bucket) int64, but *roaring.Bitmap) int64 {
	sum := int64(0)
	if !ix.signed.has(id) {
		for k, with := range ix.scan(BitsKey{Family: NodesWith, ID: uint32(id)}) {
			n := with.GetCardinality()
			if but != nil {
				n -= with.AndCardinality(but)
			}
			sum = Plus(sum, Times(keyNum(k.Value), int64(n)))
		}
		return sum
	}
	for k, having := range ix.scan(BitsKey{Family: HavingValue, ID: uint32(id)}) {
		for it := having.Iterator(); it.HasNext(); {
			if b := ix.Bucket(it.Next()); b != nil {
				sum = Plus(sum, Times(keyNum(k.Value), nodes(b)))
			}
		}
	}
	return sum
}

// NotUp returns the nodes that are down, offline or drained.
func (ix *Index) NotUp() *roaring.Bitmap {
	out := roaring.New()
	for id := range ix.limits.Buckets {
		b := ix.Bucket(id)
		if b == nil || b.Count[None] == 0 {
			continue
		}
		some := roaring.AndNot(ix.Nodes(b, None), ix.Nodes(b, Free))
		some.AndNot(ix.Nodes(b, Later))
		some.AndNot(ix.Nodes(b, Busy))
		out.Or(some)
	}
	return out
}

// CountUp returns how many nodes are up.
func (ix *Index) CountUp() int {
	n := 0
	for id := range ix.limits.Buckets {
		if b := ix.Bucket(id); b != nil {
			n += b.Up()
		}
	}
	return n
}

// NodesByQueue returns the nodes of each queue that has some; the key "" has those of no
// queue.
func (ix *Index) NodesByQueue() map[string]*roaring.Bitmap {
	parts := make(map[string][]*roaring.Bitmap)
	for _, b := range ix.Buckets() {
		parts[b.Queue] = append(parts[b.Queue], ix.Nodes(b, None))
	}
	out := make(map[string]*roaring.Bitmap, len(parts))
	for queue, nodes := range parts {
		out[queue] = roaring.FastOr(nodes...)
	}
	return out
}

// Amounts returns how much of a consumable some nodes have together, by queue; nil means all
// nodes. queues is what NodesByQueue returns. The cost depends on the number of different
// values.
func (ix *Index) Amounts(id ResID, nodes *roaring.Bitmap, queues map[string]*roaring.Bitmap) map[string]int64 {
	out := make(map[string]int64, len(queues))
	add := func(queue string, value, n int64) {
		if n > 0 {
			out[queue] = Plus(out[queue], Times(value, n))
		}
	}
	if !ix.signed.has(id) {
		for k, with := range ix.scan(BitsKey{Family: NodesWith, ID: uint32(id)}) {
			if nodes != nil {
				with = roaring.And(with, nodes)
			}
			for queue, members := range queues {
				if len(queues) == 1 {
					add(queue, keyNum(k.Value), int64(with.GetCardinality()))
				} else {
					add(queue, keyNum(k.Value), int64(with.AndCardinality(members)))
				}
			}
		}
		return out
	}
	for k, having := range ix.scan(BitsKey{Family: HavingValue, ID: uint32(id)}) {
		for it := having.Iterator(); it.HasNext(); {
			b := ix.Bucket(it.Next())
			if b == nil {
				continue
			}
			n := int64(b.Total)
			if nodes != nil {
				n = int64(nodes.AndCardinality(ix.Nodes(b, None)))
			}
			add(b.Queue, keyNum(k.Value), n)
		}
	}
	return out
}
