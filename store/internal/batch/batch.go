// Package batch offers the batches of package locality in a transaction.
package batch

import (
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/store/internal/access"
	"github.com/placectl/placectl/store/internal/batches"
	"github.com/placectl/placectl/store/internal/kernel"
	"github.com/placectl/placectl/store/internal/row"
)

// Batches are the batches of package locality in a transaction.
type Batches struct{ tx *kernel.Tx }

// BatchesOf returns the batches of a transaction.
func BatchesOf(tx *kernel.Tx) Batches { return Batches{tx} }

// Batch is the state of a batch.
type Batch struct {
	locality.Batch
	Bytes int64 // of all files that were sent
}

func batchOrNil(b *row.Batch, err error) (*Batch, error) {
	if err != nil {
		return nil, err
	}
	return &Batch{b.Batch, b.Bytes}, nil
}

// Each calls fn for the batches by name.
func (bs Batches) Each(fn func(*Batch) error) error {
	return bs.tx.Batches().Each(func(b *row.Batch) error { return fn(&Batch{b.Batch, b.Bytes}) })
}

// Get returns a batch.
func (bs Batches) Get(name string) (*Batch, error) { return batchOrNil(bs.tx.Batches().Find(name)) }

// Remove deletes a batch and all of its jobs. The measured speeds of its hosts are kept.
func (bs Batches) Remove(name string) (*Batch, error) {
	if err := access.RolesOf(bs.tx).OwnsBatch(name); err != nil {
		return nil, err
	}
	return batchOrNil(bs.tx.Batches().Remove(name))
}

// EachRange calls fn for the ranges of a batch in the order of slots.
func (bs Batches) EachRange(name string, fn func(*locality.Cursor) error) error {
	return bs.tx.Batches().EachRange(name, fn)
}

// EachHost calls fn for the hosts of a batch by number.
func (bs Batches) EachHost(name string, fn func(*locality.Host, *locality.Member) error) error {
	return bs.tx.Batches().EachHost(name, fn)
}

// Files returns files of a batch, by their place in its sequence.
func (bs Batches) Files(name string, span locality.Span) ([]NumberedFile, error) {
	files, err := bs.tx.Batches().Files(name, span)
	return numbered(files), err
}

// Places returns where the hosts of a batch work.
func (bs Batches) Places(name string) (locality.Places, error) { return bs.tx.Batches().Places(name) }

// EachJob calls fn for the jobs of a batch in order, with the state of each.
func (bs Batches) EachJob(name string, fn func(number int, j *locality.Job, t *locality.Task) error) error {
	return bs.tx.Batches().EachJob(name, fn)
}

// Host returns a host that works in batches.
func (bs Batches) Host(name string) (*locality.Host, error) { return bs.tx.Batches().Host(name) }

// BatchFile is a file of a batch.
type BatchFile struct {
	Name string
	Size int64 // bytes
}

// BatchMaker receives the files and then the jobs of a new batch, one by one, so that neither list
// must be in memory.
type BatchMaker struct{ m *batches.Maker }

// Make begins a batch. Add all its files first, then its jobs.
func (bs Batches) Make(name string, s locality.Settings) (*BatchMaker, error) {
	var by *uint32
	if a := bs.tx.Opt.Actor; a != nil {
		by = &a.UID
	}
	m, err := bs.tx.Batches().Make(name, s, by)
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

// Next gives a host work. With ErrBatchIdle and ErrBatchOver the grant lists what the host may
// delete, and you must still commit the transaction.
func (bs Batches) Next(name, host, user string, w locality.Want) (*BatchGrant, error) {
	if err := access.RolesOf(bs.tx).OwnsBatch(name); err != nil {
		return nil, err
	}
	g, err := bs.tx.Batches().Next(name, host, user, w)
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

// Done records a host's results of jobs. If the host does not hold one of them, it fails with a
// Conflict and records nothing.
func (bs Batches) Done(name, host string, jobs []int) ([]locality.Report, error) {
	if err := access.RolesOf(bs.tx).OwnsBatch(name); err != nil {
		return nil, err
	}
	return bs.tx.Batches().Done(name, host, jobs)
}

// Fail records a host's report that it could not do jobs.
func (bs Batches) Fail(name, host string, jobs []int) ([]locality.Report, error) {
	if err := access.RolesOf(bs.tx).OwnsBatch(name); err != nil {
		return nil, err
	}
	return bs.tx.Batches().Fail(name, host, jobs)
}

// Expire takes back jobs with expired leases.
func (bs Batches) Expire(name string) (locality.Expiry, error) {
	if err := access.RolesOf(bs.tx).OwnsBatch(name); err != nil {
		return locality.Expiry{}, err
	}
	return bs.tx.Batches().Expire(name)
}

// Recompute ages what is known of the hosts of a batch and recomputes its sums of speeds.
func (bs Batches) Recompute(name string) error {
	if err := access.RolesOf(bs.tx).OwnsBatch(name); err != nil {
		return err
	}
	return bs.tx.Batches().Recompute(name)
}
