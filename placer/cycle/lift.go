package cycle

import (
	"errors"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/placectl/placectl/placer"
)

// clearTheWay takes the plans of all jobs behind one off the nodes, because that job comes
// before them. It does so if the job has no plan and may fit or get one, or if an overdue job
// blocks its plan. The jobs ahead of it have had their turn with all plans in place.
func (p *Pass) clearTheWay(j *Job, behind []*Job) error {
	p.clearing = p.clearing[:0]
	if !p.obstructed(j) {
		return nil
	}
	if needs, err := p.needsRoom(j); !needs || err != nil {
		return err
	}
	room := roaring.New()
	for _, o := range behind {
		if !o.Planned || p.lifted[o] || p.served[o.ID] || p.stands(o) || !j.lifts(o.Class) {
			continue
		}
		room.AddMany(p.host.Nodes(o))
		if err := p.lift(o); err != nil {
			return err
		}
		p.clearing = append(p.clearing, o)
	}
	for class := range p.standing {
		if j.lifts(class) {
			delete(p.standing, class)
		}
	}
	if fits, err := p.fitsNow(j); !fits || err != nil {
		p.room = room
		return err
	}
	return p.comeFirst(j, room)
}

// liftDelayed takes plans that an overdue job blocks off the nodes, so that they obstruct no
// job, not even one whose class may not lift them.
func (p *Pass) liftDelayed() error {
	for _, j := range p.queue {
		if j.Planned && j.Delayed && !p.lifted[j] {
			p.vacated.AddMany(p.host.Nodes(j))
			if err := p.lift(j); err != nil {
				return err
			}
		}
	}
	return nil
}

// lifts reports whether plans of a class that are behind a job are lifted for it.
func (j *Job) lifts(class int) bool {
	return j.Lifts == nil || j.Class == class || j.Lifts[class]
}

// obstructed reports whether there may be plans behind a job that are lifted for it.
func (p *Pass) obstructed(j *Job) bool {
	for class := range p.standing {
		if j.lifts(class) {
			return true
		}
	}
	return false
}

// uncleared puts back the plans that were lifted for a job that does not take their room.
func (p *Pass) uncleared() error {
	for _, o := range p.clearing {
		p.standing[o.Class] = true
	}
	return p.putRestBack(p.clearing)
}

// fitsNow reports whether a job would start now, or has a plan that must be made anew. Other jobs
// must not change plans of others unless they get a plan themselves.
func (p *Pass) fitsNow(j *Job) (bool, error) {
	if j.Planned || j.Begin > p.now {
		return j.Planned, nil
	}
	if allowed, err := p.host.MayStart(j); err != nil || !allowed {
		return false, err
	}
	k, err := p.kind(j)
	if err != nil || k.refused != nil || p.settled(k, j) {
		return false, err
	}
	snap, err := p.host.Snapshot(j)
	if err != nil {
		return false, err
	}
	_, err = p.place(snap, k, k.asked(j))
	if errors.Is(err, placer.ErrNever) || errors.Is(err, placer.ErrNotNow) {
		p.decide(k, j, err)
		return false, nil
	}
	return err == nil, err
}

// comeFirst moves planned jobs ahead of one to earlier starts if the plans behind it, or those that
// left their room since, were in their way. Otherwise it would take that room before them.
func (p *Pass) comeFirst(before *Job, room *roaring.Bitmap) error {
	if room.Or(p.vacated); room.IsEmpty() {
		return nil
	}
	ahead := p.queue[:slices.Index(p.queue, before)]
	err := p.revisit(roaring.Or(p.freed.Nodes, room), ahead, func(j *Job, k *kind) error {
		if !j.Planned || p.stands(j) {
			return nil
		}
		soonest, err := p.soonest(j, k, j.Start)
		if err != nil || soonest >= j.Start {
			return err
		}
		if !j.Placed {
			p.planned--
		}
		_, err = p.plan(j, k, true, soonest)
		return err
	})
	if before.Lifts == nil { // no plan behind it is in their way
		p.stood = p.stood[:0]
		p.vacated.Clear()
	}
	return err
}

// stays notes that a job still waits after its turn. Plans behind it may have been in its way, as promises are.
func (p *Pass) stays(j *Job) {
	if (len(p.standing) > 0 || p.spec.Relaxed) && (j.Planned || j.Start != p.now) {
		p.stood = append(p.stood, j)
	}
}

// vacates notes the room of a plan that is given up, for the jobs before it that could not lift it.
func (p *Pass) vacates(j *Job) {
	if j.Planned && len(p.stood) > 0 {
		p.vacated.AddMany(p.host.Nodes(j))
	}
}

// letAhead lets the jobs ahead look again before a job starts that has no plan. With plans lifted for that job,
// comeFirst has done so. It must not be asked before they are: it would be decided that the job does not fit beside
// them.
func (p *Pass) letAhead(j *Job) error {
	if p.vacated.IsEmpty() || j.Planned || len(p.lifted) > 0 {
		return nil
	}
	if fits, err := p.fitsNow(j); !fits || err != nil {
		return err
	}
	return p.lookAgain()
}

