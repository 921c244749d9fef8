package recovery

import (
	"errors"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/row"
)

// Expired lists what has ended and may be moved out of the database, into an archive.
type Expired struct {
	Jobs, Events *roaring64.Bitmap // by number
	Batches      []string
	Stay         int64 // ended jobs that are old enough but stay
}

// Empty reports whether the list is empty.
func (x *Expired) Empty() bool {
	return x.Jobs.IsEmpty() && x.Events.IsEmpty() && len(x.Batches) == 0
}

// Expire finds what ended before an instant and may be moved. It leaves out jobs that others
// which have not ended depend on, and takes all jobs of an array or none.
func Expire(r *file.Recorder, before int64) (*Expired, error) {
	x := &Expired{Jobs: roaring64.New(), Events: roaring64.New()}
	needed, err := jobs.Needed(r)
	if err != nil {
		return nil, err
	}
	var array []uint64 // the jobs of the current array that may be moved
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
		if jobs.EndedBefore(j, before) {
			array = append(array, j.ID)
		}
		if stays, err := jobs.Stays(r, j, before, needed); err != nil || stays {
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
		b, err := row.BatchRow.Decode(key, payload)
		if err == nil && b.Ended > 0 && b.Ended < before {
			x.Batches = append(x.Batches, b.Name)
		}
		return true, err
	})
	return x, errors.Join(err, batches)
}
