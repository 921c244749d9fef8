// Package batch offers the batches of package locality in a transaction.
package batch

import (
	"github.com/placectl/placectl/internal/batches"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
	"github.com/placectl/placectl/locality"
)

// Batches are the batches of package locality in a transaction.
type Batches struct{ tx *kernel.Tx }

// BatchesOf returns the batches of a transaction.
func BatchesOf(tx *kernel.Tx) Batches { return Batches{tx} }

// Each calls fn for the batches by name.
func (bs Batches) Each(fn func(*row.Batch) error) error { return bs.tx.Batches().Each(fn) }

// Get returns a batch.
func (bs Batches) Get(name string) (*row.Batch, error) { return bs.tx.Batches().Find(name) }

// Remove deletes a batch and all of its jobs. The measured speeds of its hosts are kept.
func (bs Batches) Remove(name string) (*row.Batch, error) {
	if err := users.RolesOf(bs.tx).OwnsBatch(name); err != nil {
		return nil, err
	}
	return bs.tx.Batches().Remove(name)
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
func (bs Batches) Files(name string, span locality.Span) ([]batches.File, error) {
	return bs.tx.Batches().Files(name, span)
}

// Places returns where the hosts of a batch work.
func (bs Batches) Places(name string) (locality.Places, error) { return bs.tx.Batches().Places(name) }

// EachJob calls fn for the jobs of a batch in order, with the state of each.
func (bs Batches) EachJob(name string, fn func(number int, j *locality.Job, t *locality.Task) error) error {
	return bs.tx.Batches().EachJob(name, fn)
}

// Make begins a batch. Add all its files first, then its jobs.
func (bs Batches) Make(name string, s locality.Settings) (*batches.Maker, error) {
	var by *uint32
	if a := bs.tx.Opt.Actor; a != nil {
		by = &a.UID
	}
	return bs.tx.Batches().Make(name, s, by)
}

// Next gives a host work. With ErrBatchIdle and ErrBatchOver the grant lists what the host may
// delete, and you must still commit the transaction.
func (bs Batches) Next(name, host, user string, w locality.Want) (*batches.Grant, error) {
	if err := users.RolesOf(bs.tx).OwnsBatch(name); err != nil {
		return nil, err
	}
	return bs.tx.Batches().Next(name, host, user, w)
}

// Done records a host's results of jobs. If the host does not hold one of them, it fails with a
// Conflict and records nothing.
func (bs Batches) Done(name, host string, jobs []int) ([]locality.Report, error) {
	if err := users.RolesOf(bs.tx).OwnsBatch(name); err != nil {
		return nil, err
	}
	return bs.tx.Batches().Done(name, host, jobs)
}

// Fail records a host's report that it could not do jobs.
func (bs Batches) Fail(name, host string, jobs []int) ([]locality.Report, error) {
	if err := users.RolesOf(bs.tx).OwnsBatch(name); err != nil {
		return nil, err
	}
	return bs.tx.Batches().Fail(name, host, jobs)
}

// Expire takes back jobs with expired leases.
func (bs Batches) Expire(name string) (locality.Expiry, error) {
	if err := users.RolesOf(bs.tx).OwnsBatch(name); err != nil {
		return locality.Expiry{}, err
	}
	return bs.tx.Batches().Expire(name)
}

// Recompute ages what is known of the hosts of a batch and recomputes its sums of speeds.
func (bs Batches) Recompute(name string) error {
	if err := users.RolesOf(bs.tx).OwnsBatch(name); err != nil {
		return err
	}
	return bs.tx.Batches().Recompute(name)
}
