package nodes

import (
	"iter"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/timeline"
)

// Source gives the stored rows to index and timeline, and writes back what they have changed.
type Source struct {
	Base
	reaches map[uint32]row.ReachBlock // the blocks read so far, by group of blocks
}

// NewSource returns the source of b's rows.
func NewSource(b Base) *Source { return &Source{b, make(map[uint32]row.ReachBlock)} }

// Bucket implements index.Source, as Bits and Range do.
func (s *Source) Bucket(id uint32) (*index.Bucket, error) {
	key := row.Key32(id)
	payload, err := s.Rows.Get(row.Buckets, key)
	if payload == nil || err != nil {
		return nil, err
	}
	return row.BucketRow.Decode(key, payload)
}

func (s *Source) Bits(k index.BitsKey) (*roaring.Bitmap, error) {
	key := row.BitsKey(k)
	payload, err := s.Rows.Get(row.Bitmaps, key)
	if payload == nil || err != nil {
		return nil, err
	}
	return row.DecodeBits(key, payload)
}

func (s *Source) Range(from index.BitsKey) iter.Seq2[index.BitsKey, *roaring.Bitmap] {
	return func(yield func(index.BitsKey, *roaring.Bitmap) bool) {
		start := row.BitsKey(from)
		err := s.Rows.EachFrom(row.Bitmaps, start, start[:5], func(key, payload []byte) (bool, error) {
			bm, err := row.DecodeBits(key, payload)
			if err != nil {
				return false, err
			}
			k := from
			k.Value = string(key[5:])
			return yield(k, bm), nil
		})
		if err != nil {
			s.Fail(err)
		}
	}
}

// Block implements timeline.Source, as Reach does.
func (s *Source) Block(number uint32) (*timeline.Block, error) {
	key := row.Key32(number)
	payload, err := s.Rows.Get(row.Calendar, key)
	if payload == nil || err != nil {
		return nil, err
	}
	return row.DecodeBlock(key, payload)
}

func (s *Source) Reach(number uint32) (int64, error) {
	r, err := s.reachRow(number / row.ReachBlocks)
	return r[number%row.ReachBlocks], err
}

// reachRow reads the reaches of a group of blocks.
func (s *Source) reachRow(group uint32) (row.ReachBlock, error) {
	if r, ok := s.reaches[group]; ok {
		return r, nil
	}
	key := row.Key32(group)
	payload, err := s.Rows.Get(row.Reaches, key)
	if err != nil {
		return row.ReachBlock{}, err
	}
	var r row.ReachBlock
	if payload != nil {
		if err := row.ReachRow.Read(&r, key, payload); err != nil {
			return r, err
		}
	}
	s.reaches[group] = r
	return r, nil
}

// FlushIndex writes back the bitmaps and bucket heads that were changed.
func (s *Source) FlushIndex(ix *index.Index) error {
	if err := ix.Err(); err != nil {
		return err
	}
	for k, bm := range ix.Changed() {
		key := row.BitsKey(k)
		if bm.IsEmpty() {
			if err := s.Rows.Remove(row.Bitmaps, key); err != nil {
				return err
			}
			continue
		}
		payload, err := row.EncodeBits(bm)
		if err != nil {
			return err
		}
		if err := s.Rows.Put(row.Bitmaps, key, payload); err != nil {
			return err
		}
	}
	for _, b := range ix.ChangedBuckets() {
		if err := s.Rows.Put(row.Buckets, row.Key32(b.ID), row.BucketRow.Encode(b)); err != nil {
			return err
		}
	}
	limits := ix.Limits()
	s.State.NextBucket = limits.Buckets
	return nil
}

// FlushCalendar writes back the calendar blocks that were changed.
func (s *Source) FlushCalendar(c *timeline.Calendar) error {
	if err := c.Err(); err != nil {
		return err
	}
	groups := make(map[uint32]row.ReachBlock)
	for number, block := range c.Changed() {
		if err := s.Rows.PutOrRemove(row.Calendar, row.Key32(number), row.EncodeBlock(block)); err != nil {
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
		if err := s.Rows.PutOrRemove(row.Reaches, row.Key32(group), row.EncodeReaches(r)); err != nil {
			return err
		}
	}
	return c.Err()
}
