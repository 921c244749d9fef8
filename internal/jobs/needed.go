package jobs

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// Needs are the jobs and arrays that jobs that have not ended depend on.
type Needs struct{ numbers *roaring64.Bitmap }

// Has reports whether a job, or its array, is among them.
func (n Needs) Has(j *row.Job) bool { return n.numbers.Contains(j.ID) || n.numbers.Contains(j.Array) }

// Needed reads them.
func Needed(r *file.Recorder) (Needs, error) {
	needed := roaring64.New()
	for _, s := range []row.JobState{row.JobHeld, row.JobQueued, row.JobReserved, row.JobRunning} {
		err := r.Each(row.JobStates, []byte{byte(s)}, func(key, _ []byte) (bool, error) {
			if len(key) != 9 {
				return false, fmt.Errorf("%w: job state %x", row.ErrDamaged, key)
			}
			j, err := RowOf(r, row.Number64(key[1:]))
			if err != nil {
				return false, err
			}
			for _, d := range j.After {
				needed.Add(d.Job)
			}
			return true, nil
		})
		if err != nil {
			return Needs{}, err
		}
	}
	return Needs{needed}, nil
}

// RowOf reads a job that another row names.
func RowOf(r *file.Recorder, id uint64) (*row.Job, error) {
	key := row.Key64(id)
	payload, err := r.Get(row.Jobs, key)
	switch {
	case err != nil:
		return nil, err
	case payload == nil:
		return nil, row.LostJob(id)
	}
	return row.DecodeJob(key, payload)
}

// EndedBefore reports whether a job has ended before an instant.
func EndedBefore(j *row.Job, before int64) bool { return !j.State.Live() && j.End < before }

// Stays reports whether a job must stay in the file: it has not ended before the instant,
// another job depends on it or on its array, or its launcher must still be told to stop it.
func Stays(r *file.Recorder, j *row.Job, before int64, needed Needs) (bool, error) {
	if !EndedBefore(j, before) || needed.Has(j) {
		return true, nil
	}
	stop, err := r.Get(row.Stops, row.Key64(j.ID))
	return stop != nil, err
}
