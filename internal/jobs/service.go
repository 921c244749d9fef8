// Package jobs changes jobs: their states, in one machine for all verbs, their submissions and
// attempts, and the hosts that execute them.
package jobs

import (
	"strings"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
)

// Jobs are the jobs in a transaction: placed at an instant, or submitted to the queue.
type Jobs struct{ tx *kernel.Tx }

// JobsOf returns the jobs of a transaction.
func JobsOf(tx *kernel.Tx) Jobs { return Jobs{tx} }

// Attempts are the starts of jobs in a transaction: who executes them, and how they ended.
type Attempts struct{ tx *kernel.Tx }

// AttemptsOf returns the attempts of a transaction.
func AttemptsOf(tx *kernel.Tx) Attempts { return Attempts{tx} }

// Get returns a job by its number, or ErrNotFound.
func (js Jobs) Get(id uint64) (*kernel.Job, error) { return kernel.JobResult(js.tx.Job(id)) }

// Next returns the number that the next job gets.
func (js Jobs) Next() uint64 { return js.tx.State.NextJob }

// Each calls fn for jobs by number, until fn fails: for all jobs, or for those that are in one
// of the states when Each begins. It passes each job as it is at its turn.
func (js Jobs) Each(fn func(*kernel.Job) error, states ...row.JobState) error {
	var j row.Job // one variable for all: callers get copies
	return js.tx.EachJobRow(func(key, payload []byte) error {
		if err := j.Decode(key, payload); err != nil {
			return err
		}
		return fn(kernel.JobOf(&j))
	}, states)
}

// PutJob writes a job and everything that follows from it, and records the event. was is the
// job's former state, or 0 for a new job.
func PutJob(tx *kernel.Tx, j *row.Job, was row.JobState) error {
	plan.NoteDevices(tx, j)
	if j.State != row.JobRunning {
		j.Devices = nil
	}
	if was != j.State {
		if was == row.JobQueued {
			if err := tx.Counters().Rules.Disclaim(j.ID); err != nil {
				return err
			}
		}
		err := tx.Happened(kernel.JobEvent(j, was))
		if err == nil {
			err = tx.Loaded.Tallies.Came(j, was)
		}
		if err != nil {
			return err
		}
	}
	err := plan.NoteIdle(tx, j, was)
	if err == nil {
		tx.Loaded.Queue.Noted(j)
		err = tx.Loaded.Jobs.Put(j)
	}
	if err == nil && was != row.JobRunning && j.State == row.JobRunning {
		err = tx.Loaded.Book.Turn(j, len(j.AllNodes()), j.Start, 1)
	}
	if err == nil && was != j.State && was != 0 && (was == row.JobRunning || !j.State.Live()) {
		err = tx.Loaded.Book.Left(j, was, j.CurrentAttempt())
	}
	if err != nil || j.Array == 0 || j.State.Live() || !was.Live() {
		return err
	}
	return plan.ArrayEnded(tx, j.Array)
}

// Asked returns the chunks that a job asked for, one for each of j.Chunks, and none for a job
// without nodes. They are empty if an ended job names a resource that is no longer defined.
func (js Jobs) Asked(j *kernel.Job) ([]placer.Chunk, error) {
	r := j.Row()
	return js.tx.Asked(&r)
}

// ExecVNode returns where a job runs in the notation of PBS, (n0:ncpus=2)+(n0:ncpus=2): one entry
// per chunk, in select order.
func (js Jobs) ExecVNode(j *kernel.Job) (string, error) {
	defs, err := js.tx.Resources()
	if err != nil {
		return "", err
	}
	chunks, err := JobsOf(js.tx).Asked(j)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, c := range j.Chunks {
		for _, n := range c.Nodes {
			name, err := js.tx.Loaded.Nodes.Name(n.Node)
			if err != nil {
				return "", err
			}
			one := chunks[i].ExecVNode(defs, name)
			for range n.Chunks {
				if b.Len() > 0 {
					b.WriteByte('+')
				}
				b.WriteString(one)
			}
		}
	}
	return b.String(), nil
}
