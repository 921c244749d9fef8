package store

import (
	"fmt"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/store/internal/row"
)

// BatchFile is a file of a batch: its name, and its size in bytes.
type BatchFile = row.BatchFile

// BatchMaker takes in the files and then the jobs of a new batch, one by one, so
// that neither list need be in memory.
type BatchMaker struct {
	tx     *Tx
	number uint32
	name   string
	files  []BatchFile // of a block that is not full
	count  int
	maker  *locality.Maker
	set    locality.Settings

	finished bool
}

// MakeBatch begins a batch: all of its files are to be added, then its jobs.
func (tx *Tx) MakeBatch(name string, s locality.Settings) (*BatchMaker, error) {
	if !index.ValidNodeName(name) {
		return nil, fmt.Errorf("%w batch name %q: at most 255 printable characters, without blanks, commas, quotes and ()+:=*?\\$;&|<>#", ErrInvalid, name)
	}
	if !tx.Writable() {
		return nil, ErrReadOnly
	}
	if err := tx.freeBatchName(name); err != nil {
		return nil, err
	}
	m := &BatchMaker{tx: tx, name: name, set: s}
	for _, other := range tx.loaded.makers {
		m.number = max(m.number, other.number+1)
	}
	err := tx.eachBatch(func(b *row.Batch) error {
		m.number = max(m.number, b.Number+1)
		return nil
	})
	if err != nil {
		return nil, err
	}
	tx.loaded.makers = append(tx.loaded.makers, m)
	return m, nil
}

func (tx *Tx) freeBatchName(name string) error {
	payload, err := tx.file.Get(row.Batches, []byte(name))
	if err == nil && payload != nil {
		err = taken("batch "+name, "")
	}
	return err
}

// flushMakers deletes what was added to batches that were not finished: another one
// may get their numbers.
func (tx *Tx) flushMakers() error {
	for _, m := range tx.loaded.makers {
		if m.finished {
			continue
		}
		if err := tx.removeBatchRows(m.number); err != nil {
			return err
		}
	}
	return nil
}

// AddFile adds the next file.
func (m *BatchMaker) AddFile(f BatchFile) error {
	if f.Size < 0 {
		return fmt.Errorf("%w size %d of file %q: less than 0", ErrInvalid, f.Size, f.Name)
	}
	m.files = append(m.files, f)
	if m.count++; m.count > locality.MaxFiles {
		return fmt.Errorf("%w: more than %d files", ErrInvalid, locality.MaxFiles)
	}
	if len(m.files) == row.BatchFileBlock {
		return m.keepFiles()
	}
	return nil
}

func (m *BatchMaker) keepFiles() error {
	if len(m.files) == 0 {
		return nil
	}
	key := row.BatchBlockKey(m.number, (m.count-1)/row.BatchFileBlock)
	err := m.tx.file.Put(row.BatchFiles, key, row.EncodeBatchFiles(m.files))
	m.files = m.files[:0]
	return err
}

// AddJob adds the next job; no file can come after it.
func (m *BatchMaker) AddJob(j locality.Job) error {
	if m.maker == nil {
		if err := m.keepFiles(); err != nil {
			return err
		}
		var err error
		if m.maker, err = locality.NewMaker(m.name, m.set, m.count, m.keep); err != nil {
			return batchError(m.name, err)
		}
	}
	return batchError("", m.maker.Add(j))
}

func (m *BatchMaker) keep(b *locality.JobBlock) error {
	return m.tx.file.Put(row.BatchJobs, row.BatchBlockKey(m.number, b.First/locality.BlockJobs), row.EncodeBatchJobs(b))
}

// Finish makes the batch of what was added. It fails with a Conflict where another one
// of its name was finished first.
func (m *BatchMaker) Finish() (*Batch, error) {
	if m.maker == nil {
		return nil, fmt.Errorf("%w batch %s: it has no jobs", ErrInvalid, m.name)
	}
	if err := m.tx.freeBatchName(m.name); err != nil {
		return nil, err
	}
	b, err := m.maker.Finish(newBatchRows(m.tx, m.number), m.tx.now)
	if err != nil {
		return nil, batchError(m.name, err)
	}
	payload := &row.Batch{Number: m.number, Batch: *b}
	if err := m.tx.putBatch(payload); err != nil {
		return nil, err
	}
	m.finished = true
	return &Batch{Batch: payload.Batch}, nil
}
