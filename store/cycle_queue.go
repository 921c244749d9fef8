package store

import (
	"errors"

	"github.com/placectl/placectl/store/internal/row"
)

// listQueue lists the jobs that may have their nodes, in order.
func (p *pass) listQueue() error {
	var waiting []*Job
	err := p.tx.file.Each(row.Waiting, nil, func(key, _ []byte) (bool, error) {
		j, err := p.tx.waitingJob(key)
		waiting = append(waiting, j)
		return true, err
	})
	if err != nil {
		return err
	}
	for _, j := range waiting {
		stays, err := p.stays(j)
		if err != nil {
			return err
		}
		if stays {
			p.queue = append(p.queue, j)
		} else if j.State.Live() {
			p.aside = append(p.aside, j)
		}
	}
	return nil
}

// stays reports whether a waiting job may have its nodes. One that waits in vain is
// cancelled.
func (p *pass) stays(j *Job) (bool, error) {
	if j.Deadline != 0 && p.tx.now+j.Walltime > j.Deadline {
		return false, p.cancel(j, "it cannot end by its deadline, "+stamp(j.Deadline))
	}
	waitsFor, err := p.tx.ready(j)
	if errors.Is(err, errUnmet) {
		return false, p.cancel(j, err.Error())
	}
	p.Waiting++
	if waitsFor != "" && j.State == JobReserved {
		err = p.tx.unplan(j, JobQueued, waitsFor+" again")
	}
	if err != nil || waitsFor != "" {
		return false, err
	}
	return j.Begin <= p.tx.now || j.State == JobReserved || p.spec.Backfill == Conservative, nil
}

func (p *pass) cancel(j *Job, reason string) error {
	p.Cancelled = append(p.Cancelled, j)
	return p.tx.ended(j, JobCancelled, reason)
}
