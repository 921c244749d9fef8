package store

import (
	"cmp"
	"errors"
	"time"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/placectl/placectl/store/internal/check"
	"github.com/placectl/placectl/store/internal/cycle"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/recovery"
)

// Archived reports what Archive moved out of a database.
type Archived struct {
	Jobs    int64
	Events  int64
	Batches int64
	Stay    int64 // ended jobs that are old enough but stay: others depend on them, or on one of their array
}

// ArchiveOptions configure Archive. The zero value works.
type ArchiveOptions struct {
	DryRun bool // write nothing and delete nothing
	Watch  Watch

	rows int // rows per commit; 0 is archiveRows
}

// Archive moves into a file the jobs and batches that ended before an instant, with the events
// of jobs, nodes and reservations. A file named *.db is a database, with the nodes, for
// queries; *.jsonl or *.jsonl.gz has lines as Dump writes them. An existing file must be an
// archive of this database, and is extended.
//
// Jobs stay if others that have not ended depend on them. An array stays while one of its jobs
// does. Archive syncs the file before it deletes the first row, and deletes ten thousand rows
// a commit. If the process is killed, each job is in one of the two, or in both, and the same
// call continues. The past of nodes and sums of usage stay in the database and are not in the
// file.
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
	if !opt.DryRun && !IsLog(db.Path()) { // two at once would write the same jobs into both their files
		release, err := file.Archiving(db.Path(), db.opt.LockTimeout)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	from, err := db.Copy()
	if err != nil {
		from = db // no room for a copy: read the database itself, so writers wait
	} else {
		defer from.Close()
	}
	var old *recovery.Expired
	err = from.view(func(tx *Tx) (err error) {
		if old, err = recovery.Expire(tx.k.File, before.Unix()); err != nil || opt.DryRun || old.Empty() {
			return err
		}
		return write(check.Of(tx.k), to, old, recovery.ArchiveOptions{Open: scratchOf(db.opt), LockTimeout: db.opt.LockTimeout, Watch: opt.Watch})
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
		return tx.k.Ended(fn(tx))
	})
}

// archiveRows is the number of rows deleted in a commit.
const archiveRows = 10_000

// removeExpired deletes archived rows from the database.
func (db *DB) removeExpired(old *recovery.Expired, rows int, watch Watch) error {
	for _, name := range old.Batches {
		err := db.Update(func(tx *Tx) error {
			b, err := tx.Batches().Get(name)
			if errors.Is(err, ErrNotFound) || err == nil && b.Ended == 0 {
				return nil // the row was deleted meanwhile, or the job runs again
			}
			if err != nil {
				return err
			}
			_, err = tx.Batches().Remove(name)
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
	ended := func(tx *Tx, ids []uint64) error { return cycle.RemoveEnded(tx.k, ids) }
	events := func(tx *Tx, ids []uint64) error { return cycle.RemoveEvents(tx.k, ids) }
	return errors.Join(remove(old.Jobs, ended), remove(old.Events, events))
}
