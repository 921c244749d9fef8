package store

import (
	"math"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/cycle"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/sharing"
)

// A play keeps between instants what a cycle in the file reads and finds out anew: the queue, its jobs
// and requests, and which requests were refused (cycle.Memory). It does so only where that changes
// no decision.

// readJob is a job and the row that it was decoded from.
type readJob struct {
	payload []byte
	job     *row.Job
}

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
		p.read = make(map[uint64]readJob)
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

// queuedJob is a job that waited when the queue was read.
type queuedJob struct {
	job   *row.Job // nil: it has left the queue
	turn  cycle.Job
	asWas bool // its turn still says what the job is
}

// played returns the queue from the play's memory, nil if it must be read: outside a play, or where
// jobs may change places.
func (p *pass) played() ([]*queuedJob, error) {
	played := p.tx.loaded.playing
	if played == nil || played.read == nil || played.spec.forgets {
		return nil, nil
	}
	set, err := p.tx.settings()
	if err != nil || set.JobPriority != "" {
		return nil, err
	}
	if in, err := p.inLots(); err != nil || in && played.counts() == nil {
		return nil, err
	}
	if played.listed != nil {
		played.line = slices.DeleteFunc(played.line, func(q *queuedJob) bool { return q.job == nil })
		return slices.Clone(played.line), nil
	}
	list, err := p.tx.waiting().line()
	if err != nil {
		return nil, err
	}
	played.line, played.listed = nil, make(map[uint64]*queuedJob, len(list))
	for _, j := range list {
		q := &queuedJob{job: j}
		played.line, played.listed[j.ID] = append(played.line, q), q
	}
	return slices.Clone(played.line), nil
}

// noted follows a job whose row changes.
func (p *playing) noted(j *row.Job) {
	if p == nil || p.listed == nil {
		return
	}
	q, waits := p.listed[j.ID], j.Waits(j.State)
	switch {
	case q == nil && waits, q != nil && waits && q.job.Priority != j.Priority:
		p.listed = nil
	case q == nil:
	case waits:
		q.job, q.asWas = j, false
	default:
		q.job = nil
		delete(p.listed, j.ID)
	}
}

// queued returns a job's entry in the line, nil if there is none.
func (p *playing) queued(j *row.Job) *queuedJob {
	if p == nil || p.listed == nil {
		return nil
	}
	return p.listed[j.ID]
}

// counts returns the count of free cpus, nil where jobs may get others: in reservations, of overdue
// jobs, or of jobs that make way.
func (p *playing) counts() func() (int64, error) {
	if p == nil || p.kinds == nil || p.read == nil || len(p.overrun) > 0 {
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

// job decodes the row of a waiting job, once until the row changes.
func (p *playing) job(id uint64, payload []byte) (*row.Job, error) {
	if was, known := p.read[id]; known && len(was.payload) == len(payload) && &was.payload[0] == &payload[0] {
		return was.job, nil
	}
	j, err := row.DecodeJob(row.Key64(id), payload)
	if err == nil {
		p.read[id] = readJob{payload, j}
	}
	return j, err
}
