package store

import (
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/store/internal/batches"
	"github.com/placectl/placectl/store/internal/row"
)

// Batch is the state of a batch.
type Batch struct {
	locality.Batch
	Bytes int64 // of all files that were sent
}

// batches are the batches of the transaction.
func (tx *Tx) batches() *batches.Batches {
	if tx.loaded.batches == nil {
		tx.loaded.batches = batches.New(tx.file, tx.now, tx.spoil)
	}
	return tx.loaded.batches
}

func batchOrNil(b *row.Batch, err error) (*Batch, error) {
	if err != nil {
		return nil, err
	}
	return &Batch{b.Batch, b.Bytes}, nil
}

// EachBatch goes through the batches by name.
func (tx *Tx) EachBatch(fn func(*Batch) error) error {
	return tx.batches().Each(func(b *row.Batch) error { return fn(&Batch{b.Batch, b.Bytes}) })
}

// Batch finds a batch.
func (tx *Tx) Batch(name string) (*Batch, error) { return batchOrNil(tx.batches().Find(name)) }

// RemoveBatch forgets a batch and all of its jobs. What its hosts have shown of
// their speed stays.
func (tx *Tx) RemoveBatch(name string) (*Batch, error) {
	if err := RolesOf(tx).ownsBatch(name); err != nil {
		return nil, err
	}
	return batchOrNil(tx.batches().Remove(name))
}

// EachBatchRange goes through the ranges of a batch in the order of slots.
func (tx *Tx) EachBatchRange(name string, fn func(*locality.Cursor) error) error {
	return tx.batches().EachRange(name, fn)
}

// EachBatchHost goes through the hosts of a batch by number.
func (tx *Tx) EachBatchHost(name string, fn func(*locality.Host, *locality.Member) error) error {
	return tx.batches().EachHost(name, fn)
}

// BatchPlaces is where the hosts of a batch work.
func (tx *Tx) BatchPlaces(name string) (locality.Places, error) { return tx.batches().Places(name) }

// EachBatchJob goes through the jobs of a batch in order, with what became of each.
func (tx *Tx) EachBatchJob(name string, fn func(number int, j *locality.Job, t *locality.Task) error) error {
	return tx.batches().EachJob(name, fn)
}

// Host finds a host that works in batches.
func (tx *Tx) Host(name string) (*locality.Host, error) { return tx.batches().Host(name) }

// BatchFile is a file of a batch.
type BatchFile struct {
	Name string
	Size int64 // bytes
}

// BatchMaker takes in the files and then the jobs of a new batch, one by one, so
// that neither list need be in memory.
type BatchMaker struct{ m *batches.Maker }

// MakeBatch begins a batch. Add all its files first, then its jobs.
func (tx *Tx) MakeBatch(name string, s locality.Settings) (*BatchMaker, error) {
	var by *uint32
	if a := tx.opt.Actor; a != nil {
		by = &a.UID
	}
	m, err := tx.batches().Make(name, s, by)
	if err != nil {
		return nil, err
	}
	return &BatchMaker{m}, nil
}

// AddFile adds the next file.
func (m *BatchMaker) AddFile(f BatchFile) error { return m.m.AddFile(row.BatchFile(f)) }

// AddJob adds the next job; no file can come after it.
func (m *BatchMaker) AddJob(j locality.Job) error { return m.m.AddJob(j) }

// Finish makes the batch. It fails with a Conflict if another one of its name was finished first.
func (m *BatchMaker) Finish() (*Batch, error) { return batchOrNil(m.m.Finish()) }

// ErrBatchIdle and ErrBatchOver say why a host was given nothing: there is nothing
// for it now, or nothing waits any more.
var (
	ErrBatchIdle = locality.ErrIdle
	ErrBatchOver = locality.ErrOver
)

// BatchGrant is a host's work, with its files by name.
type BatchGrant struct {
	Jobs   []locality.Given
	Fetch  []NumberedFile
	Delete []NumberedFile
}

// NumberedFile is a file of a batch and its number.
type NumberedFile struct {
	Number int
	BatchFile
}

// BatchNext gives a host work. With ErrBatchIdle and ErrBatchOver the grant lists what the host may
// delete, and you must still commit the transaction.
func (tx *Tx) BatchNext(name, host, user string, w locality.Want) (*BatchGrant, error) {
	if err := RolesOf(tx).ownsBatch(name); err != nil {
		return nil, err
	}
	g, err := tx.batches().Next(name, host, user, w)
	if g == nil {
		return nil, err
	}
	return &BatchGrant{g.Jobs, numbered(g.Fetch), numbered(g.Delete)}, err
}

func numbered(list []batches.File) (out []NumberedFile) {
	for _, f := range list {
		out = append(out, NumberedFile{f.Number, BatchFile(f.BatchFile)})
	}
	return out
}

// BatchDone takes a host's results of jobs. One that it does not hold is a Conflict,
// and nothing of the call is kept.
func (tx *Tx) BatchDone(name, host string, jobs []int) ([]locality.Report, error) {
	if err := RolesOf(tx).ownsBatch(name); err != nil {
		return nil, err
	}
	return tx.batches().Done(name, host, jobs)
}

// BatchFail takes a host's report that it could not do jobs.
func (tx *Tx) BatchFail(name, host string, jobs []int) ([]locality.Report, error) {
	if err := RolesOf(tx).ownsBatch(name); err != nil {
		return nil, err
	}
	return tx.batches().Fail(name, host, jobs)
}

// BatchExpire takes back jobs with expired leases.
func (tx *Tx) BatchExpire(name string) (locality.Expiry, error) {
	if err := RolesOf(tx).ownsBatch(name); err != nil {
		return locality.Expiry{}, err
	}
	return tx.batches().Expire(name)
}

// BatchRecompute ages what is known of the hosts of a batch and recomputes its sums of speeds.
func (tx *Tx) BatchRecompute(name string) error {
	if err := RolesOf(tx).ownsBatch(name); err != nil {
		return err
	}
	return tx.batches().Recompute(name)
}
