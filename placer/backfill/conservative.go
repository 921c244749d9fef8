package backfill

// A plan is conservative backfilling.
//
// Taking every waiting job out of the plan at each end, and putting it back, is
// what the rules say; what comes of it can be had for less. A job moves only
// when it then starts earlier, and it can do so in two ways. Either there is room
// for all of it before the time it has, of which holes most often prove the
// contrary. Or its processors are free just before that time, so that it slides
// forward: the rest of it lies where it lay already. Most moves are of the
// second kind: where a job ends early, those that wait for it follow one after
// the other. With neither the job stays, and nothing has been touched.
type plan struct {
	sim     *Replay
	profile *profile // beside all that runs and all that waits
	holes   holes
	waiting []int32 // by submission; some may have started since the last pass
	last    int64   // no job that waits starts later
	moved   bool    // some job did, in the last pass
}

func newPlan(s *Replay, procs int64) *plan {
	return &plan{sim: s, profile: newProfile(procs)}
}

func (p *plan) Submitted(job int32, now int64) error {
	p.profile.forget(now)
	j := &p.sim.jobs[job]
	at := p.profile.earliest(now, j.Request, j.Procs, never)
	p.profile.add(at, at+j.Request, -j.Procs)
	p.sim.Decide(job, at)
	p.waiting = append(p.waiting, job)
	p.last = max(p.last, at)
	return nil
}

// ended gives back what the job had planned beyond its end. When that is nothing
// and nobody moved in the last pass, every job was looked at in the plan as it
// still is.
func (p *plan) Ended(job int32, now int64) error {
	p.profile.forget(now)
	j := &p.sim.jobs[job]
	until := p.sim.start[job] + j.Request
	if until > now || p.moved {
		p.profile.add(now, until, j.Procs)
		p.pass(now)
	}
	return nil
}

// pass moves the jobs whose time has not come, as far forward as they fit.
func (p *plan) pass(now int64) {
	p.holes.forget()
	limit, kept := p.last, 0
	p.last, p.moved = now, false
	for _, job := range p.waiting {
		old := p.sim.start[job]
		if old <= now {
			continue
		}
		p.waiting[kept] = job
		kept++
		at := p.earlier(&p.sim.jobs[job], old, now, limit)
		if at < old {
			p.move(job, old, at)
		}
		p.last = max(p.last, at)
	}
	p.waiting = p.waiting[:kept]
}

// earlier is when a job can start that is planned for old. limit is not before
// the start of any job of the pass.
func (p *plan) earlier(j *Job, old, now, limit int64) int64 {
	if p.holes.stale(j.Procs, old) {
		p.holes.look(p.profile, now, limit)
	}
	if t := p.holes.earliest(j.Request, j.Procs); t < old {
		return p.profile.earliest(t, j.Request, j.Procs, old)
	}
	return p.profile.before(now, old, j.Procs)
}

// move takes what a job needs for starting earlier, and gives back what it then
// no longer needs.
func (p *plan) move(job int32, old, at int64) {
	j := &p.sim.jobs[job]
	end, oldEnd := at+j.Request, old+j.Request
	p.profile.add(at, min(old, end), -j.Procs)
	p.profile.add(max(old, end), oldEnd, j.Procs)
	p.holes.regain(max(old, end), p.profile.most(max(old, end), oldEnd))
	p.sim.Decide(job, at)
	p.moved = true
}
