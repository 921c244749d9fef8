package store

import (
	"fmt"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/store/internal/check"
	"github.com/placectl/placectl/store/internal/derived"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/timeline"
)

// Check looks for damage and contradictions and calls report for each: bbolt's
// own structure, the checksum of every row, every derived table against what the
// rows say, no node taken twice at any instant, legal states, numbers never
// reused. The error says that it could not look; ErrDamaged that the file
// cannot be read on.
//
// A file so damaged that reading it ends the process is possible: let a child
// process do it where that matters.
func (db *DB) Check(report func(finding string)) error {
	found := check.NewFindings(report)
	now, err := db.current()
	if err != nil {
		return err
	}
	return now.Check(found.Find, func(r *file.Recorder) error {
		tx, err := db.beginAsOf(r)
		if err != nil {
			return err
		}
		if err := db.checkClock(r, tx.state.AsOf, found.Find); err != nil {
			return err
		}
		return found.Look(tx.checked())
	})
}

// checkClock tells of an instant that the file cannot stand at by now.
func (db *DB) checkClock(r *file.Recorder, asOf int64, find func(string, ...any)) error {
	id, err := r.Identity()
	if now := db.opt.Now().Unix(); err == nil && asOf > now+ahead && !id.AnyTime {
		find("the database stands at %s, and it is %s now: nobody can write until then; placectl clock reset puts it back", stamp(asOf), stamp(now))
	}
	return err
}

// Repair rebuilds what is derived from the rows, in one transaction, and tells
// what it found. It refuses with ErrDamaged to guess about rows: when one of
// them does not match its checksum, or they contradict each other.
func (db *DB) Repair(report func(finding string)) error {
	return db.change(func(r *file.Recorder) (bool, error) {
		found := check.NewFindings(report)
		whole, err := db.rows().Whole(found.Find)
		if err == nil && !whole {
			err = fmt.Errorf("%w: pages are damaged, and only what is derived from rows can be rebuilt; restore a backup, or salvage what is left", ErrDamaged)
		}
		if err != nil {
			return false, err
		}
		tx, err := db.beginAsOf(r)
		if err != nil {
			return false, err
		}
		return true, found.Repair(tx.checked())
	})
}

// beginAsOf starts a transaction at the instant that the file stands for.
func (db *DB) beginAsOf(r *file.Recorder) (*Tx, error) {
	tx, err := db.load(r)
	if err != nil {
		return nil, err
	}
	tx.now = tx.state.AsOf
	return tx, nil
}

// checked is the transaction, which is at the instant that the file stands for, as it
// is checked.
func (tx *Tx) checked() *check.Store {
	return &check.Store{
		Rows: tx.file, State: &tx.state, Grace: derived.Grace, Resources: tx.Resources,
		Rules: tx.loaded.counters.Rules.All, Shares: tx.Shares, ShareTimer: tx.ShareTimer, ShareState: tx.ShareState,
		Signature: func(defs *index.Defs) ([]index.ResID, error) {
			set, err := tx.settings()
			if err != nil {
				return nil, err
			}
			return set.signature(defs), nil
		},
		Spans: func(j *row.Job) (out []check.Span, err error) {
			spans, err := tx.allocations().spans(j)
			for _, s := range spans {
				out = append(out, check.Span{Node: s.Node, Busy: s.Busy})
			}
			return out, err
		},
		Attempt: tx.attempts().of,
		LetsIn: func(r *row.Reservation, b timeline.Busy) (bool, error) {
			return booking{tx, r}.letsIn(b)
		},
		Batch: func(number uint32) locality.Rows { return tx.batches().Rows(number) },
	}
}
