package cycle

import (
	"cmp"
	"slices"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/limits"
)

// With relaxed backfilling a job that becomes the first and does not fit is planned once, later
// than it could start: what lies between is its slack, and others' to use. The plan stands. No
// job moves it, whatever its priority, and the job itself is tried in every pass and else stays
// where it is. All others go shortest first, each where it fits beside all plans. So a job waits
// no longer than it was promised, and short ones find room.

// stands reports whether a plan stays where it is until its job starts.
func (p *Pass) stands(j *Job) bool {
	return p.spec.Relaxed && j.Planned && !j.Placed && !j.Delayed && !p.lifted[j]
}

// tryPromised starts a job whose plan stands if it fits now, and else leaves it where it is.
func (p *Pass) tryPromised(j *Job, k *kind, mayStart bool) (blocked bool, err error) {
	if mayStart {
		soonest, err := p.soonest(j, k)
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
		p.anew = p.rounds < mostRounds && p.leftBefore(j)
		return false, p.take(j, &a, plan)
	case !isRefusal(err):
		return false, err
	}
	if back, err := p.putBack(j); back || err != nil {
		return true, err
	}
	return p.consider(j) // a change since has taken its room: it is planned anew
}

// leftBefore reports whether a job before one is left without a plan. It has had its turn while
// the plan of that one was in its way, which now starts sooner.
func (p *Pass) leftBefore(j *Job) bool {
	for _, o := range p.queue {
		switch {
		case o == j:
			return false
		case !o.Planned && o.Begin <= p.now && !slices.Contains(p.held, o):
			return true
		}
	}
	return false
}

// promise is the plan of a job whose earliest one is later than now: as late as it was promised,
// or is now, if it fits then. A promise that cannot be kept is made anew, without slack.
func (p *Pass) promise(j *Job, a *placer.Ask, earliest *placer.Plan) (*placer.Plan, error) {
	plan, err := p.latest(j, a, earliest)
	if err == nil && (j.Promised == 0 || plan.Start > j.Promised) {
		j.Promised, j.Earliest = plan.Start, earliest.Start
	}
	return plan, err
}

// latest is the latest plan that a job's promise allows, or its earliest.
func (p *Pass) latest(j *Job, a *placer.Ask, earliest *placer.Plan) (*placer.Plan, error) {
	latest := j.Promised
	if latest == 0 {
		latest = earliest.Start + int64(p.spec.Slack*float64(a.Duration))
	}
	if j.Deadline != 0 {
		latest = min(latest, j.Deadline-a.Duration)
	}
	if latest <= earliest.Start {
		return earliest, nil
	}
	snap, err := p.host.Snapshot(j)
	if err != nil {
		return nil, err
	}
	plan, err := snap.Place(*a, latest)
	if err != nil && isRefusal(err) {
		return earliest, nil
	}
	return plan, err
}

// claimInOrder gives those of the jobs that a limit keeps now their claims, in the order of the
// queue, before they go shortest first. One behind a job that its limits do not keep has to wait
// until that has had its turn.
func (p *Pass) claimInOrder(rest []*Job) error {
	open := make(map[*limits.Counter]bool) // of jobs that no limit keeps
	for _, j := range rest {
		if j.Planned || j.Begin > p.now {
			continue
		}
		k, err := p.kind(j)
		if err != nil {
			return err
		}
		if k.refused != nil || len(k.Demands) == 0 || p.settled(k, j) && k.never() {
			continue
		}
		if allowed, err := p.host.MayStart(j); !allowed || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		refusing := k.Demands.Kept(p.now, k.Duration)
		if len(refusing) == 0 {
			for _, d := range k.Demands {
				open[d.Counter] = true
			}
			continue
		}
		if slices.ContainsFunc(refusing, func(d limits.Demand) bool { return open[d.Counter] }) {
			continue
		}
		if _, err := p.waitsForLimit(j, k); err != nil {
			return err
		}
	}
	return nil
}

// shortestFirst puts the jobs in order that have no plan: the shortest first, equal ones in the
// order of the queue, and where classes have shares each in the turns of its class. Those that
// have a plan come before them, and keep it.
func (p *Pass) shortestFirst(rest []*Job) error {
	if err := p.claimInOrder(rest); err != nil {
		return err
	}
	byClass := make(map[int][]*Job)
	var planned []*Job
	var turns []int // the classes of those without a plan, in the order of the queue
	for _, j := range rest {
		if j.Planned {
			planned = append(planned, j)
			continue
		}
		if _, err := p.kind(j); err != nil {
			return err
		}
		byClass[j.Class] = append(byClass[j.Class], j)
		turns = append(turns, j.Class)
	}
	for _, list := range byClass {
		slices.SortStableFunc(list, func(a, b *Job) int { return cmp.Compare(a.kind.Duration, b.kind.Duration) })
	}
	n := copy(rest, planned)
	for i, class := range turns {
		rest[n+i] = byClass[class][0]
		byClass[class] = byClass[class][1:]
	}
	p.reordered = true
	return nil
}

// behindShorter is where among jobs in that order another one has its turn.
func (p *Pass) behindShorter(j *Job, rest []*Job) (int, error) {
	k, err := p.kind(j)
	if err != nil {
		return 0, err
	}
	for i, o := range rest {
		other, err := p.kind(o)
		if err != nil {
			return 0, err
		}
		if !o.Planned && other.Duration > k.Duration {
			return i, nil
		}
	}
	return len(rest), nil
}
