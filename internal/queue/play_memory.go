package queue

import (
	"math"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/users"
	"github.com/placectl/placectl/placer/cycle"
)

// From one instant to the next, a play keeps what a cycle in a file reads and computes each
// time: the queue, its jobs and requests, and which requests were refused (cycle.Memory). It
// does so only if that changes no decision.

// keepsRequests decides whether requests and jobs are kept from one instant to the next.
func (p *Playing) keepsRequests() error {
	letting, err := LettingOf(p.Tx)
	if err != nil {
		return err
	}
	if !letting.some {
		p.kinds, p.requests = make(map[uint64]string), make(map[string]*cycle.Request)
	}
	ranks, err := users.Ranks(p.Tx.File)
	if ranks == nil {
		p.queue.Read = make(map[uint64]kernel.ReadJob)
	}
	return err
}

// remembers returns the memory of the play's passes, or nil if jobs may change places in the
// queue or get nodes that are not free.
func (p *Playing) remembers(freed *cycle.Freed, ordered bool) (*cycle.Memory, error) {
	if p.counts() == nil || ordered || p.spec.Forgets {
		return nil, nil
	}
	if p.Memory == nil {
		ix, err := p.Tx.Index()
		if err != nil {
			return nil, err
		}
		p.Memory = cycle.NewMemory(ix, freed)
	}
	return p.Memory, nil
}

// played returns the queue from the play's memory, or nil if it must be read: outside a play,
// or if jobs may change places.
func (p *pass) played() ([]*kernel.QueuedJob, error) {
	played, q := p.playing, p.tx.Loaded.Queue
	if played == nil || q.Read == nil || played.spec.Forgets {
		return nil, nil
	}
	set, err := p.tx.Settings()
	if err != nil || set.JobPriority != "" {
		return nil, err
	}
	if in, err := p.inLots(); err != nil || in && played.counts() == nil {
		return nil, err
	}
	if q.Listed == nil {
		list, err := InOrder(p.tx)
		if err != nil {
			return nil, err
		}
		q.List(list)
	}
	return q.Waiting(), nil
}

// counts returns the count of free cpus. It is nil if jobs may get other cpus: in
// reservations, of overdue jobs, or of preempted jobs.
func (p *Playing) counts() func() (int64, error) {
	if p == nil || p.kinds == nil || p.queue.Read == nil || len(p.overrun) > 0 {
		return nil
	}
	return p.spare
}

// spare returns an upper bound of the free cpus.
func (p *Playing) spare() (n int64, err error) {
	ix, err := p.Tx.Index()
	if err != nil {
		return 0, err
	}
	for _, b := range ix.Buckets() {
		free := int64(b.Count[index.Free]) + int64(b.Count[index.Later])
		if free == 0 {
			continue
		}
		cpus, known := b.Get(index.NCPUs)
		if !known {
			return math.MaxInt64, nil
		}
		n += free * cpus.Num
	}
	for most, nodes := range ix.Rooms(index.NCPUs) {
		n += most * int64(nodes.GetCardinality())
	}
	return n, ix.Err()
}
