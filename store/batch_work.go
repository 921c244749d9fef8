package store

import (
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/store/internal/batches"
)

// ErrBatchIdle and ErrBatchOver say why a host was given nothing: there is nothing
// for it now, or nothing waits any more.
var (
	ErrBatchIdle = locality.ErrIdle
	ErrBatchOver = locality.ErrOver
)

// BatchGrant is what a host is given, with its files by name.
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

// BatchNext gives a host work. With ErrBatchIdle and ErrBatchOver the grant says
// what it may delete, and the transaction is to be kept.
func (tx *Tx) BatchNext(name, host, user string, w locality.Want) (*BatchGrant, error) {
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
	return tx.batches().Done(name, host, jobs)
}

// BatchFail takes a host's report that it could not do jobs.
func (tx *Tx) BatchFail(name, host string, jobs []int) ([]locality.Report, error) {
	return tx.batches().Fail(name, host, jobs)
}

// BatchExpire takes back what is overdue in a batch.
func (tx *Tx) BatchExpire(name string) (locality.Expiry, error) { return tx.batches().Expire(name) }

// BatchRecompute ages what is known of the hosts of a batch and builds its sums of
// speeds anew.
func (tx *Tx) BatchRecompute(name string) error { return tx.batches().Recompute(name) }
