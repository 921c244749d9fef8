// Package batches stores batches of jobs that share files, which package locality hands out to
// hosts. It makes batches, finds the rows that an operation needs, and writes the results
// back. It knows rows and locality, and nothing of transactions, nodes or the queue.
package batches

import (
	"errors"
	"fmt"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/state"
	"github.com/placectl/placectl/locality"
)

// Transaction receives the error of a change that failed halfway, and returns it.
type Transaction interface {
	Spoil(err error) error
}

// Batches are the batches of a store, within a transaction.
type Batches struct {
	file   *file.Recorder
	now    int64 // Unix seconds
	tx     Transaction
	hosts  *state.Table[locality.Host]
	ranges *state.Table[row.BatchRange]
	jobs   map[jobBlock]*locality.JobBlock
	makers []*Maker // begun in this transaction
}

// New returns the batches in a transaction's rows. A change that fails halfway is reported to
// the transaction.
func New(rows *file.Recorder, now int64, tx Transaction) *Batches {
	return &Batches{file: rows, hosts: state.NewTable(rows, &row.HostRows, nil),
		ranges: state.NewTable(rows, &row.RangeRows, nil), now: now, tx: tx}
}

func (b *Batches) put(one *row.Batch) error {
	return b.file.Put(row.Batches, []byte(one.Name), row.BatchRow.Encode(one))
}

// Each calls fn for the batches by name.
func (b *Batches) Each(fn func(*row.Batch) error) error {
	return b.file.Each(row.Batches, nil, func(key, payload []byte) (bool, error) {
		one, err := row.BatchRow.Decode(key, payload)
		if err != nil {
			return false, err
		}
		return true, fn(one)
	})
}

// Find finds a batch by its name.
func (b *Batches) Find(name string) (*row.Batch, error) {
	payload, err := b.file.Get(row.Batches, []byte(name))
	if err != nil {
		return nil, err
	}
	if payload == nil {
		return nil, b.missing(name)
	}
	return row.BatchRow.Decode([]byte(name), payload)
}

func (b *Batches) missing(name string) error {
	var names []string
	if err := b.Each(func(one *row.Batch) error {
		names = append(names, one.Name)
		return nil
	}); err != nil {
		return err
	}
	return fmt.Errorf("no batch %q%s: %w", name, index.DidYouMean(name, names), row.ErrNotFound)
}

// Remove deletes a batch and all of its jobs, and returns its last state. The measured speeds
// of its hosts are kept.
func (b *Batches) Remove(name string) (*row.Batch, error) {
	if !b.file.Writable() {
		return nil, file.ErrReadOnly
	}
	one, err := b.Find(name)
	if err != nil {
		return nil, err
	}
	if err := b.removeRows(one.Number); err != nil {
		return nil, err
	}
	return one, b.file.Remove(row.Batches, []byte(name))
}

// removeRows deletes all rows of a batch except the batch's own row.
func (b *Batches) removeRows(number uint32) error {
	for _, t := range []row.Table{row.BatchFiles, row.BatchJobs, row.BatchTasks, row.BatchHosts, row.BatchRanges,
		row.BatchLongest,
		row.BatchBacks, row.BatchDues} {
		if err := b.file.RemoveAll(t, row.Key32(number)); err != nil {
			return err
		}
	}
	clear(b.jobs) // another batch may get its number
	return nil
}

// work runs an operation of package locality on a batch and stores the result.
func (b *Batches) work(name string, fn func(*locality.Op, *row.Batch) error) (*row.Batch, error) {
	if !b.file.Writable() {
		return nil, file.ErrReadOnly
	}
	one, err := b.Find(name)
	if err != nil {
		return nil, err
	}
	op, err := locality.Begin(b.Rows(one.Number), &one.Batch, b.now)
	if err == nil {
		err = fn(op, one)
	}
	if err != nil && !errors.Is(err, locality.ErrIdle) && !errors.Is(err, locality.ErrOver) {
		return nil, explained(name, err)
	}
	if put := b.put(one); put != nil {
		return nil, b.tx.Spoil(put)
	}
	return one, err
}

// explained converts an error of package locality to one of the store. A refused answer has
// changed nothing; any other failure may have.
func explained(name string, err error) error {
	what := ""
	if name != "" {
		what = "batch " + name + ": "
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, locality.ErrInvalid), errors.Is(err, locality.ErrPolicy):
		return fmt.Errorf("%s%w%w", what, file.Wordless(row.ErrInvalid), err)
	case errors.Is(err, locality.ErrNoJob):
		return fmt.Errorf("%s%w%w", what, file.Wordless(row.ErrNotFound), err)
	case errors.Is(err, locality.ErrNotHeld):
		return fmt.Errorf("%s%w%w", what, file.Wordless(row.ErrConflict), err)
	case errors.Is(err, locality.ErrCorrupt):
		return fmt.Errorf("%s%w: %w", what, row.ErrDamaged, err)
	}
	return err
}
