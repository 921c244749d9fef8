package queue

import (
	"fmt"
	"slices"

	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
)

// clockAdvance lets time pass: it applies the changes that are due, and collects what they
// leave to decide.
type clockAdvance struct {
	tx      *kernel.Tx
	late    []*row.Job // planned jobs that could not begin
	renewed []string   // standing reservations with an occurrence that has ended
	decides bool       // no job stays blocked
	stays   bool       // the last job stays planned for its instant
}

// advance brings the bitmaps to the transaction's instant: it applies the changes in (asOf,
// now]. A reader patches its copies in memory, and a writer stores the changes.
func (p *clockAdvance) advance() error {
	tx := p.tx
	if tx.Now < tx.State.AsOf {
		if tx.Now < tx.State.AsOf-tx.Skew() {
			if err := p.farBehind(); err != nil {
				return err
			}
		}
		tx.Now = tx.State.AsOf
		return nil
	}
	if err := jumped(tx); err != nil {
		return err
	}
	if err := p.happen(); err != nil {
		return err
	}
	tx.State.AsOf = tx.Now
	return nil
}

// happen applies the changes that are due.
func (p *clockAdvance) happen() error {
	tx := p.tx
	var due []change
	err := tx.File.Each(row.Changes, nil, func(k, _ []byte) (bool, error) {
		at, owner := row.SplitTimeKey(k)
		if at > tx.Now {
			return false, nil
		}
		due = append(due, change{at, owner})
		return true, nil
	})
	if err != nil {
		return err
	}
	return p.all(due)
}

// farBehind refuses a writer whose clock is far behind the file's time: past events would be in its
// future. Readers use the file's time, and get a warning.
func (p *clockAdvance) farBehind() error {
	tx := p.tx
	switch opt := tx.Opt; {
	case opt.Behind:
	case tx.Writable():
		return fmt.Errorf("%w by %d s: it stands at %s, and it is %s now; wait, or correct the clock; if the "+
			"database is wrong: placectl clock reset",
			kernel.ErrClock, tx.State.AsOf-tx.Now, kernel.Stamp(tx.State.AsOf), kernel.Stamp(tx.Now))
	case opt.Warn != nil:
		tx.Warned.Do(func() {
			opt.Warn(fmt.Sprintf("the database stands at %s, and it is %s now: the answer is as of then",
				kernel.Stamp(tx.State.AsOf), kernel.Stamp(tx.Now)))
		})
	}
	return nil
}

// all applies the due changes in order of time. Then a writer settles what they leave open:
// for example, it replans jobs that could not begin. A reader neither searches for nodes nor
// runs programs, and shows such jobs as late.
func (p *clockAdvance) all(due []change) error {
	if len(due) == 0 {
		return nil
	}
	defer p.tx.File.Pass()()
	for _, c := range due {
		key := row.TimeKey(c.at, c.owner)
		kept, err := p.tx.File.Get(row.Changes, key)
		if err != nil {
			return err
		}
		if kept == nil { // it has ended already, at the instant at which another began
			continue
		}
		if err := p.tx.File.Remove(row.Changes, key); err != nil {
			return err
		}
		p.tx.Calendar().SetNow(c.at)
		happen := p.job
		if row.IsReservation(c.owner) {
			happen = p.reservation
		}
		if err := happen(c); err != nil {
			return err
		}
		if p.stays {
			p.stays = false
			if err := p.tx.File.Mark(row.Changes, key); err != nil {
				return err
			}
		}
	}
	p.tx.Calendar().SetNow(p.tx.Now)
	if err := p.renew(); err != nil {
		return err
	}
	if p.tx.Writable() {
		_, err := replan(p.tx, p.late)
		return err
	}
	for _, j := range p.late { // they wait for a writer to replan them
		if err := jobs.MachineOf(p.tx).Do(j, jobs.Step{To: row.JobLate, Reason: j.Reason, Lifted: true}); err != nil {
			return err
		}
	}
	return nil
}

// change is an instant at which a job or reservation begins or ends by the clock.
type change struct {
	at    int64
	owner uint64
}

// reservation begins or ends a reservation. When an occurrence of a standing reservation ends, it
// is deleted, and the standing one must be renewed.
func (p *clockAdvance) reservation(c change) error {
	r, err := p.tx.Reservations().ByID(c.owner >> 1)
	if err != nil {
		return err
	}
	b := plan.Booking{Tx: p.tx, Reservation: r}
	if c.at < r.End {
		return b.Do(plan.Step{Cause: plan.Due, From: row.ReservationPlanned, To: row.ReservationActive})
	}
	err = b.Do(plan.Step{Cause: plan.Due, From: row.ReservationActive, To: row.ReservationEnded})
	if err != nil || r.Series == "" {
		return err
	}
	if !slices.Contains(p.renewed, r.Series) {
		p.renewed = append(p.renewed, r.Series)
	}
	return b.Do(plan.Step{Cause: plan.Forgotten, From: row.ReservationEnded, To: row.ReservationRemoved})
}

// renew makes the missing occurrences of standing reservations, one after the other. A reader
// stops at the first that needs a search for nodes. A writer will make that one, and the later
// ones on what it leaves.
func (p *clockAdvance) renew() error {
	for _, name := range p.renewed {
		s, err := p.tx.Reservations().Standing(name)
		if err != nil {
			return err
		}
		if s.Over {
			continue
		}
		if len(s.Nodes) == 0 && !p.tx.Writable() {
			return nil
		}
		if err := (plan.Series{Tx: p.tx, Standing: s}).Renew(); err != nil {
			return err
		}
	}
	return nil
}

// Pass brings the transaction to its instant.
func Pass(tx *kernel.Tx) error {
	tx.Starts.None = tx.Written()
	err := (&clockAdvance{tx: tx}).advance()
	tx.Starts.Clock = tx.Written()
	return err
}

// settle settles what the cycle's own changes have left open.
func (p *pass) settle() error { return Settle(p.tx) }

// Settle settles what changes have left open: missed occurrences of standing reservations, and
// plans that cannot be kept. Plans that move may leave room for such an occurrence, too.
func Settle(tx *kernel.Tx) error {
	if err := (&clockAdvance{tx: tx}).happen(); err != nil { // what was in a job's way may have ended
		return err
	}
	if tx.Loaded.Freed.Made() {
		if err := plan.RetryStandings(tx, false); err != nil {
			return err
		}
	}
	moved, err := replan(tx, nil)
	if moved && err == nil {
		err = plan.RetryStandings(tx, false)
	}
	return err
}
