// Package dispatch decides which attempts of a database's jobs belong to a host and a user, and what to
// execute for each. It answers the processes that execute attempts.
package dispatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/keeper"
)

// DB is a database as processes that execute attempts use it.
type DB struct {
	// View and Update run a function on the database, perhaps several times. So each run must set
	// anew everything that it sets outside.
	View, Update func(func(*engine.Tx) error) error
	ID           string                         // id of the intended database, "" for any
	Epoch        string                         // the epoch of claims, "" for any
	Cycles       func(*engine.Tx) (bool, error) // reports whether turns make cycles; nil: they do not
	Path         string                         // of the file, whose owner also owns jobs without an owner
	Host         string                         // the executing host
	UID          int                            // the user of the attempts
	Environ      func() []string                // this process's environment, for jobs that carry none
	// reports whether the user has signed what is executed; nil: no other user can write to the database
	Verify    func(text, signature []byte) bool
	Distrusts func() string // why programs that the database names must not run, "" if they may
}

// on runs fn if the database is the intended one. For a moment another database may be at its path,
// which knows nothing about our jobs.
func (d *DB) on(do func(func(*engine.Tx) error) error, fn func(*engine.Tx) error) error {
	return do(func(tx *engine.Tx) error {
		is, err := tx.Identity()
		if err == nil && d.ID != "" && is.ID != d.ID {
			err = fmt.Errorf("another database is at %s: its id is %s, not %s", d.Path, is.ID, d.ID)
		}
		if err == nil {
			err = asCopy(engine.Executing(tx))
		}
		if err != nil {
			return err
		}
		return fn(tx)
	})
}

// copied is a engine.ErrCopy that is no answer: a copy knows nothing about what the database itself
// executes.
type copied struct{ error }

// Is makes errors.Is see what it is, but not that it is a conflict.
func (c copied) Is(target error) bool { return target == engine.ErrCopy }

func asCopy(err error) error {
	if errors.Is(err, engine.ErrCopy) {
		return copied{err}
	}
	return err
}

// earlier fails if the database is older than an attempt's claim in its present epoch. Then a copy of
// the file is at its path for a moment. A restored database has another epoch, so its answer counts.
func (d *DB) earlier(tx *engine.Tx, job uint64, attempt int, epoch string) error {
	is, err := tx.Identity()
	if err != nil || epoch != EpochOf(is) {
		return err
	}
	before, err := tx.Attempts().BeforeClaim(job, attempt)
	if err == nil && before {
		err = fmt.Errorf("%s has no claim of attempt %d.%d: it was not committed, or this is an older copy",
			d.Path, job, attempt)
	}
	return err
}

// EpochOf formats an epoch for the names of directories.
func EpochOf(is engine.Identity) string { return fmt.Sprintf("%08x", is.Epoch) }

// Report reports how an attempt has ended.
func (d *DB) Report(_ context.Context, r *engine.Result) error {
	return d.on(d.Update, func(tx *engine.Tx) error { return d.report(tx, r) })
}

func (d *DB) report(tx *engine.Tx, r *engine.Result) error {
	_, err := tx.Attempts().Report(*r)
	if errors.Is(err, engine.ErrConflict) || errors.Is(err, engine.ErrNotFound) {
		if failed := d.earlier(tx, r.Job, r.Attempt, r.Epoch); failed != nil {
			return failed
		}
	}
	return err
}

// Held returns an attempt that a keeper on this host has claimed under a nonce, in an epoch of the
// database. It fails with a Conflict if the job has gone on without it.
func (d *DB) Held(_ context.Context, k keeper.Key, n engine.Nonce, epoch string) (h *keeper.Held, err error) {
	err = d.on(d.View, func(tx *engine.Tx) error {
		if err := d.earlier(tx, k.Job, k.Number, epoch); err != nil {
			return err
		}
		a, err := tx.Attempts().Get(k.Job, k.Number)
		if is, failed := tx.Identity(); failed == nil && errors.Is(err, engine.ErrNotFound) && epoch != EpochOf(is) {
			// no answer that settles it
			return fmt.Errorf("attempt %s is not in the database, which was restored; it goes on", k)
		}
		if err != nil {
			return err
		}
		j, err := tx.Jobs().Get(k.Job)
		if err != nil {
			return err
		}
		if a.State == engine.AttemptEnded || a.Nonce != n {
			return &engine.Conflict{What: "attempt " + k.String(), Why: "the job has gone on without it"}
		}
		h = heldOf(tx, j, a)
		return nil
	})
	return h, err
}

