package queue

import (
	"container/heap"
	"slices"

	"github.com/placectl/placectl/internal/row"
)

// goesOn records how long jobs past their end are expected to keep their nodes.
func (p *Playing) goesOn() error {
	late, err := OverdueJobs(p.Tx)
	p.overrun = make(map[uint64]int64, len(late))
	for _, j := range late {
		until := p.Tx.Now + p.Tx.Overrun(row.JobOwner(j.ID))
		p.overrun[j.ID] = until
		heap.Push(&p.ends, jobEnd{until, j.Start, j.ID})
	}
	return err
}

// jobEnd is the end of a job that started at an instant.
type jobEnd struct {
	at, start int64
	job       uint64
}

// ends is a heap of ends, the first one on top.
type ends []jobEnd

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, j int) bool { return e[i].at < e[j].at }
func (e ends) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *ends) Push(x any)        { *e = append(*e, x.(jobEnd)) } //nolint:forcetypeassert // only jobEnds are pushed
func (e *ends) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// runs records the end of a running job if it comes before its walltime is over.
func (p *Playing) runs(j *row.Job, ran int64) error {
	if p.spec.Runs == nil {
		return nil
	}
	likely, err := p.spec.Runs(j, ran)
	if end := j.Start + likely; err == nil && end < j.End {
		heap.Push(&p.ends, jobEnd{max(end, p.Tx.Now), j.Start, j.ID})
	}
	return err
}

// finish ends the jobs whose end has come.
func (p *Playing) finish() error {
	tx := p.Tx
	late, err := OverdueJobs(tx)
	if err != nil {
		return err
	}
	late = slices.DeleteFunc(late, func(j *row.Job) bool { return p.overrun[j.ID] > tx.Now })
	for len(p.ends) > 0 && p.ends[0].at <= tx.Now {
		e := heap.Pop(&p.ends).(jobEnd) //nolint:forcetypeassert // only jobEnds are pushed
		j, err := tx.ListedJob(e.job)
		if err != nil {
			return err
		}
		if j.State == row.JobRunning && j.Start == e.start && !j.Ending && j.End > tx.Now {
			late = append(late, j)
		}
	}
	for _, j := range late {
		if err := finish(tx, j); err != nil {
			return err
		}
	}
	return nil
}
