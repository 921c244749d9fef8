package recovery

import (
	"errors"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// Expired is what has ended and may go: into an archive, and out of the database.
type Expired struct {
	Jobs, Events *roaring64.Bitmap // by number
	Batches      []string
	Stay         int64 // ended jobs that are old enough and stay
}

// Empty reports whether there is nothing.
func (x *Expired) Empty() bool {
	return x.Jobs.IsEmpty() && x.Events.IsEmpty() && len(x.Batches) == 0
}

// Expire finds what has ended before an instant and may go: no job that others depend on
// which have not ended, and of an array all or none.
func Expire(r *file.Recorder, before int64) (*Expired, error) {
	x := &Expired{Jobs: roaring64.New(), Events: roaring64.New()}
	needed, err := Needed(r)
	if err != nil {
		return nil, err
	}
	var array []uint64 // the jobs of the array at hand that may go
	whole, of := true, uint64(0)
	next := func(number uint64) {
		if whole {
			x.Jobs.AddMany(array)
		} else {
			x.Stay += int64(len(array))
		}
		array, whole, of = array[:0], true, number
	}
	err = r.Each(row.Jobs, nil, func(key, payload []byte) (bool, error) {
		j, err := row.DecodeJob(key, payload)
		if err != nil {
			return false, err
		}
		if j.Array == 0 || j.Array != of {
			next(j.Array)
		}
		if over(j, before) {
			array = append(array, j.ID)
		}
		if stays, err := Stays(r, j, before, needed); err != nil || stays {
			whole = false
			return true, err
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	next(0)
	err = r.Each(row.Events, nil, func(key, payload []byte) (bool, error) {
		ev, err := row.DecodeEvent(key, payload)
		if err != nil || ev.Time >= before {
			return true, err
		}
		gone := ev.Job == 0 || x.Jobs.Contains(ev.Job)
		if !gone {
			there, err := r.Get(row.Jobs, row.Key64(ev.Job))
			if gone = there == nil; err != nil {
				return false, err
			}
		}
		if gone {
			x.Events.Add(ev.ID)
		}
		return true, nil
	})
	batches := r.Each(row.Batches, nil, func(key, payload []byte) (bool, error) {
		b, err := row.DecodeBatch(key, payload)
		if err == nil && b.Ended > 0 && b.Ended < before {
			x.Batches = append(x.Batches, b.Name)
		}
		return true, err
	})
	return x, errors.Join(err, batches)
}

// Needed are the jobs that some depend on which have not ended.
func Needed(r *file.Recorder) (*roaring64.Bitmap, error) {
	needed := roaring64.New()
	for _, s := range []row.JobState{row.JobHeld, row.JobQueued, row.JobReserved, row.JobRunning} {
		err := r.Each(row.JobStates, []byte{byte(s)}, func(key, _ []byte) (bool, error) {
			if len(key) != 9 {
				return false, fmt.Errorf("%w: job state %x", row.ErrDamaged, key)
			}
			j, err := jobOf(r, row.Number64(key[1:]))
			if err != nil {
				return false, err
			}
			for _, d := range j.After {
				needed.Add(d.Job)
			}
			return true, nil
		})
		if err != nil {
			return nil, err
		}
	}
	return needed, nil
}

// jobOf reads a job that another row names.
func jobOf(r *file.Recorder, id uint64) (*row.Job, error) {
	key := row.Key64(id)
	payload, err := r.Get(row.Jobs, key)
	switch {
	case err != nil:
		return nil, err
	case payload == nil:
		return nil, fmt.Errorf("%w: job %d is missing", row.ErrDamaged, id)
	}
	return row.DecodeJob(key, payload)
}

// over reports whether a job has ended before an instant.
func over(j *row.Job, before int64) bool { return !j.State.Live() && j.End < before }

// Stays reports whether a job must stay: it has not ended before the instant, another job depends
// on it, or its launcher must still be told to stop it.
func Stays(r *file.Recorder, j *row.Job, before int64, needed *roaring64.Bitmap) (bool, error) {
	if !over(j, before) || needed.Contains(j.ID) {
		return true, nil
	}
	stop, err := r.Get(row.Stops, row.Key64(j.ID))
	return stop != nil, err
}
