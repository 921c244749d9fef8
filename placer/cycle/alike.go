package cycle

import (
	"errors"
	"slices"
)

// A queue of an array is thousands of jobs that ask for the same. A host may list the first of
// them for all. Once a pass has left one waiting, and nothing has come of that, it would leave
// those behind it waiting, too: they are passed over together. Else the next of them has its turn.

// effects are what a job's turn can change for those behind it.
type effects struct {
	planned, taken, freed, held, claimed, last int
}

func (p *Pass) effects() effects {
	return effects{p.planned, p.taken, p.freed.times, len(p.held), len(p.claimed), len(p.last)}
}

// passedOver reports whether a job that has had its turn, without any effect, is left waiting in
// a way that goes for all jobs like it.
func (p *Pass) passedOver(j *Job) bool {
	k := j.kind
	if j.Planned || k == nil || j.pass != p || k.refused != nil || !p.settled(k, j) || k.never() {
		return false
	}
	return p.planned >= p.spec.Depth || p.ruledOut(k)
}

// split lists the next of the jobs that are like the i-th of the queue.
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
