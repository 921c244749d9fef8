package check

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// index sorts the nodes into the buckets that the rows name, and recomputes every bitmap.
func (d *recomputed) index() error {
	defs, err := d.store.Resources()
	if err != nil {
		return err
	}
	signature, err := d.store.signature(defs)
	if err != nil {
		return err
	}
	ix := index.New(defs, signature, nil, index.Limits{Nodes: d.store.State.NextNode})
	if err := d.adoptBuckets(ix); err != nil {
		return err
	}
	err = d.store.Rows.Each(row.Nodes, nil, func(key, payload []byte) (bool, error) {
		n, err := row.DecodeNode(key, payload)
		if err != nil {
			return false, err
		}
		d.at = Row{row.Nodes, string(key)}
		if err := nodes.Valid(defs, n); err != nil {
			d.contradict("node number %d: %v", n.Number, err)
		}
		if _, ok := d.rows[row.NodeNames][n.Name]; ok {
			d.contradict("two nodes are called %s", n.Name)
		}
		d.rows[row.NodeNames][n.Name] = row.EncodeNumber32(n.Number)
		if n.Number >= d.store.State.NextNode {
			d.contradict("node %s: its number is %d, the next one %d", n.Name, n.Number, d.store.State.NextNode)
		}
		bucket := n.Bucket
		class := placer.ClassNow(d.calendar, n.Number)
		ix.Insert(n, class)
		d.shared(n)
		d.takenTwice(n)
		d.devices(n)
		d.room(ix, n)
		if n.Bucket != bucket {
			d.Find("node %s says it is in bucket %d, its values put it into %d", n.Name, bucket, n.Bucket)
			d.moved = append(d.moved, n)
		}
		return true, ix.Err()
	})
	if err != nil {
		return err
	}
	for k, bm := range ix.Changed() {
		if !bm.IsEmpty() {
			if d.rows[row.Bitmaps][string(row.BitsKey(k))], err = row.EncodeBits(bm); err != nil {
				return err
			}
		}
	}
	d.buckets = ix.Limits().Buckets
	for _, b := range ix.ChangedBuckets() {
		d.rows[row.Buckets][string(row.Key32(b.ID))] = row.BucketRow.Encode(b)
	}
	return nil
}

// room notes what is left of a node that is shared now.
func (d *recomputed) room(ix *index.Index, n *index.Node) {
	room := placer.RoomNow(d.calendar, ix.Defs(), n)
	if room == nil {
		return
	}
	ix.SetRoom(n.Number, nil, room)
	number := n.Number / timeline.BlockNodes
	if d.rooms[number] == nil {
		d.rooms[number] = new(row.RoomBlock)
	}
	d.rooms[number][n.Number%timeline.BlockNodes] = room
	d.rows[row.Rooms][string(row.Key32(number))] = row.EncodeRooms(d.rooms[number])
}

// adoptBuckets gives the recomputed index the stored buckets' numbers, because cached
// decisions refer to them. If no buckets are stored, it takes those that the nodes name.
func (d *recomputed) adoptBuckets(ix *index.Index) error {
	if any, err := d.store.Rows.Last(row.Buckets); err != nil {
		return err
	} else if any == nil {
		return d.adoptFromNodes(ix)
	}
	return d.store.Rows.Each(row.Buckets, nil, func(key, payload []byte) (bool, error) {
		if len(key) != 4 {
			d.Find("bucket key %x is not a number", key)
			return true, nil
		}
		b, err := row.BucketRow.Decode(key, payload)
		if err != nil {
			return false, err
		}
		ix.Adopt(b.ID, b.Signature, b.Queue, b.Priority)
		return true, ix.Err()
	})
}

// adoptFromNodes makes the buckets that nodes name.
func (d *recomputed) adoptFromNodes(ix *index.Index) error {
	first := make(map[uint32]*index.Node)
	err := d.store.Rows.Each(row.Nodes, nil, func(key, payload []byte) (bool, error) {
		var v row.NodeView
		if err := v.Open(key, payload); err != nil || first[v.Bucket()] != nil {
			return true, err
		}
		n, err := v.Node()
		first[n.Bucket] = n
		return true, err
	})
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(first)) {
		if id >= d.store.State.NextBucket {
			d.at = Row{row.Nodes, string(row.Key32(first[id].Number))}
			d.contradict("node %s says it is in bucket %d, the next one is %d", first[id].Name, id,
				d.store.State.NextBucket)
			continue
		}
		ix.AdoptOf(id, first[id])
	}
	return ix.Err()
}

// compare reports how a derived table differs from what it should hold.
func (d *recomputed) compare(t row.Table) error {
	if d.lists[t] != nil {
		return d.compareLists(t)
	}
	if t == row.Ended {
		return d.compareEnded()
	}
	want := d.rows[t]
	seen := make(map[string]bool, len(want))
	err := d.store.Rows.Each(t, nil, func(key, payload []byte) (bool, error) {
		seen[string(key)] = true
		expected, ok := want[string(key)]
		switch {
		case !ok:
			d.Find("table %s has %x, which should not be there", t, key)
		case t == row.Bitmaps:
			if err := sameBits(key, payload, expected); err != nil {
				d.Find("%v", err)
			}
		case !same(t, key, payload, expected):
			d.Find("table %s: %x is not what the rows say", t, key)
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if !seen[key] {
			d.Find("table %s lacks %x", t, key)
		}
	}
	return nil
}

// same reports whether rows are equal. Plans may have been written by an older version, in
// another form.
func same(t row.Table, key, payload, expected []byte) bool {
	if t != row.Calendar || bytes.Equal(payload, expected) {
		return bytes.Equal(payload, expected)
	}
	block, err := row.DecodeBlock(key, payload)
	return err == nil && bytes.Equal(row.EncodeBlock(block), expected)
}

// sameBits reports how bitmaps differ. It compares what they hold, because a bitmap can be
// encoded in several ways.
func sameBits(key, payload, expected []byte) error {
	a, err := row.DecodeBits(key, payload)
	if err != nil {
		return err
	}
	b, err := row.DecodeBits(key, expected)
	if err != nil {
		return err
	}
	if diff := roaring.Xor(a, b); !diff.IsEmpty() {
		return fmt.Errorf("bitmap %x differs from what the rows say in %d places, first at %d", key,
			diff.GetCardinality(), diff.Minimum())
	}
	return nil
}
