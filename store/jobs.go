package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/timeline"
)

// Job finds a job by its number, ErrNotFound when there is none.
func (tx *Tx) Job(id uint64) (*Job, error) { return jobResult(tx.job(id)) }

func (tx *Tx) job(id uint64) (*row.Job, error) {
	key, payload, err := tx.jobRow(id)
	if err != nil {
		return nil, err
	}
	return row.DecodeJob(key, payload)
}

// jobRow is the row of a job.
func (tx *Tx) jobRow(id uint64) (key, payload []byte, err error) {
	key = row.Key64(id)
	payload, err = tx.loaded.jobs.Read(key)
	if err == nil && payload == nil {
		err = row.Missing("job", strconv.FormatUint(id, 10))
	}
	return key, payload, err
}

// EachJob calls fn for the jobs by number, all or only those in a state at the beginning, until fn
// fails. Each job is passed as it is when its turn comes.
func (tx *Tx) EachJob(fn func(*Job) error, states ...JobState) error {
	var j row.Job // one for all: callers get copies
	return tx.eachJobRow(func(key, payload []byte) error {
		if err := j.Decode(key, payload); err != nil {
			return err
		}
		return fn(jobOf(&j))
	}, states)
}

func (tx *Tx) eachJob(fn func(*row.Job) error, states ...JobState) error {
	return tx.eachJobRow(func(key, payload []byte) error {
		j, err := row.DecodeJob(key, payload)
		tx.loaded.jobs.Handed(key, payload)
		if err != nil {
			return err
		}
		return fn(j)
	}, states)
}

// eachJobRow goes through the rows of jobs.
func (tx *Tx) eachJobRow(fn func(key, payload []byte) error, states []JobState) error {
	if len(states) == 0 {
		return tx.file.Each(row.Jobs, nil, func(key, payload []byte) (bool, error) { return true, fn(key, payload) })
	}
	walks := make([]*file.Walk, len(states)) // all at once: fn may move jobs from one state to another
	for i, s := range states {
		walks[i] = tx.file.Walk(row.JobStates, []byte{byte(s)}, []byte{byte(s)})
		defer walks[i].End()
	}
	rows := tx.file.Finder(row.Jobs)
	for _, w := range walks {
		err := w.Each(func(key, _ []byte) (bool, error) {
			if len(key) != 9 {
				return false, fmt.Errorf("%w: job state %x", ErrDamaged, key)
			}
			payload, err := rows.Find(key[1:])
			if err == nil && payload == nil {
				err = row.Missing("job", strconv.FormatUint(binary.BigEndian.Uint64(key[1:]), 10))
			}
			if err != nil {
				return false, err
			}
			return true, fn(key[1:], payload)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// putJob writes a job that comes from a state, or 0 for a new one, with everything that follows
// from it, and records the event.
func (tx *Tx) putJob(j *row.Job, was JobState) error {
	tx.nodeDevices().noted(j)
	if j.State != JobRunning {
		j.Devices = nil
	}
	if was != j.State {
		if was == JobQueued {
			if err := tx.counters().Rules.Disclaim(j.ID); err != nil {
				return err
			}
		}
		if err := errors.Join(tx.happened(jobEvent(j, was)), tx.loaded.tallies.Came(j, was)); err != nil {
			return err
		}
	}
	err := tx.waiting().idles(j, was)
	if err == nil {
		tx.loaded.queue.noted(j)
		err = tx.loaded.jobs.Put(j)
	}
	if err == nil && was != JobRunning && j.State == JobRunning {
		err = tx.loaded.book.Turn(j, len(j.AllNodes()), j.Start, 1)
	}
	if err == nil && was != j.State && was != 0 && (was == JobRunning || !j.State.Live()) {
		err = tx.loaded.book.Left(j, was, j.CurrentAttempt())
	}
	if err != nil || j.Array == 0 || j.State.Live() || !was.Live() {
		return err
	}
	return tx.counters().arrayEnded(j.Array)
}

// NodeNames are the names of a job's nodes, in chunk order.
func (tx *Tx) NodeNames(numbers []uint32) ([]string, error) {
	out := make([]string, len(numbers))
	for i, number := range numbers {
		name, err := tx.loaded.nodes.Name(number)
		if err != nil {
			return nil, err
		}
		out[i] = name
	}
	return out, nil
}

// Asked is the chunks that a job asked for, one for each of j.Chunks: none for a job
// that has no nodes. Where a resource that an ended job named is not defined any
// more they are empty.
func (tx *Tx) Asked(j *Job) ([]placer.Chunk, error) {
	r := j.row()
	return tx.asked(&r)
}

func (tx *Tx) asked(j *row.Job) ([]placer.Chunk, error) {
	if len(j.Chunks) == 0 && j.State != JobRunning && j.State != JobReserved {
		return nil, nil
	}
	defs, err := tx.Resources()
	if err != nil {
		return nil, err
	}
	chunks, err := placer.ParseSelect(defs, j.Select)
	switch {
	case err != nil && !j.State.Live():
		return make([]placer.Chunk, len(j.Chunks)), nil
	case err != nil || len(chunks) != len(j.Chunks):
		return nil, fmt.Errorf("%w: job %d has the select %q", ErrDamaged, j.ID, j.Select)
	}
	return chunks, nil
}

// ExecVNode writes where a job runs as PBS does: (n0:ncpus=2)+(n0:ncpus=2), one
// entry a chunk, chunks in select order.
func (tx *Tx) ExecVNode(j *Job) (string, error) {
	defs, err := tx.Resources()
	if err != nil {
		return "", err
	}
	chunks, err := tx.Asked(j)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, c := range j.Chunks {
		for _, n := range c.Nodes {
			name, err := tx.loaded.nodes.Name(n.Node)
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

// Owner is whose a stretch of the calendar is: a job's or a reservation's.
type Owner struct {
	Job         uint64 // 0 for a reservation
	Reservation string
}

func (o Owner) String() string {
	if o.Job != 0 {
		return "job " + strconv.FormatUint(o.Job, 10)
	}
	return "reservation " + o.Reservation
}

// Owner tells whose a stretch of the calendar is.
func (tx *Tx) Owner(b timeline.Busy) (Owner, error) {
	if !row.IsReservation(b.Owner) {
		return Owner{Job: b.Owner >> 1}, nil
	}
	r, err := tx.reservations().byID(b.Owner >> 1)
	if err != nil {
		return Owner{}, err
	}
	return Owner{Reservation: r.Name}, nil
}

// ownerNodes lists the nodes of a job or reservation.
func (tx *Tx) ownerNodes(owner uint64) ([]uint32, error) {
	if row.IsReservation(owner) {
		r, err := tx.reservations().byID(owner >> 1)
		if err != nil {
			return nil, err
		}
		return r.Nodes, nil
	}
	key, payload, err := tx.jobRow(owner >> 1)
	if err != nil {
		return nil, err
	}
	var v row.JobView
	if err := v.Open(key, payload); err != nil {
		return nil, err
	}
	return v.AllNodes()
}