// lookAgain starts planned jobs that had their turn in room that plans have left since. Otherwise a job
// behind them would take it, or they would start in the next pass. If a job without a plan fits there, or may have
// a plan there that keeps its deadline, the queue is gone through again.
func (p *Pass) lookAgain() error {
	for !p.vacated.IsEmpty() && !p.anew {
		room := p.vacated
		p.vacated = roaring.New()
		err := p.revisit(room, p.stood, func(j *Job, k *kind) error {
			if !j.Planned {
				fits, err := p.fitsNow(j)
				p.anew = p.anew || (fits || j.Deadline != 0) && p.rounds < mostRounds
				return err
			}
			mayStart, err := p.host.MayStart(j)
			if err != nil || !mayStart {
				return err
			}
			if !j.Placed {
				p.planned--
			}
			_, err = p.tryInstead(j, k, true)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tryInstead starts a job with a plan if it fits now, and otherwise leaves the plan in place.
func (p *Pass) tryInstead(j *Job, k *kind, mayStart bool) (blocked bool, err error) {
	if mayStart {
		soonest, err := p.soonest(j, k, p.now+1)
		if err != nil {
			return false, err
		}
		mayStart = soonest <= p.now
	}
	if !mayStart {
		p.counts(j)
		return true, nil
	}
	if err := p.lift(j); err != nil {
		return false, err
	}
	snap, err := p.host.Snapshot(j)
	if err != nil {
		return false, err
	}
	a := k.asked(j)
	plan, err := snap.Place(a, p.now)
	switch {
	case err == nil:
		delete(p.lifted, j)
		p.bounds = nil // its old room is free
		return false, p.take(j, &a, plan)
	case !isRefusal(err):
		return false, err
	}
	if back, err := p.putBack(j); back || err != nil {
		return true, err
	}
	return p.consider(j) // its room is taken: it is planned again
}

// revisit calls a function for jobs of a list that might start or move, as if room were made on some nodes
// alone.
func (p *Pass) revisit(nodes *roaring.Bitmap, list []*Job, do func(*Job, *kind) error) error {
	was := p.freed.Nodes
	defer func() {
		was.Or(p.freed.late)
		p.freed.Nodes = was
	}()
	p.freed.Nodes = nodes
	for _, j := range list {
		if p.lifted[j] || j.Begin > p.now || j.Start == p.now && !j.Planned {
			continue
		}
		k, err := p.kind(j)
		if err != nil {
			return err
		}
		if k.refused != nil { // its turn decides that, and takes its plan
			continue
		}
		if err := do(j, k); err != nil {
			return err
		}
	}
	return nil
}

// needsRoom reports whether a job may be started or planned anew.
func (p *Pass) needsRoom(j *Job) (bool, error) {
	if j.Planned {
		return j.Delayed, nil
	}
	k, err := p.kind(j)
	if err == nil && j.Never {
		_, err = p.Possible(j)
	}
	if err != nil || k.refused != nil {
		return false, err
	}
	return !p.settled(k, j) || !k.never() && !p.ruledOut(k) && p.planned < p.spec.Depth, nil
}

func (p *Pass) lift(j *Job) error {
	p.lifted[j] = true
	p.lifts++
	return p.host.Lift(j)
}

// putBack puts a lifted plan back if its place is free. A plan is given up only for an earlier one,
// or if an overdue job blocks it.
func (p *Pass) putBack(j *Job) (bool, error) {
	if j.Delayed {
		return false, nil
	}
	back, err := p.host.PutBack(j)
	if back {
		delete(p.lifted, j)
		p.taken++
		p.counts(j)
	}
	return back, err
}

// giveUp gives a job without a new plan its old one, or none if that no longer fits.
func (p *Pass) giveUp(j *Job) error {
	switch {
	case !p.lifted[j]:
		return nil
	case j.Delayed:
		return p.withdraw(j)
	}
	return p.restore(j)
}

// restore puts a lifted plan back as it was, if its place is free.
func (p *Pass) restore(j *Job) error {
	back := false
	if !j.Late {
		var err error
		if back, err = p.host.PutBack(j); err != nil {
			return err
		}
	}
	if !back {
		return p.withdraw(j)
	}
	delete(p.lifted, j)
	p.taken++
	return nil
}

// withdraw leaves a job without its lifted plan.
func (p *Pass) withdraw(j *Job) error {
	p.vacates(j)
	delete(p.lifted, j)
	j.Planned, j.Start = false, 0
	return p.host.Withdraw(j)
}

// putRestBack puts back lifted plans that were not made again, if there is still room for them. A plan
// blocked by an overdue job is put back, too.
func (p *Pass) putRestBack(rest []*Job) error {
	for _, j := range rest {
		if !p.lifted[j] {
			continue
		}
		if err := p.restore(j); err != nil {
			return err
		}
	}
	return nil
}