// LeftOver records why an attempt whose command has ended keeps its nodes.
func (d *DB) LeftOver(_ context.Context, k keeper.Key, n engine.Nonce, why string) error {
	return d.on(d.Update, func(tx *engine.Tx) error { return tx.Attempts().LeftOver(k.Job, k.Number, n, why) })
}

// Signalled records that the first sent signals of an attempt were sent.
func (d *DB) Signalled(_ context.Context, k keeper.Key, n engine.Nonce, sent int) error {
	return d.on(d.Update, func(tx *engine.Tx) error { return tx.Attempts().Signalled(k.Job, k.Number, n, sent) })
}

func heldOf(tx *engine.Tx, j *engine.Job, a *engine.Attempt) *keeper.Held {
	return &keeper.Held{Key: keeper.Key{Job: a.Job, Number: a.Number}, Nonce: a.Nonce, Process: a.Process,
		Ending: a.State == engine.AttemptEnding, Why: j.Why(), Left: j.End.Sub(tx.Now()),
		Signals: a.Signals, Sent: a.Sent}
}

// Beat records a heartbeat of the process that executes a user's attempts.
func (d *DB) Beat(user, boot string) error {
	return d.on(d.Update, func(tx *engine.Tx) error { return tx.Hosts().Beat(d.Host, user, boot) })
}

// Look returns the work on this host for this user.
func (d *DB) Look(context.Context) (*keeper.View, error) {
	var view *keeper.View
	var unsigned []keeper.Key
	err := d.on(d.View, func(tx *engine.Tx) error {
		view, unsigned = new(keeper.View), nil
		var err error
		if view.Hooked, err = d.Hooked(tx); err != nil {
			return err
		}
		if view.Next, err = tx.Cycle().NextChange(); err != nil {
			return err
		}
		if view.Startable, err = Startable(tx); err != nil {
			return err
		}
		err = tx.Attempts().Unclaimed(func(j *engine.Job) error {
			ours, err := d.executes(tx, j)
			if !ours {
				return err
			}
			signed, err := d.signed(tx, j.ID)
			to := &view.Unclaimed
			if !signed {
				to = &unsigned
			}
			*to = append(*to, keeper.Key{Job: j.ID, Number: max(j.Attempt, 1)})
			return err
		})
		if err != nil {
			return err
		}
		settings, err := tx.Config().Settings()
		if err != nil {
			return err
		}
		if view.Health = settings.Health; len(view.Health) > 0 && len(view.Unclaimed) > 0 {
			view.Distrusted = d.Distrusts()
		}
		return tx.Attempts().ClaimedOn(d.Host, func(j *engine.Job, a *engine.Attempt) error {
			if a.By != engine.BySupervisor {
				return nil
			}
			mine, err := d.Mine(tx, j)
			if mine {
				view.Held = append(view.Held, *heldOf(tx, j, a))
			}
			return err
		})
	})
	if err == nil && len(unsigned) > 0 {
		err = d.hold(unsigned)
	}
	return view, err
}

// Startable counts the changes that may let something start or stop, as a cycle would see them now.
func Startable(tx *engine.Tx) (keeper.Startable, error) {
	is, err := tx.Identity()
	return keeper.Startable{Epoch: is.Epoch, Commits: tx.Cycle().Startable()}, err
}

// signed reports whether the user has signed what a job executes, or need not.
func (d *DB) signed(tx *engine.Tx, job uint64) (bool, error) {
	if d.Verify == nil {
		return true, nil
	}
	text, signature, err := tx.Jobs().Signed(job)
	return err == nil && d.Verify(text, signature), err
}

// hold holds the jobs of attempts that their user has not signed.
func (d *DB) hold(list []keeper.Key) error {
	return d.on(d.Update, func(tx *engine.Tx) error {
		for _, k := range list {
			signed, err := d.signed(tx, k.Job)
			if err == nil && !signed {
				_, err = tx.Attempts().HoldUnsigned(k.Job, k.Number)
			}
			if err != nil && !errors.Is(err, engine.ErrConflict) && !errors.Is(err, engine.ErrNotFound) {
				return err
			}
		}
		return nil
	})
}

