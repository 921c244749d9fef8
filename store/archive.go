package store

import (
	"errors"
	"time"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// Archived is what Archive took out of a database.
type Archived struct {
	Jobs    int64
	Events  int64
	Batches int64
	Stay    int64 // ended jobs that are old enough and stay: others depend on them, or on one of their array
}

// ArchiveOptions are how jobs are archived. The zero value works.
type ArchiveOptions struct {
	DryRun bool // nothing is written, and nothing goes
	Watch  Watch
}

// Archive moves what has ended before an instant into a file: jobs, their events and
// those of nodes and reservations, and batches. A file whose name ends in .db is a
// database, with the nodes, for queries; one in .jsonl or .jsonl.gz has lines as Dump
// writes them. One that is there has to be an archive of this database, and gets more.
//
// Jobs stay that others which have not ended depend on; so does an array as long as one
// of its jobs does. The file is synced before the first row goes; they go by ten
// thousand. Killed at any point, each job is in one of the two, or in both; the same call
// again goes on.
func (db *DB) Archive(to string, before time.Time, opt *ArchiveOptions) (*Archived, error) {
	if opt == nil {
		opt = new(ArchiveOptions)
	}
	write, err := archiveWriter(to)
	if err != nil {
		return nil, err
	}
	from, err := db.Copy()
	if err != nil {
		from = db // there is no room for a copy: writers wait
	} else {
		defer from.Close()
	}
	var old *expired
	err = from.view(func(tx *Tx) (err error) {
		if old, err = tx.expired(before.Unix()); err != nil || opt.DryRun || old.empty() {
			return err
		}
		return write(tx, to, old, opt.Watch)
	})
	if err != nil {
		return nil, err
	}
	out := &Archived{Jobs: int64(old.jobs.GetCardinality()), Events: int64(old.events.GetCardinality()), Batches: int64(len(old.batches)), Stay: old.stay}
	if opt.DryRun {
		return out, nil
	}
	return out, db.removeExpired(old, opt.Watch)
}

// view is View at the instant that the file stands for.
func (db *DB) view(fn func(*Tx) error) error {
	return db.file.View(func(r *file.Recorder) error {
		tx, err := db.beginAsOf(r)
		if err != nil {
			return err
		}
		return fn(tx)
	})
}

// expired is what an archive takes.
type expired struct {
	jobs, events *roaring64.Bitmap
	batches      []string
	stay         int64
}

func (x *expired) empty() bool {
	return x.jobs.IsEmpty() && x.events.IsEmpty() && len(x.batches) == 0
}

// expired finds what has ended before an instant and may go.
func (tx *Tx) expired(before int64) (*expired, error) {
	x := &expired{jobs: roaring64.New(), events: roaring64.New()}
	needed, err := tx.needed()
	if err != nil {
		return nil, err
	}
	var array []uint64 // the jobs of the array at hand that may go
	whole, of := true, uint64(0)
	next := func(number uint64) {
		if whole {
			x.jobs.AddMany(array)
		} else {
			x.stay += int64(len(array))
		}
		array, whole, of = array[:0], true, number
	}
	err = tx.file.Each(row.Jobs, nil, func(key, payload []byte) (bool, error) {
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
		if stays, err := tx.stays(j, before, needed); err != nil || stays {
			whole = false
			return true, err
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	next(0)
	err = tx.file.Each(row.Events, nil, func(key, payload []byte) (bool, error) {
		ev, err := row.DecodeEvent(key, payload)
		if err != nil || ev.Time >= before {
			return true, err
		}
		gone := ev.Job == 0 || x.jobs.Contains(ev.Job)
		if !gone {
			there, err := tx.file.Get(row.Jobs, row.Key64(ev.Job))
			if gone = there == nil; err != nil {
				return false, err
			}
		}
		if gone {
			x.events.Add(ev.ID)
		}
		return true, nil
	})
	batches := tx.file.Each(row.Batches, nil, func(key, payload []byte) (bool, error) {
		b, err := row.DecodeBatch(key, payload)
		if err == nil && b.Ended > 0 && b.Ended < before {
			x.batches = append(x.batches, b.Name)
		}
		return true, err
	})
	return x, errors.Join(err, batches)
}

// needed are the jobs that some depend on which have not ended.
func (tx *Tx) needed() (*roaring64.Bitmap, error) {
	needed := roaring64.New()
	err := tx.eachJob(func(j *row.Job) error {
		for _, d := range j.After {
			needed.Add(d.Job)
		}
		return nil
	}, JobHeld, JobQueued, JobReserved, JobRunning)
	return needed, err
}

// over reports whether a job has ended before an instant.
func over(j *row.Job, before int64) bool { return !j.State.Live() && j.End < before }

// stays reports whether a job cannot go: it has not ended before the instant, somebody
// depends on it, or is to be told to stop it.
func (tx *Tx) stays(j *row.Job, before int64, needed *roaring64.Bitmap) (bool, error) {
	if !over(j, before) || needed.Contains(j.ID) {
		return true, nil
	}
	stop, err := tx.file.Get(row.Stops, row.Key64(j.ID))
	return stop != nil, err
}

// archiveRows is how many rows go in a commit.
const archiveRows = 10_000

// removeExpired takes out of the database what is in an archive.
func (db *DB) removeExpired(old *expired, watch Watch) error {
	for _, name := range old.batches {
		err := db.Update(func(tx *Tx) error {
			b, err := tx.Batch(name)
			if errors.Is(err, ErrNotFound) || err == nil && b.Ended == 0 {
				return nil // it went meanwhile, or goes on
			}
			if err != nil {
				return err
			}
			_, err = tx.RemoveBatch(name)
			return err
		})
		if err != nil {
			return err
		}
	}
	remove := func(ids *roaring64.Bitmap, fn func(tx *Tx, ids []uint64) error) error {
		some := make([]uint64, archiveRows)
		for it := ids.ManyIterator(); ; {
			n := it.NextMany(some)
			if n == 0 {
				return nil
			}
			if err := db.Update(func(tx *Tx) error { return fn(tx, some[:n]) }); err != nil {
				return err
			}
			if watch != nil {
				if err := watch(int64(n)); err != nil {
					return err
				}
			}
		}
	}
	return errors.Join(remove(old.jobs, (*Tx).removeEnded), remove(old.events, (*Tx).removeEvents))
}

// removeEnded forgets jobs that have ended, but for those that somebody has come to depend
// on.
func (tx *Tx) removeEnded(ids []uint64) error {
	needed, err := tx.needed()
	if err != nil {
		return err
	}
	dropped := make(map[row.PayloadKey]uint64)
	for _, id := range ids {
		key := row.Key64(id)
		payload, err := tx.file.Get(row.Jobs, key)
		if err != nil || payload == nil || needed.Contains(id) {
			if err != nil {
				return err
			}
			continue
		}
		j, err := row.DecodeJob(key, payload)
		if err != nil {
			return err
		}
		if j.State.Live() {
			continue
		}
		err = errors.Join(tx.file.Remove(row.Jobs, key), tx.file.Remove(row.JobStates, row.JobStateKey(j.State, id)))
		if err != nil {
			return tx.spoil(err)
		}
		dropped[j.Payload]++
	}
	return tx.spoil(tx.drop(dropped))
}

// removeEvents forgets events.
func (tx *Tx) removeEvents(ids []uint64) error {
	for _, id := range ids {
		if err := tx.file.Remove(row.Events, row.Key64(id)); err != nil {
			return tx.spoil(err)
		}
	}
	return nil
}
