package store

import (
	"errors"
	"fmt"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// Batch is what a batch has come to.
type Batch struct {
	locality.Batch
	Bytes int64 // of all files that were sent
}

func (tx *Tx) putBatch(b *row.Batch) error {
	return tx.file.Put(row.Batches, []byte(b.Name), row.EncodeBatch(b))
}

func (tx *Tx) eachBatch(fn func(*row.Batch) error) error {
	return tx.file.Each(row.Batches, nil, func(key, payload []byte) (bool, error) {
		b, err := row.DecodeBatch(key, payload)
		if err != nil {
			return false, err
		}
		return true, fn(b)
	})
}

// EachBatch goes through the batches by name.
func (tx *Tx) EachBatch(fn func(*Batch) error) error {
	return tx.eachBatch(func(b *row.Batch) error { return fn(&Batch{b.Batch, b.Bytes}) })
}

func (tx *Tx) batch(name string) (*row.Batch, error) {
	b, err := tx.findBatch(name)
	if b == nil && err == nil {
		err = tx.missingBatch(name)
	}
	return b, err
}

// findBatch finds a batch, nil where there is none.
func (tx *Tx) findBatch(name string) (*row.Batch, error) {
	payload, err := tx.file.Get(row.Batches, []byte(name))
	if payload == nil || err != nil {
		return nil, err
	}
	return row.DecodeBatch([]byte(name), payload)
}

func (tx *Tx) missingBatch(name string) error {
	var names []string
	if err := tx.eachBatch(func(b *row.Batch) error {
		names = append(names, b.Name)
		return nil
	}); err != nil {
		return err
	}
	return fmt.Errorf("no batch %q%s: %w", name, index.DidYouMean(name, names), ErrNotFound)
}

// Batch finds a batch.
func (tx *Tx) Batch(name string) (*Batch, error) {
	b, err := tx.batch(name)
	if err != nil {
		return nil, err
	}
	return &Batch{b.Batch, b.Bytes}, nil
}

// RemoveBatch forgets a batch and all of its jobs. What its hosts have shown of
// their speed stays.
func (tx *Tx) RemoveBatch(name string) (*Batch, error) {
	if !tx.Writable() {
		return nil, ErrReadOnly
	}
	b, err := tx.batch(name)
	if err != nil {
		return nil, err
	}
	if err := tx.removeBatchRows(b.Number); err != nil {
		return nil, err
	}
	return &Batch{b.Batch, b.Bytes}, tx.file.Remove(row.Batches, []byte(name))
}

// removeBatchRows deletes all rows of a batch but its own.
func (tx *Tx) removeBatchRows(number uint32) error {
	for _, t := range []row.Table{row.BatchFiles, row.BatchJobs, row.BatchTasks, row.BatchHosts, row.BatchRanges, row.BatchLongest,
		row.BatchBacks, row.BatchDues} {
		if err := tx.file.RemoveAll(t, row.Key32(number)); err != nil {
			return err
		}
	}
	clear(tx.loaded.batchJobs) // another batch may get its number
	return nil
}

// work runs an operation of package locality on a batch and keeps what came of it.
func (tx *Tx) work(name string, fn func(*locality.Op, *row.Batch) error) (*row.Batch, error) {
	if !tx.Writable() {
		return nil, ErrReadOnly
	}
	b, err := tx.batch(name)
	if err != nil {
		return nil, err
	}
	op, err := locality.Begin(newBatchRows(tx, b.Number), &b.Batch, tx.now)
	if err == nil {
		err = fn(op, b)
	}
	if err != nil && !errors.Is(err, locality.ErrIdle) && !errors.Is(err, locality.ErrOver) {
		return nil, batchError(name, err)
	}
	if put := tx.putBatch(b); put != nil {
		return nil, tx.spoil(put)
	}
	return b, err
}

// batchError is an error of package locality as one of the store. A refusal to take
// an answer has changed nothing; what else fails may have.
func batchError(name string, err error) error {
	what := ""
	if name != "" {
		what = "batch " + name + ": "
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, locality.ErrInvalid), errors.Is(err, locality.ErrPolicy):
		return fmt.Errorf("%s%w%w", what, file.Wordless(ErrInvalid), err)
	case errors.Is(err, locality.ErrNoJob):
		return fmt.Errorf("%s%w%w", what, file.Wordless(ErrNotFound), err)
	case errors.Is(err, locality.ErrNotHeld):
		return fmt.Errorf("%s%w%w", what, file.Wordless(ErrConflict), err)
	case errors.Is(err, locality.ErrCorrupt):
		return fmt.Errorf("%s%w: %w", what, ErrDamaged, err)
	}
	return err
}
