package queue

import (
	"cmp"
	"slices"

	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/row"
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

// announces reports whether this cycle reports a job for launching when it starts: not if its
// report is not acted on, or what launches the jobs of this site takes it. In a play all are launched.
func (p *pass) announces(j *row.Job) (bool, error) {
	set, err := p.tx.Settings()
	switch {
	case err != nil || p.spec.Silent:
		return false, err
	case p.playing != nil:
		return true, nil
	case p.spec.By == row.BySupervisor:
		return false, nil
	}
	return p.spec.By != row.ByNobody || set.Launch == "" || !j.HasCommand(), nil
}

// starts notes a job that this cycle has started, and reports it for launching if it was announced.
func (p *pass) starts(j *row.Job) {
	p.started = append(p.started, j)
	if j.Launched {
		p.launch = append(p.launch, j)
	}
}

// launches reports the jobs that have not been reported for launching, among them those that
// earlier cycles or their own plans started.
func (p *pass) launches() error {
	ids, err := p.tx.ToBeLaunched()
	if err != nil {
		return err
	}
	for _, id := range ids {
		j, err := p.tx.ListedJob(id)
		if err != nil {
			return err
		}
		announced, err := p.announces(j)
		if err != nil {
			return err
		}
		if !announced {
			continue
		}
		j.Launched = true
		if err := jobs.PutJob(p.tx, j, j.State); err != nil {
			return err
		}
		p.launch = append(p.launch, j)
	}
	slices.SortFunc(p.launch, func(a, b *row.Job) int { return cmp.Compare(a.ID, b.ID) })
	if p.spec.By != row.ByLauncher || p.playing != nil {
		return nil
	}
	for _, j := range p.launch {
		a, err := p.tx.Attempts().Of(j, j.CurrentAttempt())
		if err != nil {
			return err
		}
		p.tx.Executed()
		a.State, a.By, a.Nonce, a.Claimed, a.Chunks, a.Along = row.AttemptClaimed, row.ByLauncher, p.spec.Nonce,
			p.tx.Now, nil, nil
		if err := p.tx.Attempts().Put(a); err != nil {
			return err
		}
	}
	return nil
}
