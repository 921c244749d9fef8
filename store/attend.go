package store

import (
	"slices"

	"github.com/placectl/placectl/store/internal/row"
)

// Attendant is a process that waits for a job's start and executes its command itself. As
// long as it or the command lives, it has a lock under its nonce.
type Attendant = row.Attendant

// Attend says who waits for a job's start, or has just started it by placing it. Should he
// be killed somebody on his host can tell, and end the job.
func (tx *Tx) Attend(id uint64, a Attendant) error {
	j, err := tx.forChange(id, "attended", JobHeld, JobQueued, JobReserved, JobRunning)
	if err != nil {
		return err
	}
	j.Attendant = &a
	if key := j.AttendedKey(); key != nil {
		if err := tx.file.Mark(row.Claimed, key); err != nil {
			return tx.spoil(err)
		}
	}
	return tx.putJob(j, j.State)
}

// AttendedOn lists the jobs that somebody on a host waits for, or executes himself.
func (tx *Tx) AttendedOn(host string) ([]*Job, error) {
	var ids []uint64
	err := tx.file.Each(row.Claimed, row.ClaimedPrefix(host), func(key, _ []byte) (bool, error) {
		_, job, _, err := row.SplitClaimedKey(key)
		ids = append(ids, job)
		return true, err
	})
	if err != nil {
		return nil, err
	}
	var list []*Job
	for _, id := range slices.Compact(ids) {
		j, err := tx.job(id)
		if err != nil {
			return nil, err
		}
		if j.Attendant != nil && j.Attendant.Host == host {
			list = append(list, jobOf(j))
		}
	}
	return list, nil
}
