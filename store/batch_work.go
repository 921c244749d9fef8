package store

import (
	"errors"

	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/store/internal/row"
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
	var out BatchGrant
	b, why := tx.work(name, func(op *locality.Op, b *row.Batch) error {
		h, err := tx.meetHost(host, user)
		if err != nil {
			return err
		}
		if _, err := op.Expire(); err != nil {
			return err
		}
		if h, err = tx.host(h.Number); err != nil {
			return err
		}
		g, why := op.Next(h, w)
		if why != nil && !errors.Is(why, ErrBatchIdle) && !errors.Is(why, ErrBatchOver) {
			return tx.spoil(why)
		}
		out.Jobs = g.Jobs
		if out.Fetch, err = tx.batchFiles(b.Number, g.Fetch); err != nil {
			return err
		}
		for _, f := range out.Fetch {
			if !g.Again {
				b.Bytes += f.Size
			}
		}
		if out.Delete, err = tx.batchFiles(b.Number, g.Delete); err != nil {
			return err
		}
		return why
	})
	if b == nil {
		return nil, why
	}
	return &out, why
}

// batchFiles finds the files of some spans.
func (tx *Tx) batchFiles(batch uint32, spans []locality.Span) ([]NumberedFile, error) {
	var out []NumberedFile
	var block []BatchFile
	have := -1
	for _, s := range spans {
		for n := s.A; n <= s.B; n++ {
			if n/row.BatchFileBlock != have {
				have = n / row.BatchFileBlock
				key := row.BatchBlockKey(batch, have)
				payload, err := tx.file.Get(row.BatchFiles, key)
				if err != nil {
					return nil, err
				}
				if block, err = row.DecodeBatchFiles(key, payload); err != nil {
					return nil, err
				}
			}
			f := NumberedFile{Number: n}
			if n%row.BatchFileBlock < len(block) {
				f.BatchFile = block[n%row.BatchFileBlock]
			}
			out = append(out, f)
		}
	}
	return out, nil
}

// BatchDone takes a host's results of jobs. One that it does not hold is a Conflict,
// and nothing of the call is kept.
func (tx *Tx) BatchDone(name, host string, jobs []int) ([]locality.Report, error) {
	return tx.batchAnswer(name, host, jobs, (*locality.Op).Done)
}

// BatchFail takes a host's report that it could not do jobs.
func (tx *Tx) BatchFail(name, host string, jobs []int) ([]locality.Report, error) {
	return tx.batchAnswer(name, host, jobs, (*locality.Op).Fail)
}

func (tx *Tx) batchAnswer(name, host string, jobs []int, answer func(*locality.Op, *locality.Host, int) (locality.Report, error)) ([]locality.Report, error) {
	var out []locality.Report
	_, err := tx.work(name, func(op *locality.Op, _ *row.Batch) error {
		for i, job := range jobs {
			h, err := tx.Host(host)
			if err != nil {
				return err
			}
			r, err := answer(op, h, job)
			if err != nil && i > 0 {
				return tx.spoil(err)
			}
			if err != nil {
				return err
			}
			out = append(out, r)
		}
		return nil
	})
	return out, err
}

// BatchExpire takes back what is overdue in a batch.
func (tx *Tx) BatchExpire(name string) (locality.Expiry, error) {
	var out locality.Expiry
	_, err := tx.work(name, func(op *locality.Op, _ *row.Batch) (err error) {
		out, err = op.Expire()
		return tx.spoil(err)
	})
	return out, err
}

// BatchRecompute ages what is known of the hosts of a batch and builds its sums of
// speeds anew.
func (tx *Tx) BatchRecompute(name string) error {
	_, err := tx.work(name, func(op *locality.Op, _ *row.Batch) error { return tx.spoil(op.Recompute()) })
	return err
}
