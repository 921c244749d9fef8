package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/internal/check"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/recovery"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
)

// Check looks for damage and contradictions and calls report for each. It checks bbolt's
// structure, the checksum of every row, and every derived table against the rows. It also
// checks that no node is taken twice at any instant, that states are legal, and that numbers
// are never reused. An error means that it could not check, and ErrDamaged that it cannot read
// the file further.
//
// A badly damaged file may end the process that reads it. If that matters, check in a child
// process.
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
		if err := db.checkClock(r, tx.k.State.AsOf, found.Find); err != nil {
			return err
		}
		return found.Look(check.Of(tx.k))
	})
}

// checkClock reports a file's time that is in the future.
func (db *DB) checkClock(r *file.Recorder, asOf int64, find func(string, ...any)) error {
	id, err := r.Identity()
	if now := db.opt.Now().Unix(); err == nil && asOf > now+kernel.Ahead && !id.AnyTime {
		find("the database stands at %s, and it is %s now: no write succeeds until then; placectl clock reset "+
			"sets it back", kernel.Stamp(asOf), kernel.Stamp(now))
	}
	return err
}

// Repair rebuilds what is derived from the rows, in one transaction, and reports what it found. It
// fails with ErrDamaged rather than guess about rows: if one does not match its checksum, or if
// they contradict each other.
func (db *DB) Repair(report func(finding string)) error { return db.repair(report, true) }

// DryRepair reports what Repair would repair, or fails as it would. It changes nothing.
func (db *DB) DryRepair(report func(finding string)) error { return db.repair(report, false) }

func (db *DB) repair(report func(finding string), keep bool) error {
	if err := db.permit(Owners, "check --repair"); err != nil {
		return err
	}
	return db.change(context.Background(), func(r *file.Recorder) (bool, error) {
		found := check.NewFindings(report)
		whole, err := db.rows().Whole(found.Find)
		if err == nil && !whole {
			err = fmt.Errorf("%w: pages are damaged, and only derived data can be rebuilt; restore a backup, or "+
				"salvage the rest", ErrDamaged)
		}
		if err != nil {
			return false, err
		}
		tx, err := db.beginAsOf(r)
		if err != nil {
			return false, err
		}
		return keep, found.Repair(check.Of(tx.k))
	})
}

// beginAsOf starts a transaction at the file's own current time.
func (db *DB) beginAsOf(r *file.Recorder) (*Tx, error) {
	tx, err := db.load(r)
	if err != nil {
		return nil, err
	}
	tx.k.Now = tx.k.State.AsOf
	return tx, nil
}

type ClockReset struct {
	Was, Now time.Time // the file's time before and after
	// Changed lists, as events in order, the jobs and reservations that began or ended by the
	// wrong clock. They are not undone.
	Changed []*Event
}

// ResetClock sets the file's current time back after a process wrote with a clock that was
// ahead. It recomputes everything derived. Jobs and reservations that began by the wrong clock
// continue from the new time for as long as they had left. Those that ended stay ended. It
// fails with ErrInvalid unless the new time is before the present one.
//
// To open a database whose clock is ahead of yours, use Options.Behind.
func (tx *Tx) ResetClock(to time.Time) (*ClockReset, error) {
	if err := users.RolesOf(tx.k).MayChange(Owners, "the clock"); err != nil {
		return nil, err
	}
	out := &ClockReset{Was: time.Unix(tx.k.State.AsOf, 0), Now: to}
	if to.Unix() >= tx.k.State.AsOf || to.Unix() < 0 {
		return nil, fmt.Errorf("%w: the clock can only be reset to a time before %s, where the database "+
			"stands, not to %s", ErrInvalid, kernel.Stamp(tx.k.State.AsOf), kernel.Stamp(to.Unix()))
	}
	err := tx.EachEvent(0, func(ev *Event) (bool, error) {
		if ev.Time.After(to) && slices.Contains(begunOrEnded, ev.New) {
			out.Changed = append(out.Changed, ev)
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	return out, tx.k.Spoil(resetClock(tx, to.Unix()))
}

// begunOrEnded lists the states in events of jobs and reservations that began or ended.
var begunOrEnded = []string{JobRunning.String(), JobFinished.String(), JobFailed.String(), JobCancelled.String(),
	"active", "ended"}

func resetClock(tx *Tx, to int64) error {
	if err := tx.flush(); err != nil { // the changes of this transaction so far
		return err
	}
	if err := recovery.Rewind(tx.k.File, to, tx.k.State.AsOf); err != nil {
		return err
	}
	state, err := tx.k.File.Get(row.Meta, row.KeyState)
	if err != nil {
		return err
	}
	if err := row.StateRow.Read(&tx.k.State, row.KeyState, state); err != nil {
		return err
	}
	tx.k.Now, tx.k.Dirty = to, true
	tx.k.Loaded = kernel.NewLoaded(tx.k)
	if err := check.NewFindings(func(string) {}).Repair(check.Of(tx.k)); err != nil {
		return err
	}
	if err := tx.k.Loaded.Book.DecayAnew(); err != nil { // usage grew by the wrong clock
		return err
	}
	tx.k.Loaded = kernel.NewLoaded(tx.k)
	tx.k.Loaded.Freed.Anywhere()
	return plan.RewoundStandings(tx.k)
}
