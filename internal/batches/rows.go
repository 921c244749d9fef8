package batches

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/locality"
)

// Rows gives package locality the rows of one batch. It keeps the blocks of jobs that it has
// read as long as the Batches exist, because jobs do not change.
type Rows struct {
	all    *Batches
	file   *file.Recorder
	number uint32
	tasks  map[int]*locality.TaskBlock
}

// maxKept is the most blocks of each kind that are kept.
const maxKept = 1024

// Rows returns the rows of the batch with a number.
func (b *Batches) Rows(number uint32) *Rows {
	return &Rows{b, b.file, number, make(map[int]*locality.TaskBlock)}
}

// jobBlock names a block of the jobs of a batch.
type jobBlock struct {
	batch uint32
	block int
}

// Jobs returns a block of jobs. It is part of locality.Rows, as are the methods that follow.
func (r *Rows) Jobs(block int) (*locality.JobBlock, error) {
	kept := r.all.jobs
	if b := kept[jobBlock{r.number, block}]; b != nil {
		return b, nil
	}
	key, payload, err := r.jobsRow(block)
	if err != nil {
		return nil, err
	}
	b, err := row.BatchJobsRow.Decode(key, payload)
	if err != nil {
		return nil, err
	}
	if kept == nil {
		kept = make(map[jobBlock]*locality.JobBlock)
		r.all.jobs = kept
	}
	if len(kept) >= maxKept {
		clear(kept)
	}
	kept[jobBlock{r.number, block}] = b
	return b, nil
}

func (r *Rows) jobsRow(block int) (key, payload []byte, err error) {
	key = row.BatchBlockKey(r.number, block)
	if payload, err = r.file.Get(row.BatchJobs, key); err == nil && payload == nil {
		err = fmt.Errorf("%w: block %d of the jobs of batch %d is missing", row.ErrDamaged, block, r.number)
	}
	return key, payload, err
}

// Before decodes no job, because a search through a batch calls it for many blocks.
func (r *Rows) Before(block int) ([]locality.Credit, error) {
	key, payload, err := r.jobsRow(block)
	if err != nil {
		return nil, err
	}
	return row.BatchCredit(key, payload)
}

// Tasks returns the states of a block of jobs.
func (r *Rows) Tasks(block int) (*locality.TaskBlock, error) {
	if b := r.tasks[block]; b != nil {
		return b, nil
	}
	key := row.BatchBlockKey(r.number, block)
	payload, err := r.file.Get(row.BatchTasks, key)
	if err != nil {
		return nil, err
	}
	b := &locality.TaskBlock{First: block * locality.BlockJobs}
	if payload != nil {
		if b, err = row.BatchTasksRow.Decode(key, payload); err != nil {
			return nil, err
		}
	}
	if len(r.tasks) >= maxKept && !r.file.Writable() { // an operation may hold a block that it is changing
		clear(r.tasks)
	}
	r.tasks[block] = b
	return b, nil
}

// PutTasks stores the states of a block of jobs.
func (r *Rows) PutTasks(block int, b *locality.TaskBlock) error {
	r.tasks[block] = b
	return r.file.Put(row.BatchTasks, row.BatchBlockKey(r.number, block), row.BatchTasksRow.Encode(b))
}

// Host finds a host.
func (r *Rows) Host(number uint32) (*locality.Host, error) { return r.all.host(number) }

// PutHost stores a host.
func (r *Rows) PutHost(h *locality.Host) error {
	return r.all.hosts.Put(h)
}

// Member returns a host's part in the batch, or nil.
func (r *Rows) Member(host uint32) (*locality.Member, error) {
	key := row.BatchBlockKey(r.number, int(host))
	payload, err := r.file.Get(row.BatchHosts, key)
	if err != nil || payload == nil {
		return nil, err
	}
	return row.MemberRow.Decode(key, payload)
}

// PutMember stores a host's part.
func (r *Rows) PutMember(m *locality.Member) error {
	return r.file.Put(row.BatchHosts, row.BatchBlockKey(r.number, int(m.Host)), row.MemberRow.Encode(m))
}

// EachMember calls fn for the hosts of the batch by number.
func (r *Rows) EachMember(fn func(*locality.Member) error) error {
	return r.file.Each(row.BatchHosts, row.Key32(r.number), func(key, payload []byte) (bool, error) {
		m, err := row.MemberRow.Decode(key, payload)
		if err != nil {
			return false, err
		}
		return true, fn(m)
	})
}

// CursorAt finds the range that holds a slot.
func (r *Rows) CursorAt(slot int) (*locality.Cursor, error) {
	key, payload, err := r.file.Before(row.BatchRanges, row.RangeKey(r.number, slot+1))
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(key, row.Key32(r.number)) {
		return nil, fmt.Errorf("%w: no range of batch %d holds slot %d", row.ErrDamaged, r.number, slot)
	}
	return row.DecodeRange(key, payload)
}

// PutCursor stores a range, and its place among the longest.
func (r *Rows) PutCursor(c *locality.Cursor) error {
	return r.all.ranges.Put(&row.BatchRange{Batch: r.number, Cursor: *c})
}

// Longest calls fn for the ranges by time left, the longest first.
func (r *Rows) Longest(fn func(*locality.Cursor) (bool, error)) error {
	return r.file.Each(row.BatchLongest, row.Key32(r.number), func(key, _ []byte) (bool, error) {
		if len(key) != 20 {
			return false, fmt.Errorf("%w: the key %x of table %s", row.ErrDamaged, key, row.BatchLongest)
		}
		c, err := r.CursorAt(int(binary.BigEndian.Uint64(key[12:])))
		if err != nil {
			return false, err
		}
		return fn(c)
	})
}

// PutBack records that a slot waits behind its cursor.
func (r *Rows) PutBack(slot int) error {
	return r.file.Mark(row.BatchBacks, row.RangeKey(r.number, slot))
}

// TakeBack removes that record.
func (r *Rows) TakeBack(slot int) error {
	return r.file.Remove(row.BatchBacks, row.RangeKey(r.number, slot))
}

// EachBack calls fn for such slots, from first to last.
func (r *Rows) EachBack(first, last int, fn func(slot int) (bool, error)) error {
	if first > last {
		return nil
	}
	return r.file.EachFrom(row.BatchBacks, row.RangeKey(r.number, first), row.Key32(r.number),
		func(key, _ []byte) (bool, error) {
			slot := int(binary.BigEndian.Uint64(key[4:]))
			if slot > last {
				return false, nil
			}
			return fn(slot)
		})
}

// PutDue stores a due.
func (r *Rows) PutDue(d locality.Due) error {
	return r.file.Mark(row.BatchDues, row.DueKey(r.number, d))
}

// TakeDue removes it.
func (r *Rows) TakeDue(d locality.Due) error {
	return r.file.Remove(row.BatchDues, row.DueKey(r.number, d))
}

// EachDue calls fn for what is due until an instant.
func (r *Rows) EachDue(until int64, fn func(locality.Due) (bool, error)) error {
	return r.file.Each(row.BatchDues, row.Key32(r.number), func(key, _ []byte) (bool, error) {
		d := row.SplitDueKey(key)
		if d.At > until {
			return false, nil
		}
		return fn(d)
	})
}