// verified fails with a Conflict if an attempt may not be executed.
func (d *DB) verified(tx *engine.Tx, c engine.Claim) error {
	signed, err := d.signed(tx, c.Job)
	if err == nil && !signed {
		err = &engine.Conflict{What: fmt.Sprintf("attempt %d.%d", c.Job, c.Attempt),
			Why: "its user has not signed what it executes"}
	}
	return err
}

// Hooked reports whether our user hands events to the site's program. The owner of the file does so,
// if there is such a program.
func (d *DB) Hooked(tx *engine.Tx) (bool, error) {
	settings, err := tx.Config().Settings()
	if err != nil || len(settings.Hook) == 0 {
		return false, err
	}
	if why, err := tx.Copy(); err != nil || why != "" {
		return false, err
	}
	return d.owns(tx)
}

// executes reports whether we should execute an unclaimed attempt.
func (d *DB) executes(tx *engine.Tx, j *engine.Job) (bool, error) {
	if !forPasses(j) {
		return false, nil
	}
	host, err := tx.Attempts().HostOf(j)
	if err != nil || !engine.SameHost(host, d.Host) {
		return false, err
	}
	return d.Mine(tx, j)
}

// forPasses reports whether a job has something to execute, and waits for a pass.
func forPasses(j *engine.Job) bool {
	return !j.Attended && !j.Launched && executable(j)
}

// executable reports whether a job has something to execute.
func executable(j *engine.Job) bool {
	return len(j.Command) > 0 || j.Payload != (engine.PayloadKey{})
}

// Mine reports whether a job runs as our user: its submitter, or the owner of the file if the
// submitter is unknown.
func (d *DB) Mine(tx *engine.Tx, j *engine.Job) (bool, error) {
	p, err := tx.Jobs().Payload(j.ID)
	if err != nil {
		return false, err
	}
	if p != nil && p.Owner != nil {
		return int(p.Owner.UID) == d.UID, nil
	}
	return d.owns(tx)
}

// BusyHosts collects the hosts where a pass of our user has something to do: attempts to start or to
// stop, or to settle because they are past their end.
func (d *DB) BusyHosts(tx *engine.Tx, busy map[string]bool) error {
	err := tx.Attempts().Unclaimed(func(j *engine.Job) error {
		if !forPasses(j) {
			return nil
		}
		mine, err := d.Mine(tx, j)
		if err != nil || !mine {
			return err
		}
		host, err := tx.Attempts().HostOf(j)
		busy[host] = true
		return err
	})
	if err != nil {
		return err
	}
	return tx.Attempts().ClaimedOn("", func(j *engine.Job, a *engine.Attempt) error {
		if a.By != engine.BySupervisor || a.State != engine.AttemptEnding && j.End.After(tx.Now()) &&
			len(a.Signals) == 0 {
			return nil
		}
		mine, err := d.Mine(tx, j)
		if mine {
			busy[a.Host] = true
		}
		return err
	})
}

// owns reports whether our user owns the database. A database in a log belongs to every user who can
// reach it.
func (d *DB) owns(tx *engine.Tx) (bool, error) {
	uid, known, err := tx.Roles().Owner()
	return err == nil && (!known || int(uid) == d.UID), err
}

// Unreached records in our user's attempts that wait for this host why it was not reached.
func (d *DB) Unreached(why string) error {
	return d.on(d.Update, func(tx *engine.Tx) error {
		var list []*engine.Job
		err := tx.Attempts().Unclaimed(func(j *engine.Job) error {
			ours, err := d.executes(tx, j)
			if ours {
				list = append(list, j)
			}
			return err
		})
		for _, j := range list {
			if err == nil {
				err = tx.Attempts().Unreached(j.ID, j.Attempt, why)
			}
		}
		return err
	})
}

// errBusy ends a search.
var errBusy = errors.New("busy")

// Busy reports whether a job of our user waits, or executes a command.
func (d *DB) Busy(tx *engine.Tx) (bool, error) {
	err := tx.Jobs().Each(func(j *engine.Job) error {
		if j.State == engine.JobRunning && (!executable(j) || j.Attended) {
			return nil
		}
		mine, err := d.Mine(tx, j)
		if mine {
			return errBusy
		}
		return err
	}, engine.JobQueued, engine.JobReserved, engine.JobRunning)
	if errors.Is(err, errBusy) {
		return true, nil
	}
	return false, err
}
