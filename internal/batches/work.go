package batches

import (
	"errors"
	"fmt"

	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/locality"
)

// Grant is a host's work, with its files by name.
type Grant struct {
	Jobs   []locality.Given
	Fetch  []File
	Delete []File
}

// File is a file of a batch and its number.
type File struct {
	Number int
	row.BatchFile
}

// Next gives a host work. With locality.ErrIdle and ErrOver the grant lists what the host may
// delete, and you must still commit the transaction.
func (b *Batches) Next(name, host, user string, w locality.Want) (*Grant, error) {
	if w.Jobs < 0 || w.Seconds < 0 || w.Lease < 0 {
		return nil, fmt.Errorf("%w: a host cannot want less than nothing: %+v", row.ErrInvalid, w)
	}
	var out Grant
	one, why := b.work(name, func(op *locality.Op, one *row.Batch) error {
		h, err := b.meet(host, user)
		if err != nil {
			return err
		}
		if _, err := op.Expire(); err != nil {
			return err
		}
		if h, err = b.host(h.Number); err != nil {
			return err
		}
		g, why := op.Next(h, w)
		if why != nil && !errors.Is(why, locality.ErrIdle) && !errors.Is(why, locality.ErrOver) {
			return b.tx.Spoil(why)
		}
		out.Jobs = g.Jobs
		if out.Fetch, err = b.files(one.Number, g.Fetch); err != nil {
			return err
		}
		for _, f := range out.Fetch {
			if !g.Again {
				one.Bytes += f.Size
			}
		}
		if out.Delete, err = b.files(one.Number, g.Delete); err != nil {
			return err
		}
		return why
	})
	if one == nil {
		return nil, why
	}
	return &out, why
}

// files finds the files of some spans.
func (b *Batches) files(batch uint32, spans []locality.Span) ([]File, error) {
	var out []File
	block := new([]row.BatchFile)
	have := -1
	for _, s := range spans {
		for n := s.A; n <= s.B; n++ {
			if n/row.BatchFileBlock != have {
				have = n / row.BatchFileBlock
				key := row.BatchBlockKey(batch, have)
				payload, err := b.file.Get(row.BatchFiles, key)
				if err != nil {
					return nil, err
				}
				if block, err = row.BatchFilesRow.Decode(key, payload); err != nil {
					return nil, err
				}
			}
			f := File{Number: n}
			if n%row.BatchFileBlock < len(*block) {
				f.BatchFile = (*block)[n%row.BatchFileBlock]
			}
			out = append(out, f)
		}
	}
	return out, nil
}

// Done records a host's results of jobs. If the host does not hold one of them, it fails with
// a Conflict and records nothing.
func (b *Batches) Done(name, host string, jobs []int) ([]locality.Report, error) {
	return b.answer(name, host, jobs, (*locality.Op).Done)
}

// Fail records a host's report that it could not do jobs.
func (b *Batches) Fail(name, host string, jobs []int) ([]locality.Report, error) {
	return b.answer(name, host, jobs, (*locality.Op).Fail)
}

func (b *Batches) answer(name, host string, jobs []int, take func(*locality.Op, *locality.Host, int) (locality.Report,
	error)) ([]locality.Report, error) {
	var out []locality.Report
	_, err := b.work(name, func(op *locality.Op, _ *row.Batch) error {
		for i, job := range jobs {
			h, err := b.Host(host)
			if err != nil {
				return err
			}
			r, err := take(op, h, job)
			if err != nil && i > 0 {
				return b.tx.Spoil(err)
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

// Expire takes back jobs with expired leases.
func (b *Batches) Expire(name string) (locality.Expiry, error) {
	var out locality.Expiry
	_, err := b.work(name, func(op *locality.Op, _ *row.Batch) (err error) {
		out, err = op.Expire()
		return b.tx.Spoil(err)
	})
	return out, err
}

// Recompute ages what is known of the hosts of a batch and recomputes its sums of speeds.
func (b *Batches) Recompute(name string) error {
	_, err := b.work(name, func(op *locality.Op, _ *row.Batch) error { return b.tx.Spoil(op.Recompute()) })
	return err
}
