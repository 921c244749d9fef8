package jobs

import (
	"fmt"
	"strconv"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
)

// changed returns a changed payload of a job with a new select. Only the job's owner may
// change it, because the owner's processes execute it.
func changed(tx *kernel.Tx, j *row.Job, selects string, change func(*kernel.Payload) error) (*kernel.Payload, error) {
	p, err := tx.Payloads().Of(j)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, row.Clash("job "+strconv.FormatUint(j.ID, 10),
			"it runs no command of ours: there is nothing of it to change")
	}
	if a := tx.Opt.Actor; a != nil && p.Owner != nil && a.UID != p.Owner.UID {
		return nil, fmt.Errorf("%w: the command of job %d is signed by %s, who alone can change it",
			kernel.ErrNotPermitted, j.ID, p.Owner.Name)
	}
	if err := change(p); err != nil {
		return nil, err
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	return p, p.Fits(selects)
}

// replace gives a job another payload, and signs the job. The caller puts the job.
func replace(tx *kernel.Tx, j *row.Job, p *kernel.Payload, sign Signer) error {
	key, err := carry(tx, p, 1)
	if err != nil {
		return err
	}
	if err := DropPayloads(tx, map[row.PayloadKey]uint64{j.Payload: 1}); err != nil {
		return err
	}
	j.Payload, j.Signature = key, nil
	return signPayload(tx, sign, j)
}

// Payload returns a job's payload. It is nil if the job has none, because it was placed, or
// submitted by an older version. It fails with ErrNotFound if there is no such job.
func (js Jobs) Payload(id uint64) (*kernel.Payload, error) {
	j, err := js.tx.Job(id)
	if err != nil {
		return nil, err
	}
	p, err := js.tx.Payloads().Of(j)
	if p == nil || err != nil {
		return nil, err
	}
	sees, err := users.RolesOf(js.tx).SeesRow(j)
	if !sees {
		p.Script, p.Env = "", nil
	}
	return p, err
}

// carry stores the payload of new jobs, once for all that share it.
func carry(tx *kernel.Tx, p *kernel.Payload, jobs int) (key row.PayloadKey, err error) {
	if p == nil {
		return key, nil
	}
	payload := row.PayloadRow.Encode(p.Row(uint64(jobs)))
	if key, err = row.HashPayload(payload); err != nil {
		return key, err
	}
	there, err := tx.File.Get(row.Payloads, key[:])
	if err != nil {
		return key, err
	}
	if there != nil {
		n, err := row.PayloadJobs(there)
		if err == nil {
			payload, err = row.RecountPayload(there, n+uint64(jobs))
		}
		if err != nil {
			return key, err
		}
	}
	return key, tx.File.Put(row.Payloads, key[:], payload)
}

// DropPayloads counts deleted jobs, by payload. A payload is deleted with its last job.
func DropPayloads(tx *kernel.Tx, gone map[row.PayloadKey]uint64) error {
	return row.EachPayload(gone, func(key row.PayloadKey, n uint64) error {
		payload, err := tx.Payloads().Row(key)
		if err != nil {
			return err
		}
		jobs, err := row.PayloadJobs(payload)
		switch {
		case err != nil:
			return err
		case jobs < n:
			return fmt.Errorf("%w: %d jobs carry %s, and %d of them go", row.ErrDamaged, jobs, key, n)
		case jobs == n:
			err = tx.File.Remove(row.Payloads, key[:])
		default:
			if payload, err = row.RecountPayload(payload, jobs-n); err == nil {
				err = tx.File.Put(row.Payloads, key[:], payload)
			}
		}
		return err
	})
}
