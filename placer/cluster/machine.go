package cluster

import (
	"errors"
	"math"

	"github.com/placectl/placectl/placer"
)

// A Machine places the jobs of a log on a cluster. It is what package backfill
// simulates on. A job is its place in the log, and the owner of what it has.
type Machine struct {
	*Cluster
	asks  []placer.Ask
	kinds []int32 // of each job: those of one kind ask for the same
	// refused are the kinds that do not fit now. What does not fit at an instant does
	// not fit later either, until somebody gives something back.
	refused map[int32]bool
	needs   [][]need // by kind, once they were asked for
	given   []uint32 // nodes of which something was given back, in order
	seen    []int    // by job: how much of given it has been looked at with
	placed  func(*Placement)
}

// request is what makes jobs of one kind.
type request struct {
	text, user string
	duration   int64
}

// NewMachine makes a machine of a cluster for jobs that ask for so much each. placed,
// where it is not nil, is told of placements: of those of one job the last is the one
// that it runs on.
func NewMachine(c *Cluster, asks []placer.Ask, placed func(*Placement)) *Machine {
	m := &Machine{Cluster: c, asks: asks, kinds: make([]int32, len(asks)), refused: make(map[int32]bool), placed: placed, seen: make([]int, len(asks))}
	known := make(map[request]int32)
	for i := range asks {
		a := &asks[i]
		r := request{a.Select(c.defs) + "@" + a.Spec.Place.Format(c.defs), a.User, a.Duration}
		kind, ok := known[r]
		if !ok {
			kind = int32(len(known))
			known[r] = kind
		}
		m.kinds[i] = kind
	}
	m.needs = make([][]need, len(known))
	return m
}

// Pass lets time pass, as Cluster does.
func (m *Machine) Pass(now int64) (freed bool, err error) {
	freed, err = m.Cluster.Pass(now)
	if freed {
		clear(m.refused)
	}
	return freed, err
}

// Start gives a job what it needs from now on, and reports whether it fits.
func (m *Machine) Start(job int32) (bool, error) {
	kind := m.kinds[job]
	if m.refused[kind] {
		return false, nil
	}
	p, err := m.Place(m.asks[job], uint64(job))
	if errors.Is(err, placer.ErrNotNow) {
		m.refused[kind] = true
		return false, nil
	}
	if err == nil && m.placed != nil {
		m.placed(p)
	}
	return err == nil, err
}

// Plan gives a job what it needs from the earliest time on at which it fits, or moves
// its plan there, never to a later one.
func (m *Machine) Plan(job int32) (int64, error) {
	old := m.Of(uint64(job))
	from, limit := m.snap.Now, int64(math.MaxInt64)
	if old != nil {
		if from, limit = m.sooner(job, old), old.Start; from >= limit {
			return old.Start, nil
		}
		if _, err := m.Remove(uint64(job)); err != nil {
			return 0, err
		}
	}
	p, err := m.Earliest(m.asks[job], uint64(job), from, limit)
	switch {
	case old == nil:
		if err != nil {
			return 0, err
		}
	case errors.Is(err, placer.ErrNotNow):
		p, err = old, m.Restore(old)
	case err != nil:
		return 0, err
	default:
		m.gaveBack(old)
	}
	if m.seen[job] = len(m.given); m.placed != nil {
		m.placed(p)
	}
	return p.Start, err
}

// Leave gives back what a job has, or had planned.
func (m *Machine) Leave(job int32) error {
	p, err := m.Remove(uint64(job))
	if p != nil {
		m.gaveBack(p)
	}
	return err
}

// gaveBack notes that others may have now what somebody had.
func (m *Machine) gaveBack(p *Placement) {
	clear(m.refused)
	m.given = append(m.given, p.nodes...)
}
