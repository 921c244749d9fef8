package store

import (
	"cmp"
	"errors"
	"time"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/nodehistory"
	"github.com/placectl/placectl/store/internal/recovery"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/usage"
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

	rows int // that go in a commit, archiveRows where it is 0
}

// Archive moves what has ended before an instant into a file: jobs, their events and those of nodes
// and reservations, and batches. A file named *.db is a database, with the nodes, for queries;
// *.jsonl or *.jsonl.gz has lines as Dump writes them. An existing file must be an archive of this
// database, and is extended.
//
// Jobs stay if others that have not ended depend on them; an array stays as long as one of its jobs
// does. The file is synced before the first row goes; rows go by ten thousand. If the process is
// killed, each job is in one of the two, or in both, and the same call goes on. The past of nodes,
// and sums of usage, stay: the file does not have them.
func (db *DB) Archive(to string, before time.Time, opt *ArchiveOptions) (*Archived, error) {
	if opt == nil {
		opt = new(ArchiveOptions)
	}
	if err := db.permit(Owners, "archive"); err != nil {
		return nil, err
	}
	write, err := recovery.ArchiveWriter(to)
	if err != nil {
		return nil, err
	}
	from, err := db.Copy()
	if err != nil {
		from = db // there is no room for a copy: writers wait
	} else {
		defer from.Close()
	}
	var old *recovery.Expired
	err = from.view(func(tx *Tx) (err error) {
		if old, err = recovery.Expire(tx.file, before.Unix()); err != nil || opt.DryRun || old.Empty() {
			return err
		}
		return write(tx.checked(), to, old, recovery.ArchiveOptions{Open: scratchOf(db.opt), LockTimeout: db.opt.LockTimeout, Watch: opt.Watch})
	})
	if err != nil {
		return nil, err
	}
	out := &Archived{Jobs: int64(old.Jobs.GetCardinality()), Events: int64(old.Events.GetCardinality()), Batches: int64(len(old.Batches)), Stay: old.Stay}
	if opt.DryRun {
		return out, nil
	}
	if err := db.removeExpired(old, cmp.Or(opt.rows, archiveRows), opt.Watch); err != nil {
		return nil, err
	}
	return out, nil
}

// forgetNodes forgets what nodes were before an instant.
func (tx *Tx) forgetNodes(before int64) error {
	before = min(before, tx.now)
	gone, err := nodehistory.Forget(tx.file, before)
	if gone {
		tx.state.NodesSince = max(tx.state.NodesSince, before)
	}
	return tx.spoil(err)
}

// view is View at the file's own current time.
func (db *DB) view(fn func(*Tx) error) error {
	now, err := db.current()
	if err != nil {
		return err
	}
	return now.View(func(r *file.Recorder) error {
		tx, err := db.beginAsOf(r)
		if err != nil {
			return err
		}
		return fn(tx)
	})
}

// archiveRows is how many rows go in a commit.
const archiveRows = 10_000

// removeExpired deletes archived rows from the database.
func (db *DB) removeExpired(old *recovery.Expired, rows int, watch Watch) error {
	for _, name := range old.Batches {
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
		some := make([]uint64, rows)
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
	return errors.Join(remove(old.Jobs, removeEnded), remove(old.Events, removeEvents))
}

// removeEnded forgets ended jobs, except those that another job has come to depend on.
func removeEnded(tx *Tx, ids []uint64) error {
	needed, err := recovery.Needed(tx.file)
	if err != nil {
		return err
	}
	dropped, had := make(map[row.PayloadKey]uint64), make(usage.Totals)
	past := pastRuns{durations: newDurations(tx)}
	for i, id := range ids {
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
		if err := tx.loaded.book.Whole(j, had); err != nil {
			return err
		}
		if len(ids)-i <= learnedFrom { // the others would be dropped at once
			if err := past.add(j); err != nil {
				return err
			}
		}
		err = errors.Join(tx.loaded.jobs.Remove(key), tx.attempts().remove(id))
		if err != nil {
			return tx.spoil(err)
		}
		dropped[j.Payload]++
	}
	return tx.spoil(errors.Join(tx.loaded.book.Gone(had), tx.payloads().drop(dropped), past.trim()))
}

// removeEvents forgets events.
func removeEvents(tx *Tx, ids []uint64) error {
	for _, id := range ids {
		if err := tx.file.Remove(row.Events, row.Key64(id)); err != nil {
			return tx.spoil(err)
		}
	}
	return nil
}

// forgetStep bounds how many jobs, and how many events, a cycle examines for deletion: the next
// cycle goes on behind them.
const forgetStep = 1000

// forget drops jobs that have ended longer ago than the setting keep_ended
// says, and their events.
func (p *pass) forget() error {
	set, err := p.tx.settings()
	if err != nil || set.KeepEnded == 0 {
		return err
	}
	before := p.tx.now - int64(set.KeepEnded/time.Second)
	needed, err := recovery.Needed(p.tx.file)
	if err != nil {
		return err
	}
	if err := p.forgetJobs(before, needed); err != nil {
		return err
	}
	return errors.Join(p.forgetEvents(before), p.tx.forgetNodes(before))
}

// forgetJobs continues through the jobs. It removes the jobs of an array one by one, because no
// request names the array any more.
func (p *pass) forgetJobs(before int64, needed *roaring64.Bitmap) error {
	tx := p.tx
	var old []uint64
	looked, from := 0, tx.state.ForgottenJobs
	tx.state.ForgottenJobs = 0 // from the first one on, where the last one is reached
	err := tx.file.EachFrom(row.Jobs, row.Key64(from), nil, func(key, payload []byte) (bool, error) {
		if looked++; looked > forgetStep {
			tx.state.ForgottenJobs = row.Number64(key)
			return false, nil
		}
		j, err := row.DecodeJob(key, payload)
		if err != nil {
			return false, err
		}
		stays, err := recovery.Stays(tx.file, j, before, needed)
		if !stays && err == nil {
			old = append(old, j.ID)
		}
		return true, err
	})
	tx.dirty = tx.dirty || tx.state.ForgottenJobs != from
	if err != nil || len(old) == 0 {
		return err
	}
	return removeEnded(tx, old)
}

// forgetEvents goes on through the events.
func (p *pass) forgetEvents(before int64) error {
	tx := p.tx
	var old []uint64
	looked, from := 0, tx.state.ForgottenEvents
	tx.state.ForgottenEvents = 0
	err := tx.file.EachFrom(row.Events, row.Key64(from), nil, func(key, payload []byte) (bool, error) {
		if looked++; looked > forgetStep {
			tx.state.ForgottenEvents = row.Number64(key)
			return false, nil
		}
		ev, err := row.DecodeEvent(key, payload)
		if err != nil || ev.Time >= before {
			return false, err // those behind it are later
		}
		if ev.Job != 0 {
			there, err := tx.file.Get(row.Jobs, row.Key64(ev.Job))
			if err != nil || there != nil {
				return true, err
			}
		}
		old = append(old, ev.ID)
		return true, nil
	})
	tx.dirty = tx.dirty || tx.state.ForgottenEvents != from
	if err != nil || len(old) == 0 {
		return err
	}
	return removeEvents(tx, old)
}
