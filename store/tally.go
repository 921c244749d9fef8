package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/store/internal/row"
)

// How many jobs of a queue are in which state, and what has come of them since the
// database was made, is counted in the commit that moves them: who asks for the numbers
// goes through no jobs. What was counted stays when the rows of jobs go.

// tallies are the counts that a transaction has read, and changed.
type tallies struct {
	tx     *Tx
	queues []*queueTally
}

// queueTally is the counts of a queue.
type queueTally struct {
	queue   string
	tally   *row.Tally
	counts  [row.JobLate + 1]uint64 // by state
	known   [row.JobLate + 1]bool
	changed [row.JobLate + 1]bool
	ended   bool // the tally has changed
}

// of finds the counts of a queue.
func (ts *tallies) of(queue string) (*queueTally, error) {
	for _, q := range ts.queues {
		if q.queue == queue {
			return q, nil
		}
	}
	key := row.TallyKey(queue)
	payload, err := ts.tx.file.Get(row.Tallies, key)
	if err != nil {
		return nil, err
	}
	q := &queueTally{queue: queue, tally: new(row.Tally)}
	if payload != nil {
		if q.tally, err = row.DecodeTally(key, payload); err != nil {
			return nil, err
		}
	}
	ts.queues = append(ts.queues, q)
	return q, nil
}

// add counts jobs of a queue that have come into a state, or have left it: n is negative.
func (ts *tallies) add(q *queueTally, state JobState, n int64) error {
	if !q.known[state] {
		key := row.JobCountKey(state, q.queue)
		payload, err := ts.tx.file.Get(row.JobCounts, key)
		if err != nil {
			return err
		}
		if payload != nil {
			if q.counts[state], err = row.DecodeCount(key, payload); err != nil {
				return err
			}
		}
		q.known[state] = true
	}
	q.counts[state] = uint64(max(0, int64(q.counts[state])+n)) // a job must not be kept from ending by a wrong count: check finds it
	q.changed[state] = q.changed[state] || n != 0
	return nil
}

// counted reports whether the file is of a format that counts. One that is not was not
// written to by this version.
func (ts *tallies) counted() bool { return ts.tx.file.Format() >= row.Tallies.Since() }

// moved counts a job that has come from a state, 0 for none, into another one.
func (ts *tallies) moved(j *row.Job, was JobState) error {
	if !ts.counted() {
		return nil
	}
	q, err := ts.of(j.Queue)
	if err != nil {
		return err
	}
	if was == 0 {
		q.tally.Submitted++
		q.ended = true
	} else if err := ts.add(q, was, -1); err != nil {
		return err
	}
	if !j.State.Live() && (was == 0 || was.Live()) {
		q.end(j, was)
	}
	return ts.add(q, j.State, 1)
}

// end counts a job that has ended, and how long it waited if it has run.
func (q *queueTally) end(j *row.Job, was JobState) {
	switch q.ended = true; j.State {
	case JobFinished:
		q.tally.Finished++
	case JobFailed:
		q.tally.Failed++
	default:
		q.tally.Cancelled++
	}
	if was == JobRunning {
		q.tally.Wait(j.Start - j.Submit)
	}
}

// gone counts a job whose row has been removed.
func (ts *tallies) gone(j *row.Job) error {
	q, err := ts.of(j.Queue)
	if err != nil {
		return err
	}
	return ts.add(q, j.State, -1)
}

// flush writes back what has changed.
func (ts *tallies) flush() error {
	for _, q := range ts.queues {
		if q.ended {
			if err := ts.tx.file.Put(row.Tallies, row.TallyKey(q.queue), row.EncodeTally(q.tally)); err != nil {
				return err
			}
			q.ended = false
		}
		for state, changed := range q.changed {
			if !changed {
				continue
			}
			var payload []byte
			if n := q.counts[state]; n > 0 {
				payload = row.EncodeCount(n)
			}
			if err := ts.tx.file.PutOrRemove(row.JobCounts, row.JobCountKey(JobState(state), q.queue), payload); err != nil {
				return err
			}
			q.changed[state] = false
		}
	}
	return nil
}

// all lists the counts of every queue that has had jobs, by name.
func (ts *tallies) all() ([]*queueTally, error) {
	err := errors.Join(
		ts.tx.file.Each(row.Tallies, row.TallyPrefix(), func(key, _ []byte) (bool, error) {
			queue, _ := row.TallyQueue(key)
			_, err := ts.of(queue)
			return true, err
		}),
		ts.tx.file.Each(row.JobCounts, nil, func(key, _ []byte) (bool, error) {
			if len(key) == 0 || key[0] > byte(row.JobLate) {
				return false, fmt.Errorf("%w: table %s has %x", ErrDamaged, row.JobCounts, key)
			}
			q, err := ts.of(string(key[1:]))
			if err == nil {
				err = ts.add(q, JobState(key[0]), 0)
			}
			return true, err
		}))
	if err == nil && !ts.counted() {
		err = ts.tx.eachJob(func(j *row.Job) error {
			q, err := ts.of(j.Queue)
			q.known[j.State] = true
			return errors.Join(err, ts.add(q, j.State, 1))
		})
	}
	slices.SortFunc(ts.queues, func(a, b *queueTally) int { return cmp.Compare(a.queue, b.queue) })
	return ts.queues, err
}

// noteEvery is how many seconds pass, at least, before a cycle that changes nothing else
// notes that it was made.
const noteEvery = 60

// cycled notes that a cycle was made.
func (ts *tallies) cycled(began, ended time.Time) error {
	last, err := ts.lastCycle()
	if err != nil {
		return err
	}
	now := row.LastCycle{Began: ts.tx.now, Took: ended.Sub(began).Nanoseconds()}
	if !ts.tx.changed() && last != nil && now.Began < last.Began+noteEvery {
		return nil
	}
	return ts.tx.file.Put(row.Tallies, row.KeyLastCycle, row.EncodeLastCycle(&now))
}

// lastCycle is when the last cycle was made, nil where none was.
func (ts *tallies) lastCycle() (*row.LastCycle, error) {
	payload, err := ts.tx.file.Get(row.Tallies, row.KeyLastCycle)
	if err != nil || payload == nil {
		return nil, err
	}
	return row.DecodeLastCycle(row.KeyLastCycle, payload)
}

// shifted counts a job that has come from another queue.
func (ts *tallies) shifted(j *row.Job, from string) error {
	if from == j.Queue || !ts.counted() {
		return nil
	}
	left, err := ts.of(from)
	if err != nil {
		return err
	}
	q, err := ts.of(j.Queue)
	if err != nil {
		return err
	}
	return errors.Join(ts.add(left, j.State, -1), ts.add(q, j.State, 1))
}
