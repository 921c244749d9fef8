package cycle

import (
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/placectl/placectl/placer/limits"
)

// Pass is a pass over a queue under way.
type Pass struct {
	host  Host
	freed *Freed
	spec  Spec
	now   int64

	kinds     map[string]*kind
	keeps     map[*limits.Counter]bool // counters that keep a job
	claimed   map[*Job]bool            // jobs with a claim on room in counters
	bounds    []bound                  // of requests that were planned in this pass
	lifted    map[*Job]bool            // plans taken off the nodes, to be made again
	standing  map[int]bool             // classes with plans behind the current job
	clearing  []*Job                   // jobs whose plans were lifted for it
	stood     []*Job                   // waiting jobs that had their turn while plans behind them were on the nodes
	vacated   *roaring.Bitmap          // nodes that plans have left since
	room      *roaring.Bitmap          // where those were, until it is clear whether that job gets a plan
	reordered bool                     // jobs are taken out of order
	began     bool                     // one of those has started: see claimInOrder
	turn      *Job                     // the current job, if it may start now
	waits     *Job                     // the first job in order that might have started now and did not
	last      []*Job                   // jobs beyond a soft limit: their turn comes last
	held      []*Job                   // jobs that start unless a job that preempts them needs their nodes
	overtaken []*Job                   // jobs that a start let in, when jobs after them already had plans
	rounds    int                      // passes over the queue so far
	anew      bool                     // jobs were preempted: the queue is gone through again
	planned   int                      // jobs that did not fit, and were planned or kept their plan
	taken     int                      // starts and plans so far
	lifts     int                      // plans taken off their nodes so far
	unreached []*Job
	whole     bool // every job was looked at

	spare              int64 // upper bound of the free cpus
	spareOf, spareFrom int   // as of so many takings, and of room being made so many times

	queue  []*Job
	served map[uint64]bool // jobs for which others are stopped in this pass
	vain   map[vain]int    // where preempting does not help, with the count of freed room
}

// New begins a pass at an instant, in Unix seconds. The host records in freed where room is made
// during the pass. A pass that has looked at every job leaves nothing else in it.
func New(host Host, freed *Freed, spec Spec, now int64) *Pass {
	freed.begin()
	p := &Pass{host: host, freed: freed, spec: spec, now: now, kinds: make(map[string]*kind),
		lifted: make(map[*Job]bool), standing: make(map[int]bool),
		vacated: roaring.New(), keeps: make(map[*limits.Counter]bool), claimed: make(map[*Job]bool)}
	if m := spec.Memory; m != nil {
		p.kinds, p.taken = m.kinds, m.taken
	}
	return p
}

// Run goes through the queue, which is in order; behind the last planned job it may reorder it
// (WidestFirst, Relaxed). It records plans and starts in the jobs, and returns how many jobs
// it did not reach before Enough. If anew is true, jobs were preempted, and the host calls Run
// again with the jobs that then wait. At the end the host calls Begin.
func (p *Pass) Run(queue []*Job) (unreached int, anew bool, err error) {
	p.begin(queue)
	if err := p.liftDelayed(); err != nil {
		return 0, false, err
	}
	blocked, err := p.run()
	if p.spec.Memory != nil {
		p.spec.Memory.taken = p.taken
	}
	if p.anew && err == nil {
		return 0, true, p.putRestBack(p.queue)
	}
	for _, j := range p.unreached {
		unreached += 1 + j.Alike
	}
	if unreached == 0 && !blocked && err == nil {
		p.whole = true
		p.freed.looked()
	}
	return unreached, false, err
}

// Begin starts the jobs that Run has decided to start and has held. If anew is true, a start has
// given other jobs a turn, perhaps before plans of jobs after them, or other jobs are due to have
// claims since, and the host calls Run again.
func (p *Pass) Begin() (anew bool, err error) {
	anew = slices.ContainsFunc(p.overtaken, func(j *Job) bool { return j.Planned || j.Start != p.now })
	if p.began && len(p.claimed) > 0 {
		anew = true
		p.freed.count(nil) // what other claims may leave
	}
	held := p.held
	p.held = nil
	for _, j := range held {
		if err := p.host.Begin(j); err != nil {
			return false, err
		}
		list, err := p.host.Followers(j)
		if err != nil {
			return false, err
		}
		anew = anew || len(list) > 0
	}
	return anew, nil
}

// mostRounds is the number of rounds after which no start is held, so that a pass ends
// whatever its host says.
const mostRounds = 1000

func (p *Pass) begin(queue []*Job) {
	p.rounds++
	p.queue, p.planned, p.last, p.unreached, p.overtaken, p.reordered, p.anew = queue, 0, nil, nil, nil, false, false
	p.began = false
	p.bounds, p.waits, p.stood = nil, nil, p.stood[:0]
	p.vacated.Clear()
	clear(p.keeps)
	clear(p.claimed)
	clear(p.standing)
	clear(p.lifted)
	for _, j := range queue {
		if j.Late {
			p.lifted[j] = true
		}
		if j.Planned {
			p.standing[j.Class] = true
		}
	}
	if p.spec.Preempter != nil && p.served == nil {
		p.served = make(map[uint64]bool)
	}
}

