package backfill

// plans is conservative backfilling on any machine, by the letter of the rules. On a
// machine of processors alone, plan does the same in less time.
type plans struct {
	sim     *simulation
	machine Machine
	waiting []int32 // by submission; some may have started since the last pass
	moved   bool    // some job did, in the last pass
}

func (p *plans) submitted(job int32, now int64) error {
	if _, err := p.machine.Pass(now); err != nil {
		return err
	}
	at, err := p.machine.Plan(job)
	if err != nil {
		return err
	}
	p.sim.decide(job, at)
	p.waiting = append(p.waiting, job)
	return nil
}

// ended gives back what the job had planned beyond its end. When that is nothing
// and nobody moved in the last pass, every job was looked at in the plan as it
// still is.
func (p *plans) ended(job int32, now int64) error {
	if _, err := p.machine.Pass(now); err != nil {
		return err
	}
	until := p.sim.start[job] + p.sim.jobs[job].Request
	if until > now {
		if err := p.machine.Leave(job); err != nil {
			return err
		}
	}
	if until > now || p.moved {
		return p.pass(now)
	}
	return nil
}

// pass moves the jobs whose time has not come, as far forward as they fit.
func (p *plans) pass(now int64) error {
	kept := 0
	p.moved = false
	for _, job := range p.waiting {
		old := p.sim.start[job]
		if old <= now {
			continue
		}
		p.waiting[kept] = job
		kept++
		at, err := p.machine.Plan(job)
		if err != nil {
			return err
		}
		if at < old {
			p.sim.decide(job, at)
			p.moved = true
		}
	}
	p.waiting = p.waiting[:kept]
	return nil
}
