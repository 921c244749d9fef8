package kernel

import (
	"fmt"
	"strconv"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

func (tx *Tx) Job(id uint64) (*row.Job, error) {
	key := row.Key64(id)
	payload, err := tx.Loaded.Jobs.Read(key)
	if err == nil && payload == nil {
		err = row.Missing("job", strconv.FormatUint(id, 10))
	}
	if err != nil {
		return nil, err
	}
	return row.DecodeJob(key, payload)
}

// ListedJob reads a job that another row lists. If it has no row, the file is damaged.
func (tx *Tx) ListedJob(id uint64) (*row.Job, error) {
	key, payload, err := tx.listedRow(id)
	if err != nil {
		return nil, err
	}
	return row.DecodeJob(key, payload)
}

// listedRow returns the row of a job that another row lists.
func (tx *Tx) listedRow(id uint64) (key, payload []byte, err error) {
	key = row.Key64(id)
	payload, err = tx.Loaded.Jobs.Read(key)
	if err == nil && payload == nil {
		err = row.LostJob(id)
	}
	return key, payload, err
}

func (tx *Tx) EachJob(fn func(*row.Job) error, states ...row.JobState) error {
	return tx.EachJobRow(func(key, payload []byte) error {
		j, err := row.DecodeJob(key, payload)
		tx.Loaded.Jobs.Handed(key, payload)
		if err != nil {
			return err
		}
		return fn(j)
	}, states)
}

// EachJobRow calls fn for the rows of jobs in the given states, until fn fails.
func (tx *Tx) EachJobRow(fn func(key, payload []byte) error, states []row.JobState) error {
	if len(states) == 0 {
		return tx.File.Each(row.Jobs, nil, func(key, payload []byte) (bool, error) { return true, fn(key, payload) })
	}
	walks := make([]*file.Walk, len(states)) // read all rows first, because fn may move jobs from one state to another
	for i, s := range states {
		walks[i] = tx.File.Walk(row.JobStates, []byte{byte(s)}, []byte{byte(s)})
		defer walks[i].End()
	}
	rows := tx.File.Finder(row.Jobs)
	for _, w := range walks {
		err := w.Each(func(key, _ []byte) (bool, error) {
			if len(key) != 9 {
				return false, fmt.Errorf("%w: job state %x", row.ErrDamaged, key)
			}
			payload, err := rows.Find(key[1:])
			if err == nil && payload == nil {
				err = row.LostJob(row.Number64(key[1:]))
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

// NodeNames returns the names of a job's nodes, in chunk order.
func (tx *Tx) NodeNames(numbers []uint32) ([]string, error) {
	out := make([]string, len(numbers))
	for i, number := range numbers {
		name, err := tx.Loaded.Nodes.Name(number)
		if err != nil {
			return nil, err
		}
		out[i] = name
	}
	return out, nil
}

func (tx *Tx) Asked(j *row.Job) ([]placer.Chunk, error) {
	if len(j.Chunks) == 0 && j.State != row.JobRunning && j.State != row.JobReserved {
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
		return nil, fmt.Errorf("%w: job %d has the select %q", row.ErrDamaged, j.ID, j.Select)
	}
	return chunks, nil
}

// Owner is the job or reservation that a stretch of the calendar belongs to.
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

// Owner returns the owner of a stretch of the calendar.
func (tx *Tx) Owner(b timeline.Busy) (Owner, error) {
	if !row.IsReservation(b.Owner) {
		return Owner{Job: b.Owner >> 1}, nil
	}
	r, err := tx.Reservations().ByID(b.Owner >> 1)
	if err != nil {
		return Owner{}, err
	}
	return Owner{Reservation: r.Name}, nil
}

// OwnerNodes lists the nodes of a job or reservation.
func (tx *Tx) OwnerNodes(owner uint64) ([]uint32, error) {
	if row.IsReservation(owner) {
		r, err := tx.Reservations().ByID(owner >> 1)
		if err != nil {
			return nil, err
		}
		return r.Nodes, nil
	}
	key, payload, err := tx.listedRow(owner >> 1)
	if err != nil {
		return nil, err
	}
	var v row.JobView
	if err := v.Open(key, payload); err != nil {
		return nil, err
	}
	return v.AllNodes()
}
