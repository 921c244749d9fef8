package store

import (
	"slices"

	"github.com/placectl/placectl/placer/cycle"
	"github.com/placectl/placectl/store/internal/row"
)

// playedQueue is the queue of a play, kept from one instant to the next. It follows the rows of
// jobs as they are put.
type playedQueue struct {
	line   []*queuedJob          // the waiting jobs in their order, and those that have left since it was read
	listed map[uint64]*queuedJob // nil: the line must be read again
	read   map[uint64]readJob    // waiting jobs by number; nil with preemption
}

// queuedJob is a job that waited when the queue was read.
type queuedJob struct {
	job   *row.Job // nil: it has left the queue
	turn  cycle.Job
	asWas bool // its turn still says what the job is
}

// readJob is a job and the row that it was decoded from.
type readJob struct {
	payload []byte
	job     *row.Job
}

// list begins with the waiting jobs in order.
func (q *playedQueue) list(line []*row.Job) {
	q.line, q.listed = nil, make(map[uint64]*queuedJob, len(line))
	for _, j := range line {
		x := &queuedJob{job: j}
		q.line, q.listed[j.ID] = append(q.line, x), x
	}
}

// waiting lists the jobs that still wait.
func (q *playedQueue) waiting() []*queuedJob {
	q.line = slices.DeleteFunc(q.line, func(x *queuedJob) bool { return x.job == nil })
	return slices.Clone(q.line)
}

// noted follows a job whose row changes.
func (q *playedQueue) noted(j *row.Job) {
	if q == nil || q.listed == nil {
		return
	}
	x, waits := q.listed[j.ID], j.Waits(j.State)
	switch {
	case x == nil && waits, x != nil && waits && x.job.Priority != j.Priority:
		q.listed = nil
	case x == nil:
	case waits:
		x.job, x.asWas = j, false
	default:
		x.job = nil
		delete(q.listed, j.ID)
	}
}

// queued returns a job's entry in the line, nil if there is none.
func (q *playedQueue) queued(j *row.Job) *queuedJob {
	if q == nil || q.listed == nil {
		return nil
	}
	return q.listed[j.ID]
}

// job decodes the row of a waiting job, once until the row changes.
func (q *playedQueue) job(id uint64, payload []byte) (*row.Job, error) {
	if was, known := q.read[id]; known && len(was.payload) == len(payload) && &was.payload[0] == &payload[0] {
		return was.job, nil
	}
	j, err := row.DecodeJob(row.Key64(id), payload)
	if err == nil {
		q.read[id] = readJob{payload, j}
	}
	return j, err
}
