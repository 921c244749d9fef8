package backfill

import "github.com/placectl/placectl/timeline"

// processors is a machine with a number of processors, of which each job takes Job.Procs. A timeline
// holds running and planned jobs with their requests.
type processors struct {
	jobs []Job
	plan *timeline.Planner
	span []timeline.SpanID // of each job; 0 for none
	now  int64
	free int64 // now
}

func newProcessors(jobs []Job, procs, first, end int64) (*processors, error) {
	plan, err := timeline.New(procs, first, end)
	return &processors{jobs: jobs, plan: plan, span: make([]timeline.SpanID, len(jobs)), now: first, free: procs}, err
}

// Pass lets time pass until now, and reports whether that freed something: a job past its request counts
// as gone.
func (p *processors) Pass(now int64) (freed bool, err error) {
	p.now = now
	was := p.free
	err = p.count()
	return p.free > was, err
}

func (p *processors) count() (err error) {
	p.free, err = p.plan.FreeAt(p.now)
	return err
}

// Start gives a job its processors from now on, if they are free for all of its request.
func (p *processors) Start(job int32) (bool, error) {
	j := &p.jobs[job]
	if j.Procs > p.free {
		return false, nil
	}
	fits, err := p.plan.Fits(p.now, j.Request, j.Procs)
	if !fits || err != nil {
		return false, err
	}
	p.free -= j.Procs
	return true, p.add(job, p.now)
}

// Plan gives a job its processors from the earliest time at which they are free.
func (p *processors) Plan(job int32) (int64, error) {
	if err := p.Leave(job); err != nil {
		return 0, err
	}
	j := &p.jobs[job]
	at, err := p.plan.EarliestStart(p.now, j.Request, j.Procs)
	if err != nil {
		return 0, err
	}
	if at <= p.now {
		p.free -= j.Procs
	}
	return at, p.add(job, at)
}

func (p *processors) add(job int32, at int64) (err error) {
	j := &p.jobs[job]
	p.span[job], err = p.plan.Add(timeline.Span{Start: at, Duration: j.Request, Amount: j.Procs})
	return err
}

// Leave gives back what a job has, or has planned, if anything.
func (p *processors) Leave(job int32) error {
	span := p.span[job]
	if span == 0 {
		return nil
	}
	p.span[job] = 0
	if err := p.plan.Remove(span); err != nil {
		return err
	}
	return p.count()
}
