package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/store/internal/row"
)

// batchRows gives package locality the rows of one batch. What it has read of the
// jobs of a batch is kept as long as the transaction: they do not change.
type batchRows struct {
	tx     *Tx
	number uint32
	tasks  map[int]*locality.TaskBlock
}

// maxKept bounds how many blocks of each kind are kept.
const maxKept = 1024

func newBatchRows(tx *Tx, number uint32) *batchRows {
	return &batchRows{tx, number, make(map[int]*locality.TaskBlock)}
}

// batchBlock names a block of the jobs of a batch.
type batchBlock struct {
	batch uint32
	block int
}

// Jobs is part of locality.Rows, as are the methods that follow.
func (r *batchRows) Jobs(block int) (*locality.JobBlock, error) {
	kept := r.tx.loaded.batchJobs
	if b := kept[batchBlock{r.number, block}]; b != nil {
		return b, nil
	}
	key, payload, err := r.jobsRow(block)
	if err != nil {
		return nil, err
	}
	b, err := row.DecodeBatchJobs(key, payload)
	if err != nil {
		return nil, err
	}
	if kept == nil {
		kept = make(map[batchBlock]*locality.JobBlock)
		r.tx.loaded.batchJobs = kept
	}
	if len(kept) >= maxKept {
		clear(kept)
	}
	kept[batchBlock{r.number, block}] = b
	return b, nil
}

func (r *batchRows) jobsRow(block int) (key, payload []byte, err error) {
	key = row.BatchBlockKey(r.number, block)
	if payload, err = r.tx.file.Get(row.BatchJobs, key); err == nil && payload == nil {
		err = fmt.Errorf("%w: block %d of the jobs of batch %d is missing", ErrDamaged, block, r.number)
	}
	return key, payload, err
}

// Before decodes no job: a search through a batch looks into many blocks for it.
func (r *batchRows) Before(block int) ([]locality.Credit, error) {
	key, payload, err := r.jobsRow(block)
	if err != nil {
		return nil, err
	}
	return row.BatchCredit(key, payload)
}

func (r *batchRows) Tasks(block int) (*locality.TaskBlock, error) {
	if b := r.tasks[block]; b != nil {
		return b, nil
	}
	key := row.BatchBlockKey(r.number, block)
	payload, err := r.tx.file.Get(row.BatchTasks, key)
	if err != nil {
		return nil, err
	}
	b := &locality.TaskBlock{First: block * locality.BlockJobs}
	if payload != nil {
		if b, err = row.DecodeBatchTasks(key, payload); err != nil {
			return nil, err
		}
	}
	if len(r.tasks) >= maxKept && !r.tx.Writable() { // an operation may hold one that it is changing
		clear(r.tasks)
	}
	r.tasks[block] = b
	return b, nil
}

func (r *batchRows) PutTasks(block int, b *locality.TaskBlock) error {
	r.tasks[block] = b
	return r.tx.file.Put(row.BatchTasks, row.BatchBlockKey(r.number, block), row.EncodeBatchTasks(b))
}

func (r *batchRows) Host(number uint32) (*locality.Host, error) { return r.tx.host(number) }

func (r *batchRows) PutHost(h *locality.Host) error {
	return r.tx.file.Put(row.Hosts, row.Key32(h.Number), row.EncodeHost(h))
}

func (r *batchRows) Member(host uint32) (*locality.Member, error) {
	key := row.BatchBlockKey(r.number, int(host))
	payload, err := r.tx.file.Get(row.BatchHosts, key)
	if err != nil || payload == nil {
		return nil, err
	}
	return row.DecodeMember(key, payload)
}

func (r *batchRows) PutMember(m *locality.Member) error {
	return r.tx.file.Put(row.BatchHosts, row.BatchBlockKey(r.number, int(m.Host)), row.EncodeMember(m))
}

func (r *batchRows) EachMember(fn func(*locality.Member) error) error {
	return r.tx.file.Each(row.BatchHosts, row.Key32(r.number), func(key, payload []byte) (bool, error) {
		m, err := row.DecodeMember(key, payload)
		if err != nil {
			return false, err
		}
		return true, fn(m)
	})
}

func (r *batchRows) CursorAt(slot int) (*locality.Cursor, error) {
	key, payload, err := r.tx.file.Before(row.BatchRanges, row.RangeKey(r.number, slot+1))
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(key, row.Key32(r.number)) {
		return nil, fmt.Errorf("%w: no range of batch %d holds slot %d", ErrDamaged, r.number, slot)
	}
	return row.DecodeRange(key, payload)
}

func (r *batchRows) PutCursor(c *locality.Cursor) error {
	key := row.RangeKey(r.number, c.First)
	payload, err := r.tx.file.Get(row.BatchRanges, key)
	if err != nil {
		return err
	}
	var before, after string
	if payload != nil {
		old, err := row.DecodeRange(key, payload)
		if err != nil {
			return err
		}
		if old.Waiting() > 0 {
			before = string(row.LongestKey(r.number, old))
		}
	}
	if c.Waiting() > 0 {
		after = string(row.LongestKey(r.number, c))
	}
	if before != after {
		if before != "" {
			if err := r.tx.file.Remove(row.BatchLongest, []byte(before)); err != nil {
				return err
			}
		}
		if after != "" {
			if err := r.tx.file.Mark(row.BatchLongest, []byte(after)); err != nil {
				return err
			}
		}
	}
	return r.tx.file.Put(row.BatchRanges, key, row.EncodeRange(c))
}

func (r *batchRows) Longest(fn func(*locality.Cursor) (bool, error)) error {
	return r.tx.file.Each(row.BatchLongest, row.Key32(r.number), func(key, _ []byte) (bool, error) {
		if len(key) != 20 {
			return false, fmt.Errorf("%w: the key %x of table %s", ErrDamaged, key, row.BatchLongest)
		}
		c, err := r.CursorAt(int(binary.BigEndian.Uint64(key[12:])))
		if err != nil {
			return false, err
		}
		return fn(c)
	})
}

func (r *batchRows) PutBack(slot int) error {
	return r.tx.file.Mark(row.BatchBacks, row.RangeKey(r.number, slot))
}

func (r *batchRows) TakeBack(slot int) error {
	return r.tx.file.Remove(row.BatchBacks, row.RangeKey(r.number, slot))
}

func (r *batchRows) EachBack(first, last int, fn func(slot int) (bool, error)) error {
	if first > last {
		return nil
	}
	return r.tx.file.EachFrom(row.BatchBacks, row.RangeKey(r.number, first), row.Key32(r.number), func(key, _ []byte) (bool, error) {
		slot := int(binary.BigEndian.Uint64(key[4:]))
		if slot > last {
			return false, nil
		}
		return fn(slot)
	})
}

func (r *batchRows) PutDue(d locality.Due) error {
	return r.tx.file.Mark(row.BatchDues, row.DueKey(r.number, d))
}

func (r *batchRows) TakeDue(d locality.Due) error {
	return r.tx.file.Remove(row.BatchDues, row.DueKey(r.number, d))
}

func (r *batchRows) EachDue(until int64, fn func(locality.Due) (bool, error)) error {
	return r.tx.file.Each(row.BatchDues, row.Key32(r.number), func(key, _ []byte) (bool, error) {
		d := row.SplitDueKey(key)
		if d.At > until {
			return false, nil
		}
		return fn(d)
	})
}
