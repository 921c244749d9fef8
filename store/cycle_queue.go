package store

import (
	"errors"

	"github.com/placectl/placectl/store/internal/row"
)

// listQueue lists the jobs that may have their nodes, in order.
func (p *pass) listQueue() error {
	var waiting []*row.Job
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
func (p *pass) stays(j *row.Job) (bool, error) {
	if j.Deadline != 0 && p.tx.now+j.Walltime > j.Deadline {
		return false, p.cancel(j, "it cannot end by its deadline, "+stamp(j.Deadline))
	}
	waitsFor, err := p.tx.ready(j)
	if errors.Is(err, errUnmet) {
		return false, p.cancel(j, err.Error())
	}
	p.waiting++
	if waitsFor != "" && j.State == JobReserved {
		err = p.tx.unplan(j, JobQueued, waitsFor+" again")
	}
	if err != nil || waitsFor != "" {
		return false, err
	}
	return j.Begin <= p.tx.now || j.State == JobReserved || p.spec.Backfill == Conservative, nil
}

func (p *pass) cancel(j *row.Job, reason string) error {
	p.cancelled = append(p.cancelled, j)
	return p.tx.ended(j, JobCancelled, reason)
}
