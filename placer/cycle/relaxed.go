package cycle

import (
	"cmp"
	"slices"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/limits"
)

// With relaxed backfilling a job that becomes the head of the queue and does not fit is planned once,
// later than it could start. The time between is its slack, which others may use. No job moves the
// plan, whatever its priority. Each pass tries to start the job now, and otherwise leaves its plan in
// place. All others go shortest first, each if it fits beside all plans. So a job starts no later
// than promised, and short jobs find room.

// stands reports whether a plan stays where it is until its job starts: it was promised.
func (p *Pass) stands(j *Job) bool {
	return p.spec.Relaxed && j.Planned && j.Promised > 0 && !j.Placed && !j.Delayed && !p.lifted[j]
}

// promise returns the plan of a job whose earliest start is later than now: at its promised
// start, whether promised now or before, if it fits then. A promise that cannot be kept is
// replaced, without slack.
func (p *Pass) promise(j *Job, a *placer.Ask, earliest *placer.Plan) (*placer.Plan, error) {
	plan, err := p.latest(j, a, earliest)
	if err == nil && (j.Promised == 0 || plan.Start > j.Promised) {
		j.Promised, j.Earliest = plan.Start, earliest.Start
	}
	return plan, err
}

// latest returns the latest plan that a job's promise allows, or its earliest plan.
func (p *Pass) latest(j *Job, a *placer.Ask, earliest *placer.Plan) (*placer.Plan, error) {
	latest := j.Promised
	if latest == 0 {
		latest = earliest.Start + int64(p.spec.Slack*float64(a.Duration))
		if j.Planned {
			latest = min(latest, j.Start)
		}
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

// claimInOrder gives jobs that wait for a limit their claims in the order of the queue, before they go
// shortest first. A job behind one that its limits would let start has to wait for that one's turn. If
// one of those starts, others may wait for a limit, and the queue is gone through again for their claims.
func (p *Pass) claimInOrder(rest []*Job) error {
	open := make(map[*limits.Counter]bool) // of jobs that wait for no limit
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

// shortestFirst sorts the jobs without a plan: the shortest first, equal ones in the order of the
// queue; if classes have shares, each in the turns of its class. Jobs with a plan come before them
// and keep it.
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

// behindShorter returns the place of another job among jobs in that order.
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
