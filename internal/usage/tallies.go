package usage

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// Tallies holds the counts that a transaction has read and changed.
type Tallies struct {
	Rows   *file.Recorder
	queues []*QueueTally
	lots   map[string]int64 // changes of Lots that are not written yet
}

// QueueTally holds the counts of a queue.
type QueueTally struct {
	Name    string
	Tally   *row.Tally
	Counts  [row.JobLate + 1]uint64 // by state
	known   [row.JobLate + 1]bool
	changed [row.JobLate + 1]bool
	ended   bool // the tally changed
}

// of returns the counts of a queue.
func (ts *Tallies) of(queue string) (*QueueTally, error) {
	for _, q := range ts.queues {
		if q.Name == queue {
			return q, nil
		}
	}
	key := row.TallyKey(queue)
	payload, err := ts.Rows.Get(row.Tallies, key)
	if err != nil {
		return nil, err
	}
	q := &QueueTally{Name: queue, Tally: new(row.Tally)}
	if payload != nil {
		if q.Tally, err = row.TallyRow.Decode(key, payload); err != nil {
			return nil, err
		}
	}
	ts.queues = append(ts.queues, q)
	return q, nil
}

// add counts n jobs of a queue that have entered a state, or left it if n is negative.
func (ts *Tallies) add(q *QueueTally, state row.JobState, n int64) error {
	if !q.known[state] {
		key := row.JobCountKey(state, q.Name)
		payload, err := ts.Rows.Get(row.JobCounts, key)
		if err != nil {
			return err
		}
		if payload != nil {
			if q.Counts[state], err = row.DecodeCount(row.JobCounts, key, payload); err != nil {
				return err
			}
		}
		q.known[state] = true
	}
	// a wrong count, which check finds, must not keep a job from ending
	q.Counts[state] = uint64(max(0, int64(q.Counts[state])+n))
	q.changed[state] = q.changed[state] || n != 0
	return nil
}

// Came counts a job that has changed from the state was (0 for a new job) to its present one.
func (ts *Tallies) Came(j *row.Job, was row.JobState) error {
	q, err := ts.of(j.Queue)
	if err != nil {
		return err
	}
	if was == 0 {
		q.Tally.Submitted++
		q.ended = true
	}
	if !j.State.Live() && (was == 0 || was.Live()) {
		q.end(j, was)
	}
	return nil
}

// Count changes the number of jobs of a queue in a state, by the key of JobCounts, or the
// number of equal waiting jobs of an array, by that of Lots.
func (ts *Tallies) Count(t row.Table, key []byte, by int64) error {
	if t == row.Lots {
		if ts.lots == nil {
			ts.lots = make(map[string]int64)
		}
		ts.lots[string(key)] += by
		return nil
	}
	q, err := ts.of(string(key[1:]))
	if err != nil {
		return err
	}
	return ts.add(q, row.JobState(key[0]), by)
}

// end counts a job that has ended, and how long it waited if it has run.
func (q *QueueTally) end(j *row.Job, was row.JobState) {
	switch q.ended = true; j.State {
	case row.JobFinished:
		q.Tally.Finished++
	case row.JobFailed:
		q.Tally.Failed++
	default:
		q.Tally.Cancelled++
	}
	if was == row.JobRunning {
		q.Tally.Wait(j.Start - j.Submit)
	}
}

// Flush writes back what has changed.
func (ts *Tallies) Flush() error {
	for _, q := range ts.queues {
		if q.ended {
			if err := ts.Rows.Put(row.Tallies, row.TallyKey(q.Name), row.TallyRow.Encode(q.Tally)); err != nil {
				return err
			}
			q.ended = false
		}
		for state, changed := range q.changed {
			if !changed {
				continue
			}
			var payload []byte
			if n := q.Counts[state]; n > 0 {
				payload = row.EncodeCount(n)
			}
			if err := ts.Rows.PutOrRemove(row.JobCounts, row.JobCountKey(row.JobState(state), q.Name),
				payload); err != nil {
				return err
			}
			q.changed[state] = false
		}
	}
	return ts.flushLots()
}

func (ts *Tallies) flushLots() error {
	for key, by := range ts.lots {
		if by == 0 {
			continue
		}
		n, err := ts.Lot([]byte(key))
		if err != nil {
			return err
		}
		var payload []byte
		if n > 0 { // as in add
			payload = row.EncodeCount(uint64(n))
		}
		if err := ts.Rows.PutOrRemove(row.Lots, []byte(key), payload); err != nil {
			return err
		}
	}
	clear(ts.lots)
	return nil
}

// Lot returns the number of waiting jobs of an array at a key of Lots.
func (ts *Tallies) Lot(key []byte) (int, error) {
	by := int(ts.lots[string(key)])
	payload, err := ts.Rows.Get(row.Lots, key)
	if payload == nil || err != nil {
		return by, err
	}
	n, err := row.DecodeCount(row.Lots, key, payload)
	return int(n) + by, err
}

// All lists the counts of every queue that has had jobs, by name.
func (ts *Tallies) All() ([]*QueueTally, error) {
	err := errors.Join(
		ts.Rows.Each(row.Tallies, row.TallyPrefix(), func(key, _ []byte) (bool, error) {
			queue, _ := row.TallyQueue(key)
			_, err := ts.of(queue)
			return true, err
		}),
		ts.Rows.Each(row.JobCounts, nil, func(key, _ []byte) (bool, error) {
			if len(key) == 0 || key[0] > byte(row.JobLate) {
				return false, fmt.Errorf("%w: table %s has %x", row.ErrDamaged, row.JobCounts, key)
			}
			q, err := ts.of(string(key[1:]))
			if err == nil {
				err = ts.add(q, row.JobState(key[0]), 0)
			}
			return true, err
		}))
	slices.SortFunc(ts.queues, func(a, b *QueueTally) int { return cmp.Compare(a.Name, b.Name) })
	return ts.queues, err
}

// noteEvery is the least number of seconds between records of cycles that change nothing else.
const noteEvery = 60

// Cycled records that a cycle ran at an instant, in Unix seconds, and how long it took. wrote
// means that it changed something.
func (ts *Tallies) Cycled(at int64, took time.Duration, wrote bool) error {
	last, err := ts.LastCycle()
	if err != nil {
		return err
	}
	now := row.LastCycle{Began: at, Took: took.Nanoseconds()}
	if !wrote && last != nil && now.Began < last.Began+noteEvery {
		return nil
	}
	return ts.Rows.Put(row.Tallies, row.KeyLastCycle, row.LastCycleRow.Encode(&now))
}

// LastCycle returns when the last cycle ran, or nil if none has.
func (ts *Tallies) LastCycle() (*row.LastCycle, error) {
	payload, err := ts.Rows.Get(row.Tallies, row.KeyLastCycle)
	if err != nil || payload == nil {
		return nil, err
	}
	return row.LastCycleRow.Decode(row.KeyLastCycle, payload)
}
