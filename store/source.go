package store

import (
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// Index is the node index of the transaction, loaded as it is asked.
func (tx *Tx) Index() (*index.Index, error) {
	if tx.loaded.index == nil {
		defs, err := tx.Resources()
		if err != nil {
			return nil, err
		}
		set, err := tx.settings()
		if err != nil {
			return nil, err
		}
		tx.loaded.index = index.New(defs, set.signature(defs), source{tx}, index.Limits{Buckets: tx.state.nextBucket, Nodes: tx.state.nextNode})
		if tx.format < 2 {
			tx.loaded.index.MarkAll()
		}
	}
	return tx.loaded.index, nil
}

// Calendar is what is planned for the nodes, loaded as it is asked.
func (tx *Tx) Calendar() *timeline.Calendar {
	if tx.loaded.calendar == nil {
		tx.loaded.calendar = timeline.NewCalendar(source{tx}, tx.now, overdueGrace)
	}
	return tx.loaded.calendar
}

// overdueGrace is how long from now a job past its end is taken to go on, in
// seconds.
const overdueGrace = 300

// source lends the stored rows to index and timeline.
type source struct{ tx *Tx }

func (s source) Bucket(id uint32) (*index.Bucket, error) {
	key := key32(id)
	row, err := s.tx.get(tableBuckets, key)
	if row == nil || err != nil {
		return nil, err
	}
	return decodeBucket(id, key, row)
}

func (s source) Bits(k index.BitsKey) (*roaring.Bitmap, error) {
	key := bitsKey(k)
	row, err := s.tx.get(tableBitmaps, key)
	if row == nil || err != nil {
		return nil, err
	}
	return decodeBits(key, row)
}

func (s source) Range(from index.BitsKey) iter.Seq2[index.BitsKey, *roaring.Bitmap] {
	return func(yield func(index.BitsKey, *roaring.Bitmap) bool) {
		start := bitsKey(from)
		err := s.tx.eachFrom(tableBitmaps, start, start[:5], func(key, row []byte) (bool, error) {
			bm, err := decodeBits(key, row)
			if err != nil {
				return false, err
			}
			k := from
			k.Value = string(key[5:])
			return yield(k, bm), nil
		})
		if err != nil && s.tx.loaded.index != nil {
			s.tx.loaded.index.Fail(err)
		}
	}
}

func (s source) Block(number uint32) (*timeline.Block, error) {
	key := key32(number)
	row, err := s.tx.get(tableCalendar, key)
	if row == nil || err != nil {
		return nil, err
	}
	return decodeBlock(key, row)
}

func (s source) Reach(number uint32) (int64, error) {
	r, err := s.tx.reachRow(number / reachBlocks)
	return r[number%reachBlocks], err
}

// reachRow reads the reaches of a group of blocks.
func (tx *Tx) reachRow(group uint32) (reachRow, error) {
	if r, ok := tx.loaded.reaches[group]; ok {
		return r, nil
	}
	key := key32(group)
	row, err := tx.get(tableReaches, key)
	if err != nil {
		return reachRow{}, err
	}
	var r reachRow
	if row != nil {
		if r, err = decodeReaches(key, row); err != nil {
			return r, err
		}
	}
	if tx.loaded.reaches == nil {
		tx.loaded.reaches = make(map[uint32]reachRow)
	}
	tx.loaded.reaches[group] = r
	return r, nil
}

// bitsKey is a bitmap's key on disk: family, number, value.
func bitsKey(k index.BitsKey) []byte {
	key := make([]byte, 5, 5+len(k.Value))
	key[0] = byte(k.Family)
	binary.BigEndian.PutUint32(key[1:], k.ID)
	return append(key, k.Value...)
}

const bitsVersion = 1

// decodeBits reads a bitmap in place: it lives as long as the row does.
func decodeBits(key, row []byte) (*roaring.Bitmap, error) {
	bm := roaring.New()
	if len(row) < 1 {
		return nil, fmt.Errorf("%w: empty bitmap %x", ErrDamaged, key)
	}
	if _, err := bm.FromBuffer(row[1:]); err != nil {
		return nil, fmt.Errorf("%w: bitmap %x: %v", ErrDamaged, key, err)
	}
	return bm, nil
}

// flushIndex writes back the bitmaps and bucket heads that were changed.
func (tx *Tx) flushIndex(ix *index.Index) error {
	if err := ix.Err(); err != nil {
		return err
	}
	for k, bm := range ix.Changed() {
		key := bitsKey(k)
		if bm.IsEmpty() {
			if err := tx.remove(tableBitmaps, key); err != nil {
				return err
			}
			continue
		}
		row, err := encodeBits(bm)
		if err != nil {
			return err
		}
		if err := tx.put(tableBitmaps, key, row); err != nil {
			return err
		}
	}
	for _, b := range ix.ChangedBuckets() {
		if err := tx.put(tableBuckets, key32(b.ID), encodeBucket(b)); err != nil {
			return err
		}
	}
	limits := ix.Limits()
	tx.state.nextBucket = limits.Buckets
	return nil
}

func encodeBits(bm *roaring.Bitmap) ([]byte, error) {
	if bm.GetSerializedSizeInBytes() > 1024 {
		bm.RunOptimize()
	}
	b, err := bm.ToBytes()
	if err != nil {
		return nil, err
	}
	row := make([]byte, 0, len(b)+5)
	return append(append(row, bitsVersion), b...), nil
}

// flushCalendar writes back the calendar blocks that were changed.
func (tx *Tx) flushCalendar(c *timeline.Calendar) error {
	if err := c.Err(); err != nil {
		return err
	}
	groups := make(map[uint32]reachRow)
	for number, block := range c.Changed() {
		if err := tx.putOrRemove(tableCalendar, key32(number), encodeBlock(block)); err != nil {
			return err
		}
		group := number / reachBlocks
		r, ok := groups[group]
		if !ok {
			var err error
			if r, err = tx.reachRow(group); err != nil {
				return err
			}
		}
		r[number%reachBlocks] = c.Reach(number)
		groups[group] = r
	}
	for group, r := range groups {
		if r == tx.loaded.reaches[group] {
			continue
		}
		tx.loaded.reaches[group] = r
		if err := tx.putOrRemove(tableReaches, key32(group), encodeReaches(r)); err != nil {
			return err
		}
	}
	return c.Err()
}

// putOrRemove writes a row, or deletes it when it is nil.
func (tx *Tx) putOrRemove(t table, key, row []byte) error {
	if row == nil {
		return tx.remove(t, key)
	}
	return tx.put(t, key, row)
}
