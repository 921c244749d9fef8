package backfill

// A plan is conservative backfilling.
//
// By its rules, each end of a job takes every waiting job out of the plan and puts it back. The same
// result costs less, because a job moves only if it then starts earlier. There are two ways. Either all
// of it fits before its planned time; holes mostly prove that it does not. Or its processors are free
// just before its planned time, so that it slides forward, and the rest of it stays where it was. Most
// moves are of the second kind: when a job ends early, those waiting for it follow one after the other.
// In all other cases the job stays and nothing is touched.
type plan struct {
	sim     *Replay
	profile *profile // of all running and waiting jobs
	holes   holes
	waiting []int32 // by submission; some may have started since the last pass
	last    int64   // no waiting job starts later
	moved   bool    // a job moved in the last pass
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

// Ended gives back what the job had planned after its end. If that is nothing, and no job moved in the
// last pass, the plan has not changed since every job was tried.
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

// pass moves waiting jobs as far forward as they fit.
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

// earlier returns the earliest start of a job planned for old. No job of the pass starts after limit.
func (p *plan) earlier(j *Job, old, now, limit int64) int64 {
	if p.holes.stale(j.Procs, old) {
		p.holes.look(p.profile, now, limit)
	}
	if t := p.holes.earliest(j.Request, j.Procs); t < old {
		return p.profile.earliest(t, j.Request, j.Procs, old)
	}
	return p.profile.before(now, old, j.Procs)
}

// move takes what a job needs to start earlier, and gives back what it no longer needs.
func (p *plan) move(job int32, old, at int64) {
	j := &p.sim.jobs[job]
	end, oldEnd := at+j.Request, old+j.Request
	p.profile.add(at, min(old, end), -j.Procs)
	p.profile.add(max(old, end), oldEnd, j.Procs)
	p.holes.regain(max(old, end), p.profile.most(max(old, end), oldEnd))
	p.sim.Decide(job, at)
	p.moved = true
}
