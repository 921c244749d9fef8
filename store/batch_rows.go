package store

import (
	"encoding/binary"
	"fmt"

	"github.com/placectl/placectl/locality"
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
	key, row, err := r.jobsRow(block)
	if err != nil {
		return nil, err
	}
	b, err := decodeBatchJobs(key, row)
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

func (r *batchRows) jobsRow(block int) (key, row []byte, err error) {
	key = batchBlockKey(r.number, block)
	if row, err = r.tx.get(tableBatchJobs, key); err == nil && row == nil {
		err = fmt.Errorf("%w: block %d of the jobs of batch %d is missing", ErrDamaged, block, r.number)
	}
	return key, row, err
}

// Before decodes no job: a search through a batch looks into many blocks for it.
func (r *batchRows) Before(block int) ([]locality.Credit, error) {
	key, row, err := r.jobsRow(block)
	if err != nil {
		return nil, err
	}
	d := decoder{b: row}
	b := decodeJobsHead(&d)
	return b.Before, d.done(tableBatchJobs, key)
}

func (r *batchRows) Tasks(block int) (*locality.TaskBlock, error) {
	if b := r.tasks[block]; b != nil {
		return b, nil
	}
	key := batchBlockKey(r.number, block)
	row, err := r.tx.get(tableBatchTasks, key)
	if err != nil {
		return nil, err
	}
	b := &locality.TaskBlock{First: block * locality.BlockJobs}
	if row != nil {
		if b, err = decodeBatchTasks(key, row); err != nil {
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
	return r.tx.put(tableBatchTasks, batchBlockKey(r.number, block), encodeBatchTasks(b))
}

func (r *batchRows) Host(number uint32) (*locality.Host, error) { return r.tx.host(number) }

func (r *batchRows) PutHost(h *locality.Host) error {
	return r.tx.put(tableHosts, key32(h.Number), encodeHost(h))
}

func (r *batchRows) Member(host uint32) (*locality.Member, error) {
	key := batchBlockKey(r.number, int(host))
	row, err := r.tx.get(tableBatchHosts, key)
	if err != nil || row == nil {
		return nil, err
	}
	return decodeMember(key, row)
}

func (r *batchRows) PutMember(m *locality.Member) error {
	return r.tx.put(tableBatchHosts, batchBlockKey(r.number, int(m.Host)), encodeMember(m))
}

func (r *batchRows) EachMember(fn func(*locality.Member) error) error {
	return r.tx.each(tableBatchHosts, key32(r.number), func(key, row []byte) (bool, error) {
		m, err := decodeMember(key, row)
		if err != nil {
			return false, err
		}
		return true, fn(m)
	})
}

func (r *batchRows) CursorAt(slot int) (*locality.Cursor, error) {
	c := r.tx.file.table(tableBatchRanges).Cursor()
	back := c.Prev
	if key, _ := c.Seek(rangeKey(r.number, slot+1)); key == nil {
		back = c.Last
	}
	key, row := back()
	if !hasPrefix(key, key32(r.number)) {
		return nil, fmt.Errorf("%w: no range of batch %d holds slot %d", ErrDamaged, r.number, slot)
	}
	payload, err := unseal(tableBatchRanges, key, row)
	if err != nil {
		return nil, err
	}
	return decodeRange(key, payload)
}

func (r *batchRows) PutCursor(c *locality.Cursor) error {
	key := rangeKey(r.number, c.First)
	row, err := r.tx.get(tableBatchRanges, key)
	if err != nil {
		return err
	}
	var before, after string
	if row != nil {
		old, err := decodeRange(key, row)
		if err != nil {
			return err
		}
		if old.Waiting() > 0 {
			before = string(longestKey(r.number, old))
		}
	}
	if c.Waiting() > 0 {
		after = string(longestKey(r.number, c))
	}
	if before != after {
		if before != "" {
			if err := r.tx.remove(tableBatchLongest, []byte(before)); err != nil {
				return err
			}
		}
		if after != "" {
			if err := r.tx.mark(tableBatchLongest, []byte(after)); err != nil {
				return err
			}
		}
	}
	return r.tx.put(tableBatchRanges, key, encodeRange(c))
}

func (r *batchRows) Longest(fn func(*locality.Cursor) (bool, error)) error {
	return r.tx.each(tableBatchLongest, key32(r.number), func(key, _ []byte) (bool, error) {
		if len(key) != 20 {
			return false, fmt.Errorf("%w: the key %x of table %s", ErrDamaged, key, tables[tableBatchLongest].name)
		}
		c, err := r.CursorAt(int(binary.BigEndian.Uint64(key[12:])))
		if err != nil {
			return false, err
		}
		return fn(c)
	})
}

func (r *batchRows) PutBack(slot int) error {
	return r.tx.mark(tableBatchBacks, rangeKey(r.number, slot))
}

func (r *batchRows) TakeBack(slot int) error {
	return r.tx.remove(tableBatchBacks, rangeKey(r.number, slot))
}

func (r *batchRows) EachBack(first, last int, fn func(slot int) (bool, error)) error {
	if first > last {
		return nil
	}
	return r.tx.eachFrom(tableBatchBacks, rangeKey(r.number, first), key32(r.number), func(key, _ []byte) (bool, error) {
		slot := int(binary.BigEndian.Uint64(key[4:]))
		if slot > last {
			return false, nil
		}
		return fn(slot)
	})
}

func (r *batchRows) PutDue(d locality.Due) error {
	return r.tx.mark(tableBatchDues, dueKey(r.number, d))
}

func (r *batchRows) TakeDue(d locality.Due) error {
	return r.tx.remove(tableBatchDues, dueKey(r.number, d))
}

func (r *batchRows) EachDue(until int64, fn func(locality.Due) (bool, error)) error {
	return r.tx.each(tableBatchDues, key32(r.number), func(key, _ []byte) (bool, error) {
		d := splitDueKey(key)
		if d.At > until {
			return false, nil
		}
		return fn(d)
	})
}
