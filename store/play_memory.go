package store

import (
	"math"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/cycle"
	"github.com/placectl/placectl/store/internal/sharing"
)

// A play keeps between instants what a cycle in the file reads and finds out anew: the queue, its jobs
// and requests, and which requests were refused (cycle.Memory). It does so only where that changes
// no decision.

// keepsRequests decides whether requests and jobs are kept from one instant to the next.
func (p *playing) keepsRequests() error {
	letting, err := p.tx.waiting().letting()
	if err != nil {
		return err
	}
	if !letting.some {
		p.kinds, p.requests = make(map[uint64]string), make(map[string]*cycle.Request)
	}
	ranks, err := sharing.Ranks(p.tx.file)
	if ranks == nil {
		p.queue.read = make(map[uint64]readJob)
	}
	return err
}

// remembers returns the memory of the play's passes, nil if jobs may change places in the queue or
// get nodes that are not free.
func (p *playing) remembers(freed *cycle.Freed, ordered bool) (*cycle.Memory, error) {
	if p.counts() == nil || ordered || p.spec.forgets {
		return nil, nil
	}
	if p.memory == nil {
		ix, err := p.tx.index()
		if err != nil {
			return nil, err
		}
		p.memory = cycle.NewMemory(ix, freed)
	}
	return p.memory, nil
}

// played returns the queue from the play's memory, nil if it must be read: outside a play, or where
// jobs may change places.
func (p *pass) played() ([]*queuedJob, error) {
	played, q := p.playing, p.tx.loaded.queue
	if played == nil || q.read == nil || played.spec.forgets {
		return nil, nil
	}
	set, err := p.tx.settings()
	if err != nil || set.JobPriority != "" {
		return nil, err
	}
	if in, err := p.inLots(); err != nil || in && played.counts() == nil {
		return nil, err
	}
	if q.listed == nil {
		list, err := p.tx.waiting().line()
		if err != nil {
			return nil, err
		}
		q.list(list)
	}
	return q.waiting(), nil
}

// counts returns the count of free cpus, nil where jobs may get others: in reservations, of overdue
// jobs, or of jobs that make way.
func (p *playing) counts() func() (int64, error) {
	if p == nil || p.kinds == nil || p.queue.read == nil || len(p.overrun) > 0 {
		return nil
	}
	return p.spare
}

// spare returns an upper bound of the free cpus.
func (p *playing) spare() (n int64, err error) {
	ix, err := p.tx.index()
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