// run reports whether the rest of the queue waits behind a job that must not be passed.
func (p *Pass) run() (blocked bool, err error) {
	for i := 0; i < len(p.queue); i++ {
		j := p.queue[i]
		if p.spec.Enough != nil && p.spec.Enough() {
			p.unreached = p.queue[i:]
			return false, p.putRestBack(p.unreached)
		}
		if beyond, err := p.beyond(j); err != nil {
			return false, err
		} else if beyond {
			if err := p.split(i); err != nil {
				return false, err
			}
			continue
		}
		before := p.effects()
		if err := p.clearTheWay(j, p.queue[i+1:]); err != nil {
			return false, err
		}
		if err := p.letAhead(j); err != nil || p.anew {
			return false, err
		}
		blocked, err := p.consider(j)
		p.room = nil
		if err != nil {
			return false, fmt.Errorf("job %d: %w", j.ID, err)
		}
		p.left()
		p.stays(j)
		if len(p.clearing) > 0 && p.inVain(j) {
			if err := p.uncleared(); err != nil {
				return false, err
			}
		}
		if p.anew {
			return false, nil
		}
		if j.Alike > 0 && !(before == p.effects() && p.passedOver(j)) {
			if err := p.split(i); err != nil {
				return false, err
			}
		}
		if err := p.follow(i); err != nil {
			return false, err
		}
		if blocked && p.spec.InOrder {
			return true, p.putRestBack(p.queue[i+1:]) // jobs may have come into it
		}
		if blocked && p.planned >= p.spec.Depth && !p.reordered {
			if err := p.reorder(p.queue[i+1:]); err != nil {
				return false, err
			}
		}
	}
	if err := p.lookAgain(); err != nil || p.anew {
		return false, err
	}
	return false, p.considerLast()
}

// left records that the current job is left waiting, unless it has started.
func (p *Pass) left() {
	j := p.turn
	p.turn = nil
	if j == nil || j.Start == p.now && !j.Planned {
		return
	}
	if p.waits == nil || j.place().before(p.waits.place()) {
		p.waits = j
	}
}

// reorder sorts the jobs behind the last planned one by their turns.
func (p *Pass) reorder(rest []*Job) error {
	switch {
	case p.spec.WidestFirst:
		return p.widestFirst(rest)
	case p.spec.Relaxed:
		return p.shortestFirst(rest)
	}
	return nil
}

// follow adds to the queue the jobs that may have a turn because a job has started: at their
// place, or next if the pass is beyond it.
func (p *Pass) follow(i int) error {
	if j := p.queue[i]; j.Planned || j.Start != p.now || slices.Contains(p.held, j) {
		return nil
	}
	list, err := p.host.Followers(p.queue[i])
	if err != nil {
		return err
	}
	for _, j := range list {
		behind := slices.IndexFunc(p.queue[i+1:], func(o *Job) bool { return j.place().before(o.place()) })
		switch {
		case p.reordered && p.spec.Relaxed && !p.spec.WidestFirst:
			if behind, err = p.behindShorter(j, p.queue[i+1:]); err != nil {
				return err
			}
		case behind < 0 || p.reordered:
			behind = len(p.queue) - i - 1
		}
		if slices.ContainsFunc(p.queue[:i+1], func(o *Job) bool { return o.Planned && j.place().before(o.place()) }) {
			p.overtaken = append(p.overtaken, j)
		}
		p.queue = slices.Insert(p.queue, i+1+behind, j)
	}
	return nil
}

// Reached reports whether a job had its turn before Enough ended the pass.
func (p *Pass) Reached(id uint64) bool {
	return !slices.ContainsFunc(p.unreached, func(j *Job) bool { return j.ID == id })
}

// Whole reports whether every job was looked at.
func (p *Pass) Whole() bool { return p.whole }

// beyond moves a job that would exceed a soft limit behind all others, without a plan.
func (p *Pass) beyond(j *Job) (bool, error) {
	var err error
	if j.Placed || p.served[j.ID] {
		return false, nil
	}
	if j.Beyond, err = p.host.Beyond(j); !j.Beyond || err != nil {
		return false, err
	}
	p.last = append(p.last, j)
	if !j.Planned {
		return true, nil
	}
	if !p.lifted[j] {
		if err := p.lift(j); err != nil {
			return true, err
		}
	}
	return true, p.withdraw(j)
}

// considerLast starts jobs beyond a soft limit on the room that all others have left.
func (p *Pass) considerLast() error {
	for i, j := range p.last {
		if p.spec.Enough != nil && p.spec.Enough() {
			p.unreached = p.last[i:]
			return nil
		}
		if err := p.leftover(j); err != nil {
			return fmt.Errorf("job %d: %w", j.ID, err)
		}
	}
	return nil
}

func (p *Pass) leftover(j *Job) error {
	k, err := p.kind(j)
	if err != nil {
		return err
	}
	if k.refused != nil {
		return p.never(j, k.refused)
	}
	if p.settled(k, j) {
		if k.never() {
			return p.never(j, k.short)
		}
		return nil
	}
	allowed, err := p.host.MayStart(j)
	if err != nil || !allowed || j.Begin > p.now {
		return err
	}
	_, err = p.tryNow(j, k)
	return err
}
