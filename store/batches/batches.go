// Package batches keeps batches of package locality in a database: each job of a batch works on a stretch of files,
// and hosts that ask for work get jobs whose files they have. The rules are in package locality.
//
//	maker, err := batches.Make(tx, "night", locality.Settings{})
//	... maker.AddFile for each file, then maker.AddJob for each job, then maker.Finish
//	grant, err := batches.Next(tx, "night", host, user, locality.Want{Jobs: 1})
//	... fetch the files, do the jobs ...
//	_, err = batches.Done(tx, "night", host, []int{job})
//
// Each user may use that user's batches, and operators all.
package batches

import (
	"iter"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/store"
)

// ErrIdle and ErrOver say why a host got no work: none of what waits is for it now, or nothing waits. After
// ErrOver jobs may come back from hosts that died: ask again until Over of [Get]'s batch.
var (
	ErrIdle = locality.ErrIdle
	ErrOver = locality.ErrOver
)

// File is a file of a batch.
type File struct {
	Number int // in its sequence, from 0
	Name   string
	Size   int64 // bytes
}

// Grant is a host's work.
type Grant struct {
	Jobs   []locality.Given
	Fetch  []File // that it lacks
	Delete []File // that it need not keep
}

// Maker takes in the files and then the jobs of a new batch, one by one.
type Maker struct{ m *engine.BatchMaker }

// Make begins a batch. It fails with store.ErrExists if there is one of the name.
func Make(tx *store.Tx, name string, s locality.Settings) (*Maker, error) {
	m, err := engine.TxOf(tx).Batches().Make(name, s)
	if err != nil {
		return nil, err
	}
	return &Maker{m}, nil
}

// AddFile adds the next file. Its number is ignored.
func (m *Maker) AddFile(f File) error {
	return m.m.AddFile(engine.BatchFile{Name: f.Name, Size: f.Size})
}

// AddJob adds the next job, whose files were added before.
func (m *Maker) AddJob(j locality.Job) error { return m.m.AddJob(j) }

// Finish ends the making. Without it there is no batch.
func (m *Maker) Finish() error {
	_, err := m.m.Finish()
	return err
}

// Get returns a batch.
func Get(tx *store.Tx, name string) (*locality.Batch, error) {
	b, err := engine.TxOf(tx).Batches().Get(name)
	if err != nil {
		return nil, err
	}
	return &b.Batch, nil
}

// All iterates over the batches by name.
func All(tx *store.Tx) iter.Seq2[*locality.Batch, error] {
	return kernel.Seq(engine.TxOf(tx).Batches().Each,
		func(b *engine.Batch) (*locality.Batch, error) { return &b.Batch, nil })
}

// Files returns files of a batch by their numbers.
func Files(tx *store.Tx, name string, span locality.Span) ([]File, error) {
	list, err := engine.TxOf(tx).Batches().Files(name, span)
	return filesOf(list), err
}

func filesOf(list []engine.NumberedFile) []File {
	return kernel.Converted(list, func(f engine.NumberedFile) File { return File{f.Number, f.Name, f.Size} })
}

// Next gives a host work. If the error is ErrIdle or ErrOver, the grant lists what the host may delete, and the
// transaction must be kept all the same: return nil from its function.
func Next(tx *store.Tx, name, host, user string, w locality.Want) (*Grant, error) {
	g, err := engine.TxOf(tx).Batches().Next(name, host, user, w)
	if g == nil {
		return nil, err
	}
	return &Grant{g.Jobs, filesOf(g.Fetch), filesOf(g.Delete)}, err
}

// Done records a host's results of jobs. If the host does not hold one of them, it fails with a
// store.Conflict and records nothing: a lease that is over takes the others of the list with it, so repeat it without
// that job, or report each alone. A job or host that is not there is an ErrNotFound.
func Done(tx *store.Tx, name, host string, jobs []int) ([]locality.Report, error) {
	return engine.TxOf(tx).Batches().Done(name, host, jobs)
}

// Fail records that a host could not do jobs.
func Fail(tx *store.Tx, name, host string, jobs []int) ([]locality.Report, error) {
	return engine.TxOf(tx).Batches().Fail(name, host, jobs)
}

// Expire takes back the jobs whose leases are over. Next does so, too: call it to see what came back, or if no
// host asks.
func Expire(tx *store.Tx, name string) (locality.Expiry, error) {
	return engine.TxOf(tx).Batches().Expire(name)
}

// Remove deletes a batch and all of its jobs. The measured speeds of its hosts are kept.
func Remove(tx *store.Tx, name string) error {
	_, err := engine.TxOf(tx).Batches().Remove(name)
	return err
}
