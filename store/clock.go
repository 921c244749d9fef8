package store

import (
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// skew is how many seconds a writer's clock may be behind the file's time: machines that share a
// file disagree a little.
const skew = 5

// clockAdvance is time that passes: the changes in it happen, and leave something to decide.
type clockAdvance struct {
	tx      *Tx
	late    []*row.Job // that could not begin
	renewed []string   // standing reservations with an occurrence that has ended
}

// advance brings the bitmaps to the transaction's instant: it applies the changes in (asOf, now]. A
// reader patches its memory, a writer stores the changes.
func (p *clockAdvance) advance() error {
	tx := p.tx
	if tx.now < tx.state.AsOf {
		if tx.now < tx.state.AsOf-tx.skew() {
			if err := p.farBehind(); err != nil {
				return err
			}
		}
		tx.now = tx.state.AsOf
		return nil
	}
	var due []change
	err := tx.file.Each(row.Changes, nil, func(k, _ []byte) (bool, error) {
		at, owner := row.SplitTimeKey(k)
		if at > tx.now {
			return false, nil
		}
		due = append(due, change{at, owner})
		return true, nil
	})
	if err != nil {
		return err
	}
	if err := p.all(due); err != nil {
		return err
	}
	tx.state.AsOf = tx.now
	return nil
}

// farBehind refuses a writer whose clock is far behind the file's time: past events would be in its
// future. Readers use the file's time, and get a warning.
func (p *clockAdvance) farBehind() error {
	tx := p.tx
	switch opt := tx.opt; {
	case opt.Behind:
	case tx.Writable():
		return fmt.Errorf("%w by %d s: it stands at %s, and it is %s now; wait or put the clock right, or if it is the database that is wrong: placectl clock reset",
			ErrClock, tx.state.AsOf-tx.now, stamp(tx.state.AsOf), stamp(tx.now))
	case opt.Warn != nil:
		tx.warned.Do(func() {
			opt.Warn(fmt.Sprintf("the database stands at %s, and it is %s now: the answer is as of then", stamp(tx.state.AsOf), stamp(tx.now)))
		})
	}
	return nil
}

// all applies the due changes in order of time. Then a writer decides what they leave open: for
// example, it replans jobs that could not begin. A reader searches for no nodes, and calls no
// program: it sees such jobs as late.
func (p *clockAdvance) all(due []change) error {
	if len(due) == 0 {
		return nil
	}
	defer p.tx.file.Pass()()
	for _, c := range due {
		key := row.TimeKey(c.at, c.owner)
		kept, err := p.tx.file.Get(row.Changes, key)
		if err != nil {
			return err
		}
		if kept == nil { // it has ended already, for one that has begun at the same instant
			continue
		}
		if err := p.tx.file.Remove(row.Changes, key); err != nil {
			return err
		}
		p.tx.calendar().SetNow(c.at)
		happen := p.job
		if row.IsReservation(c.owner) {
			happen = p.reservation
		}
		if err := happen(c); err != nil {
			return err
		}
	}
	p.tx.calendar().SetNow(p.tx.now)
	if err := p.renew(); err != nil {
		return err
	}
	if p.tx.Writable() {
		return p.tx.replan(p.late)
	}
	for _, j := range p.late { // they wait for a writer to replan them
		if err := p.tx.machine().do(j, step{to: JobLate, reason: j.Reason, lifted: true}); err != nil {
			return err
		}
	}
	return nil
}

// stamp is an instant as messages show it.
func stamp(t int64) string { return row.Stamp(t) }

// change is an instant at which a job's or reservation's time begins or ends by the clock.
type change struct {
	at    int64
	owner uint64
}

// reservation begins or ends a reservation. When an occurrence of a standing reservation ends, it
// is deleted, and the standing one must be renewed.
func (p *clockAdvance) reservation(c change) error {
	r, err := p.tx.reservations().byID(c.owner >> 1)
	if err != nil {
		return err
	}
	if c.at < r.End {
		if err := p.beginOn(r.Nodes); err != nil {
			return err
		}
		if err := p.tx.happened(reservationEvent(r, "planned", "active")); err != nil {
			return err
		}
		p.tx.loaded.freed.On(r.Nodes) // for the jobs it admits
		return nil
	}
	if err := (booking{p.tx, r}).end(); err != nil {
		return err
	}
	if err := p.tx.happened(reservationEvent(r, "active", "ended")); err != nil || r.Series == "" {
		return err
	}
	if !slices.Contains(p.renewed, r.Series) {
		p.renewed = append(p.renewed, r.Series)
	}
	return p.tx.loaded.reservations.Remove([]byte(r.Name))
}

// beginOn moves nodes on which a stretch has begun.
func (p *clockAdvance) beginOn(nodes []uint32) error {
	for _, n := range nodes {
		p.tx.calendar().Begin(n)
	}
	return p.tx.nodeIndex().reclass(nodes, p.tx.calendar().Now())
}

// renew makes the missing occurrences of standing reservations, one after the other. A reader stops
// at the first that needs a search for nodes: a writer will find some, and later ones get what is
// left.
func (p *clockAdvance) renew() error {
	for _, name := range p.renewed {
		s, err := p.tx.reservations().standing(name)
		if err != nil {
			return err
		}
		if s.Over {
			continue
		}
		if len(s.Nodes) == 0 && !p.tx.Writable() {
			return nil
		}
		if err := (series{tx: p.tx, Standing: s}).renew(); err != nil {
			return err
		}
	}
	return nil
}

// nodeIndex is the transaction as far as it puts nodes where they belong in the index.
type nodeIndex struct{ *Tx }

func (tx *Tx) nodeIndex() nodeIndex { return nodeIndex{tx} }

// reclass puts nodes into the bitmaps that follow from the calendar, after stretches beginning at
// an instant have come or gone. If that is in the future, what is left of a node now stays the
// same.
func (ni nodeIndex) reclass(nodes []uint32, begin int64) error {
	ix, err := ni.index()
	if err != nil {
		return err
	}
	begun := begin <= ni.calendar().Now()
	for _, number := range nodes {
		bucket, state, err := ni.loaded.nodes.Head(number)
		if err != nil {
			return err
		}
		b := ix.Bucket(bucket)
		if b == nil {
			return fmt.Errorf("%w: node %d says it is in bucket %d", ErrDamaged, number, bucket)
		}
		class := index.None
		if state == index.Up {
			class = ni.classOf(number)
			ix.Move(b, number, ix.ClassOf(b, number), class)
		}
		if !begun {
			continue
		}
		if err := ni.loaded.rooms.Measure(ix, number, class == index.Busy); err != nil {
			return err
		}
	}
	return ix.Err()
}

// classOf is the class of a node that is up, by the calendar.
func (ni nodeIndex) classOf(node uint32) index.Class { return placer.ClassNow(ni.calendar(), node) }

// Rows, the calendar and the placer count in whole Unix seconds, 0 for none. What goes
// in and out of the package is time.Time, its zero value for none, and time.Duration.

// instant is an instant as callers get it.
func instant(unix int64) time.Time {
	if unix == 0 {
		return time.Time{}
	}
	return time.Unix(unix, 0)
}

// unix is an instant as callers give it.
func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// lasting is so many seconds.
func lasting(seconds int64) time.Duration { return time.Duration(seconds) * time.Second }

// seconds is how long something lasts, in whole seconds, rounded away from 0: as the
// placer reads a walltime.
func seconds(d time.Duration) int64 {
	s := int64(d / time.Second)
	switch rest := d % time.Second; {
	case rest > 0:
		s++
	case rest < 0:
		s--
	}
	return s
}

// The file records a current time, and no writer may be behind it. So a writer with a wrong clock,
// or with a chosen time, would lock out all others and end jobs early. Databases for tests and
// simulations say so when they are made, and take any time. Databases of older formats never said
// so: they count as production, because a wrong guess would harm production more than a test.

// ahead is how far, in seconds, a writer's clock may be ahead of this machine's.
const ahead = 60

// mayWriteNow refuses a writer whose time is none that the file takes.
func (db *DB) mayWriteNow(r *file.Recorder) error {
	if db.log != nil && !db.opt.Chosen {
		if err := db.notAhead(r); err != nil {
			return err
		}
	}
	now, clock := db.opt.Now(), time.Now()
	far := now.Unix() > clock.Unix()+ahead
	if !far && !db.opt.Chosen {
		return nil
	}
	id, err := r.Identity()
	switch {
	case err != nil || id.AnyTime:
		return err
	case db.opt.Chosen:
		return fmt.Errorf("--now %s: an instant that is chosen may not write, because the file would stand at it; %w. --dry-run is free", stamp(now.Unix()), ErrAnyTime)
	}
	return fmt.Errorf("the clock says %s, %d s ahead of this machine's; %w", stamp(now.Unix()), now.Unix()-clock.Unix(), ErrAnyTime)
}

// allowAnyTime makes a file one for tests.
func allowAnyTime(r *file.Recorder) (bool, error) {
	id, err := r.Identity()
	if err != nil {
		return false, err
	}
	id.AnyTime = true
	return true, r.PutIdentity(id)
}
