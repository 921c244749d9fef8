package cycle

import (
	"cmp"

	"github.com/placectl/placectl/store/internal/row"
)

// stops reports the jobs whose launchers have not been told yet to stop them.
func (p *pass) stops() error {
	var had []*row.Job
	err := p.tx.File.Each(row.Stops, nil, func(key, payload []byte) (bool, error) {
		j, err := row.DecodeJob(key, payload)
		had = append(had, j)
		return true, err
	})
	if err != nil {
		return err
	}
	for _, j := range had {
		is, err := p.tx.ListedJob(j.ID)
		if err != nil {
			return err
		}
		becomes := is.State
		if becomes == row.JobRunning { // it has started again
			becomes = row.JobQueued
		}
		j.State, j.Reason, j.End = becomes, cmp.Or(p.why[j.ID], is.Reason), p.tx.Now
		if err := p.tx.File.Remove(row.Stops, row.Key64(j.ID)); err != nil {
			return err
		}
		p.stopped = append(p.stopped, j)
	}
	return nil
}
