package store

import (
	"iter"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/timeline"
)

// index is the node index of the transaction, loaded as it is asked.
func (tx *Tx) index() (*index.Index, error) {
	if tx.loaded.index == nil {
		defs, err := tx.Resources()
		if err != nil {
			return nil, err
		}
		set, err := tx.settings()
		if err != nil {
			return nil, err
		}
		tx.loaded.index = index.New(defs, set.signature(defs), tx.loaded.source, index.Limits{Buckets: tx.state.NextBucket, Nodes: tx.state.NextNode})
		if tx.file.Format() < 2 {
			tx.loaded.index.MarkAll()
		}
		if tx.file.Format() < 4 {
			tx.loaded.index.ForgetSpeeds()
		}
	}
	return tx.loaded.index, nil
}

// calendar is what is planned for the nodes, loaded as it is asked.
func (tx *Tx) calendar() *timeline.Calendar {
	if tx.loaded.calendar == nil {
		tx.loaded.calendar = timeline.NewCalendar(tx.loaded.source, tx.now, overdueGrace)
	}
	return tx.loaded.calendar
}

// overdueGrace is how long from now a job past its end is taken to go on, in
// seconds.
const overdueGrace = 300

// source lends the stored rows to index and timeline, and writes back what they have
// changed.
type source struct {
	tx      *Tx
	reaches map[uint32]row.ReachBlock // that were read, by group of blocks
}

func (s *source) Bucket(id uint32) (*index.Bucket, error) {
	key := row.Key32(id)
	payload, err := s.tx.file.Get(row.Buckets, key)
	if payload == nil || err != nil {
		return nil, err
	}
	return row.DecodeBucket(id, key, payload)
}

func (s *source) Bits(k index.BitsKey) (*roaring.Bitmap, error) {
	key := row.BitsKey(k)
	payload, err := s.tx.file.Get(row.Bitmaps, key)
	if payload == nil || err != nil {
		return nil, err
	}
	return row.DecodeBits(key, payload)
}

func (s *source) Range(from index.BitsKey) iter.Seq2[index.BitsKey, *roaring.Bitmap] {
	return func(yield func(index.BitsKey, *roaring.Bitmap) bool) {
		start := row.BitsKey(from)
		err := s.tx.file.EachFrom(row.Bitmaps, start, start[:5], func(key, payload []byte) (bool, error) {
			bm, err := row.DecodeBits(key, payload)
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

func (s *source) Block(number uint32) (*timeline.Block, error) {
	key := row.Key32(number)
	payload, err := s.tx.file.Get(row.Calendar, key)
	if payload == nil || err != nil {
		return nil, err
	}
	return row.DecodeBlock(key, payload)
}

func (s *source) Reach(number uint32) (int64, error) {
	r, err := s.reachRow(number / row.ReachBlocks)
	return r[number%row.ReachBlocks], err
}

// reachRow reads the reaches of a group of blocks.
func (s *source) reachRow(group uint32) (row.ReachBlock, error) {
	if r, ok := s.reaches[group]; ok {
		return r, nil
	}
	key := row.Key32(group)
	payload, err := s.tx.file.Get(row.Reaches, key)
	if err != nil {
		return row.ReachBlock{}, err
	}
	var r row.ReachBlock
	if payload != nil {
		if r, err = row.DecodeReaches(key, payload); err != nil {
			return r, err
		}
	}
	s.reaches[group] = r
	return r, nil
}

// flushIndex writes back the bitmaps and bucket heads that were changed.
func (s *source) flushIndex(ix *index.Index) error {
	if err := ix.Err(); err != nil {
		return err
	}
	for k, bm := range ix.Changed() {
		key := row.BitsKey(k)
		if bm.IsEmpty() {
			if err := s.tx.file.Remove(row.Bitmaps, key); err != nil {
				return err
			}
			continue
		}
		payload, err := row.EncodeBits(bm)
		if err != nil {
			return err
		}
		if err := s.tx.file.Put(row.Bitmaps, key, payload); err != nil {
			return err
		}
	}
	for _, b := range ix.ChangedBuckets() {
		if err := s.tx.file.Put(row.Buckets, row.Key32(b.ID), row.EncodeBucket(b)); err != nil {
			return err
		}
	}
	limits := ix.Limits()
	s.tx.state.NextBucket = limits.Buckets
	return nil
}

// flushCalendar writes back the calendar blocks that were changed.
func (s *source) flushCalendar(c *timeline.Calendar) error {
	if err := c.Err(); err != nil {
		return err
	}
	groups := make(map[uint32]row.ReachBlock)
	for number, block := range c.Changed() {
		if err := s.tx.file.PutOrRemove(row.Calendar, row.Key32(number), row.EncodeBlock(block)); err != nil {
			return err
		}
		group := number / row.ReachBlocks
		r, ok := groups[group]
		if !ok {
			var err error
			if r, err = s.reachRow(group); err != nil {
				return err
			}
		}
		r[number%row.ReachBlocks] = c.Reach(number)
		groups[group] = r
	}
	for group, r := range groups {
		if r == s.reaches[group] {
			continue
		}
		s.reaches[group] = r
		if err := s.tx.file.PutOrRemove(row.Reaches, row.Key32(group), row.EncodeReaches(r)); err != nil {
			return err
		}
	}
	return c.Err()
}
