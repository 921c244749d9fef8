package store

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store/internal/row"
)

// A job that waits can begin to fit only when something makes room: nodes are given
// back, a reservation begins or ends, a node comes up, a setting changes. Each such
// moment is a waking. Wakings are numbered, and every bucket keeps the number of
// the last that concerned it; a request that was refused keeps the number up to
// which that is known. So a cycle looks again only at requests which could use what
// has changed, however many wait. Time alone makes room where a reservation lets a job
// have a part of it only, and the like: the placer says with a refusal until when it
// holds, and from then on the request is looked at again, too.

// woke notes that room was made on nodes.
func (tx *Tx) woke(nodes []uint32) error {
	tx.state.Wakes++
	tx.dirty = tx.dirty || tx.Writable()
	for _, n := range nodes {
		bucket, _, err := tx.nodeHead(n)
		if err != nil {
			return err
		}
		tx.wakes()[bucket] = tx.state.Wakes
	}
	if tx.loaded.woken == nil {
		tx.loaded.woken = roaring.New()
	}
	tx.loaded.woken.AddMany(nodes)
	return nil
}

// wokeAll notes that any request may fit now.
func (tx *Tx) wokeAll() {
	tx.state.Wakes++
	tx.loaded.wokeAll = tx.state.Wakes
	tx.dirty = tx.dirty || tx.Writable()
}

func (tx *Tx) wakes() map[uint32]uint64 {
	if tx.loaded.wakes == nil {
		tx.loaded.wakes = make(map[uint32]uint64)
	}
	return tx.loaded.wakes
}

// lastWake is the last waking that concerned one of the buckets.
func (tx *Tx) lastWake(buckets []*index.Bucket) (last uint64, err error) {
	if last, err = tx.wakeRow(row.KeyAllWoken); err != nil {
		return 0, err
	}
	last = max(last, tx.loaded.wokeAll)
	for _, b := range buckets {
		n, known := tx.loaded.wakes[b.ID]
		if !known {
			if n, err = tx.wakeRow(row.WakeKey(b.ID)); err != nil {
				return 0, err
			}
		}
		last = max(last, n)
	}
	return last, nil
}

// wakeRow reads the number of a waking.
func (tx *Tx) wakeRow(key []byte) (uint64, error) {
	payload, err := tx.file.Get(row.Wakes, key)
	if payload == nil || err != nil {
		return 0, err
	}
	return row.DecodeWake(key, payload)
}

// Which nodes have woken is kept, too, from one cycle that has looked at all plans to
// the next, as long as anybody waits.

// wokenNodes are the nodes on which room was made since a cycle has looked at all
// plans, in this transaction and before; known is false when it may be anywhere.
func (tx *Tx) wokenNodes() (nodes *roaring.Bitmap, known bool, err error) {
	all, err := tx.wakeRow(row.KeyAllWoken)
	if err != nil || max(all, tx.loaded.wokeAll) > tx.state.Planned {
		return nil, false, err
	}
	nodes = roaring.New()
	if payload, err := tx.file.Get(row.Wakes, row.KeyWoken); err != nil {
		return nil, false, err
	} else if payload != nil {
		if nodes, err = row.DecodeWoken(payload); err != nil {
			return nil, false, err
		}
	}
	if tx.loaded.woken != nil {
		nodes.Or(tx.loaded.woken)
	}
	return nodes, true, nil
}

// flushWoken writes the nodes down that have woken. Where nobody waits there is
// nobody to know it.
func (tx *Tx) flushWoken() error {
	if tx.loaded.woken == nil || !tx.Writable() {
		return nil
	}
	if tx.file.Last(row.Waiting) == nil {
		return tx.file.Remove(row.Wakes, row.KeyWoken)
	}
	nodes, known, err := tx.wokenNodes()
	if err != nil || !known {
		return err
	}
	payload, err := row.EncodeWoken(nodes)
	if err != nil {
		return err
	}
	return tx.file.Put(row.Wakes, row.KeyWoken, payload)
}

// flushWakes writes down what was woken.
func (tx *Tx) flushWakes() error {
	if err := tx.flushWoken(); err != nil {
		return err
	}
	for bucket, n := range tx.loaded.wakes {
		if err := tx.file.Put(row.Wakes, row.WakeKey(bucket), row.EncodeWake(n)); err != nil {
			return err
		}
	}
	if tx.loaded.wokeAll == 0 {
		return nil
	}
	return tx.file.Put(row.Wakes, row.KeyAllWoken, row.EncodeWake(tx.loaded.wokeAll))
}

// givenBack puts nodes into the bitmaps that they belong to now that somebody has
// left them.
func (tx *Tx) givenBack(nodes []uint32) error {
	if err := tx.reclass(nodes); err != nil {
		return err
	}
	return tx.woke(nodes)
}
