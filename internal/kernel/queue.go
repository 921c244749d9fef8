package kernel

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/cycle"
)

// ByKey returns the job with a key of the queue.
func (ws Waiting) ByKey(key []byte) (*row.Job, error) {
	if len(key) != 16 {
		return nil, fmt.Errorf("%w: waiting %x", row.ErrDamaged, key)
	}
	id := binary.BigEndian.Uint64(key[8:])
	_, payload, err := ws.tx.listedRow(id)
	if err != nil {
		return nil, err
	}
	return ws.ListedAs(id, payload)
}

// ListedAs decodes the row of a waiting job.
func (ws Waiting) ListedAs(id uint64, payload []byte) (*row.Job, error) {
	if q := ws.tx.Loaded.Queue; q != nil && q.Read != nil {
		return q.job(id, payload)
	}
	ws.tx.Loaded.Jobs.Handed(row.Key64(id), payload)
	return row.DecodeJob(row.Key64(id), payload)
}

// PlayedQueue is the queue of a play, kept from one instant to the next. It follows the rows of
// jobs as they are put.
type PlayedQueue struct {
	line   []*QueuedJob          // the waiting jobs in order, and those that have left since it was read
	Listed map[uint64]*QueuedJob // nil if the queue must be read again
	Read   map[uint64]ReadJob    // waiting jobs by number; nil under preemption
}

// QueuedJob is a job that waited when the queue was read.
type QueuedJob struct {
	Job   *row.Job // nil if it has left the queue
	Turn  cycle.Job
	AsWas bool // Turn still matches the job
}

// ReadJob is a job and the row that it was decoded from.
type ReadJob struct {
	payload []byte
	job     *row.Job
}

// List sets the queue to the waiting jobs, in order.
func (q *PlayedQueue) List(line []*row.Job) {
	q.line, q.Listed = nil, make(map[uint64]*QueuedJob, len(line))
	for _, j := range line {
		x := &QueuedJob{Job: j}
		q.line, q.Listed[j.ID] = append(q.line, x), x
	}
}

// Waiting lists the jobs that still wait.
func (q *PlayedQueue) Waiting() []*QueuedJob {
	q.line = slices.DeleteFunc(q.line, func(x *QueuedJob) bool { return x.Job == nil })
	return q.line
}

// Noted updates the queue after a job's row has changed.
func (q *PlayedQueue) Noted(j *row.Job) {
	if q == nil || q.Listed == nil {
		return
	}
	x, waits := q.Listed[j.ID], j.Waits(j.State)
	switch {
	case x == nil && waits, x != nil && waits && x.Job.Priority != j.Priority:
		q.Listed = nil
	case x == nil:
	case waits:
		x.Job, x.AsWas = j, false
	default:
		x.Job = nil
		delete(q.Listed, j.ID)
	}
}

// Queued returns a job's entry in the queue, or nil if there is none.
func (q *PlayedQueue) Queued(j *row.Job) *QueuedJob {
	if q == nil || q.Listed == nil {
		return nil
	}
	return q.Listed[j.ID]
}

// job decodes the row of a waiting job, once until the row changes.
func (q *PlayedQueue) job(id uint64, payload []byte) (*row.Job, error) {
	if was, known := q.Read[id]; known && len(was.payload) == len(payload) && &was.payload[0] == &payload[0] {
		return was.job, nil
	}
	j, err := row.DecodeJob(row.Key64(id), payload)
	if err == nil {
		q.Read[id] = ReadJob{payload, j}
	}
	return j, err
}

// MaxPriority is the highest priority of a job; the lowest is -MaxPriority.
const MaxPriority = 1 << 40

// Waiting is the part of a transaction that deals with waiting jobs.
type Waiting struct{ tx *Tx }

func (tx *Tx) Waiting() Waiting { return Waiting{tx} }

// IsArray reports whether a number is that of an array: the jobs behind it say so.
func (tx *Tx) IsArray(number uint64) (is bool, err error) {
	err = tx.File.EachFrom(row.Jobs, row.Key64(number), nil, func(key, payload []byte) (bool, error) {
		j, err := row.DecodeJob(key, payload)
		is = err == nil && number != 0 && j.Array == number
		return false, err
	})
	return is, err
}

// ArrayJobs returns the jobs of an array by number.
func (tx *Tx) ArrayJobs(array uint64) ([]*row.Job, error) {
	var list []*row.Job
	err := tx.File.EachFrom(row.Jobs, row.Key64(array), nil, func(key, payload []byte) (bool, error) {
		j, err := row.DecodeJob(key, payload)
		if err != nil || j.Array != array {
			return false, err
		}
		list = append(list, j)
		return true, nil
	})
	if err == nil && len(list) == 0 {
		err = row.Missing("job array", strconv.FormatUint(array, 10))
	}
	return list, err
}

// JobOrArray returns the job with a number, or the jobs of the array with it.
func (tx *Tx) JobOrArray(number uint64) ([]*row.Job, error) {
	if is, err := tx.IsArray(number); is || err != nil {
		if err != nil {
			return nil, err
		}
		return tx.ArrayJobs(number)
	}
	j, err := tx.Job(number)
	if err != nil {
		return nil, err
	}
	return []*row.Job{j}, nil
}

// A cycle is one pass over the queue: due jobs begin, overdue jobs end, and waiting jobs are
// started or planned in order. It is one transaction, and a second cycle at the same instant
// changes nothing.
//
// Jobs are taken by priority, then by number. Package placer/cycle decides which of them start.

// Backfill says which jobs a cycle plans ahead, and which jobs may pass them.
type Backfill uint8

// The kinds of backfilling.
const (
	AsSet        Backfill = iota // as the setting backfill says
	EASY                         // the first that does not fit is planned, the others go around it
	FCFS                         // no job passes one that does not fit
	Conservative                 // all are planned
	Relaxed                      // the first that does not fit is promised a start, the shortest go around it
)

var backfillNames = [...]string{EASY: "easy", FCFS: "fcfs", Conservative: "conservative", Relaxed: "relaxed"}

func (b Backfill) String() string { return backfillNames[b] }

// ParseBackfill reads a kind of backfilling, "" for AsSet.
func ParseBackfill(s string) (Backfill, error) {
	for i, name := range backfillNames {
		if strings.EqualFold(s, name) {
			return Backfill(i), nil
		}
	}
	return 0, fmt.Errorf("no backfill %q: use fcfs, easy, conservative or relaxed%w", s, file.Wordless(row.ErrInvalid))
}

// ToBeLaunched lists the running jobs that have not been reported for launching.
func (tx *Tx) ToBeLaunched() (ids []uint64, err error) {
	err = tx.File.Each(row.Launches, nil, func(key, _ []byte) (bool, error) {
		if len(key) != 8 {
			return false, fmt.Errorf("%w: launch %x", row.ErrDamaged, key)
		}
		ids = append(ids, binary.BigEndian.Uint64(key))
		return true, nil
	})
	return ids, err
}

// BeatWithin returns the seconds within which a host sends a heartbeat.
func (s *Settings) BeatWithin() int64 { return Seconds(s.LostAfter) / BeatsWithin }

// BeatsWithin is how many heartbeats a host sends within the time after which it counts as
// unreachable.
const BeatsWithin = 6

// Counts reports whether a heartbeat at an instant still proves that processes exist now.
func (s *Settings) Counts(seen, now int64) bool { return now-seen <= Seconds(s.LostAfter)/2 }
