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

// comeFirst moves planned jobs ahead of one to earlier starts if the plans behind it were in their
// way. Otherwise it would take that room before them.
func (p *Pass) comeFirst(before *Job, room *roaring.Bitmap) error {
	err := p.sooner(p.queue[:slices.Index(p.queue, before)], room)
	if before.Lifts == nil { // they have had the room of all plans behind it
		p.stood = p.stood[:0]
	}
	return err
}

// lost gives the room of a lifted plan that cannot be put back to planned jobs that had their turn and
// could not lift it. Otherwise the job would take that room before them, or they would start in the next
// pass.
func (p *Pass) lost(j *Job) error {
	room := roaring.New()
	room.AddMany(p.host.Nodes(j))
	return p.sooner(p.stood, room)
}

// sooner moves planned jobs to earlier starts if there is room for that on some nodes.
func (p *Pass) sooner(list []*Job, room *roaring.Bitmap) error {
	if room.IsEmpty() {
		return nil
	}
	was := p.freed.Nodes
	defer func() {
		was.Or(p.freed.late)
		p.freed.Nodes = was
	}()
	p.freed.Nodes = roaring.Or(was, room)
	for _, j := range list {
		if !j.Planned || p.lifted[j] || p.stands(j) || j.Begin > p.now {
			continue
		}
		k, err := p.kind(j)
		if err != nil {
			return err
		}
		if k.refused != nil { // its turn decides that, and takes its plan
			continue
		}
		soonest, err := p.soonest(j, k)
		if err == nil && soonest < j.Start {
			if !j.Placed {
				p.planned--
			}
			_, err = p.plan(j, k, true, soonest)
		}
		if err != nil {
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
