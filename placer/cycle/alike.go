package cycle

import (
	"errors"
	"slices"

	"github.com/placectl/placectl/placer"
)

// An array can put thousands of equal jobs into the queue. A host may list the first for all of them.
// If a pass leaves it waiting, without any other effect, it would leave the jobs behind it waiting,
// too, and skips them together. Otherwise the next one has its turn.

// effects are what a job's turn can change for the jobs behind it.
type effects struct {
	planned, taken, freed, held, claimed, last int
}

func (p *Pass) effects() effects {
	return effects{p.planned, p.taken, p.freed.times, len(p.held), len(p.claimed), len(p.last)}
}

// passedOver reports whether a job whose turn had no effect is left waiting for a reason that holds for
// all equal jobs.
func (p *Pass) passedOver(j *Job) bool {
	k := j.kind
	if j.Planned || k == nil || j.pass != p {
		return false
	}
	if errors.Is(k.refused, placer.ErrAbsent) || p.settled(k, j) && errors.Is(k.short, placer.ErrAbsent) {
		return true
	}
	if k.refused != nil || !p.settled(k, j) || k.never() {
		return false
	}
	return p.planned >= p.spec.Depth || p.ruledOut(k)
}

// split lists the next job that is equal to the i-th of the queue.
func (p *Pass) split(i int) error {
	j := p.queue[i]
	if j.Alike == 0 {
		return nil
	}
	next, err := p.host.Alike(j)
	if err != nil {
		return err
	}
	if next == nil || next.Alike != j.Alike-1 {
		return errors.New("a job is not followed by those that are like it")
	}
	j.Alike = 0
	p.queue = slices.Insert(p.queue, i+1, next)
	return nil
}
