package store

import (
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/store/internal/check"
	"github.com/placectl/placectl/store/internal/row"
)

// ClockReset is what a clock that was wrong has left behind.
type ClockReset struct {
	Was, Now time.Time // the instants that the file stood for, and stands for
	// Begun and ended are the jobs and reservations that began or ended by the wrong
	// clock, as events, in their order. They are not undone.
	Changed []*Event
}

// ResetClock puts the instant that the file stands for back, after somebody has written
// with a clock that was ahead. Everything derived is made anew. What has begun by the
// wrong clock goes on, from the new instant for as long as it would have; what has ended
// stays so. It fails with ErrInvalid where the new instant is not before the present
// one.
//
// Who is to be let in although his clock is behind opens the database with
// Options.Behind.
func (tx *Tx) ResetClock(to time.Time) (*ClockReset, error) {
	if !tx.Writable() {
		return nil, ErrReadOnly
	}
	out := &ClockReset{Was: time.Unix(tx.state.AsOf, 0), Now: to}
	if to.Unix() >= tx.state.AsOf || to.Unix() < 0 {
		return nil, fmt.Errorf("%w: the clock can be reset to an instant before %s, at which the database stands, and not to %s", ErrInvalid, stamp(tx.state.AsOf), stamp(to.Unix()))
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
	return out, tx.spoil(resetClock(tx, to.Unix()))
}

// begunOrEnded are the states that events of those who have begun or ended lead to.
var begunOrEnded = []string{JobRunning.String(), JobFinished.String(), JobFailed.String(), JobCancelled.String(), "active", "ended"}

func resetClock(tx *Tx, to int64) error {
	if err := tx.flush(); err != nil { // what this transaction has done so far
		return err
	}
	z := &rewind{tx: tx, to: to, was: tx.state.AsOf}
	for _, step := range []func() error{z.jobs, z.attempts, z.reservations, z.batches, z.hosts, z.members, z.answers, z.shares} {
		if err := step(); err != nil {
			return err
		}
	}
	tx.state.AsOf, tx.now, tx.dirty = to, to, true
	tx.state.UsageSince = min(tx.state.UsageSince, to)
	tx.loaded = newLoaded(tx)
	if err := check.NewFindings(func(string) {}).Repair(tx.checked()); err != nil {
		return err
	}
	tx.loaded = newLoaded(tx)
	tx.loaded.freed.Anywhere()
	return nil
}

// rewind moves what began by a wrong clock to the instant that the file is to stand for.
type rewind struct {
	tx      *Tx
	to, was int64
}

// span moves a stretch of time: one that has begun begins now and lasts as long, one that
// has ended ends now.
func (z *rewind) span(start, end *int64) (changed bool) {
	switch {
	case *start > z.to && *start <= z.was && *end > z.was:
		*end -= *start - z.to
		*start = z.to
	case *end > z.to && *end <= z.was:
		*end = z.to
		*start = min(*start, z.to)
	default:
		return false
	}
	return true
}

// past moves an instant that is to lie in the past.
func (z *rewind) past(at *int64) (changed bool) {
	if *at <= z.to {
		return false
	}
	*at = z.to
	return true
}

func (z *rewind) jobs() error {
	return z.tx.file.Each(row.Jobs, nil, func(key, payload []byte) (bool, error) {
		j, err := row.DecodeJob(key, payload)
		if err != nil {
			return false, err
		}
		changed := z.past(&j.Submit)
		switch {
		case j.State == row.JobRunning && j.Start > z.to:
			j.End -= j.Start - z.to
			j.Start, changed = z.to, true
		case j.State > row.JobRunning && !j.State.Live():
			changed = z.past(&j.End) || changed
			changed = z.past(&j.Start) || changed
		}
		if !changed {
			return true, nil
		}
		return true, z.tx.file.Put(row.Jobs, key, row.EncodeJob(j))
	})
}

func (z *rewind) attempts() error {
	return z.tx.file.Each(row.Attempts, nil, func(key, payload []byte) (bool, error) {
		a, err := row.DecodeAttempt(key, payload)
		if err != nil {
			return false, err
		}
		changed := false
		for _, at := range []*int64{&a.Began, &a.Claimed, &a.Ended} {
			changed = z.past(at) || changed
		}
		if !changed {
			return true, nil
		}
		return true, z.tx.file.Put(row.Attempts, key, row.EncodeAttempt(a))
	})
}

func (z *rewind) reservations() error {
	return z.tx.file.Each(row.Reservations, nil, func(key, payload []byte) (bool, error) {
		r, err := row.DecodeReservation(key, payload)
		if err != nil || !z.span(&r.Start, &r.End) {
			return true, err
		}
		return true, z.tx.file.Put(row.Reservations, key, row.EncodeReservation(r))
	})
}

// batches moves the leases of jobs that were sent by the wrong clock.
func (z *rewind) batches() error {
	return z.tx.file.Each(row.BatchTasks, nil, func(key, payload []byte) (bool, error) {
		b, err := row.DecodeBatchTasks(key, payload)
		if err != nil {
			return false, err
		}
		changed := false
		for i := range b.Tasks {
			for k := range b.Tasks[i].Instances {
				x := &b.Tasks[i].Instances[k]
				if x.Sent > z.to {
					x.Until -= x.Sent - z.to
					x.Sent, changed = z.to, true
				}
			}
		}
		if !changed {
			return true, nil
		}
		return true, z.tx.file.Put(row.BatchTasks, key, row.EncodeBatchTasks(b))
	})
}

func (z *rewind) hosts() error {
	return z.tx.file.Each(row.Hosts, nil, func(key, payload []byte) (bool, error) {
		h, err := row.DecodeHost(key, payload)
		if err != nil || !z.past(&h.Seen) {
			return true, err
		}
		return true, z.tx.file.Put(row.Hosts, key, row.EncodeHost(h))
	})
}

func (z *rewind) members() error {
	return z.tx.file.Each(row.BatchHosts, nil, func(key, payload []byte) (bool, error) {
		m, err := row.DecodeMember(key, payload)
		if err != nil {
			return false, err
		}
		changed := false
		if by := m.Seen - z.to; by > 0 && m.Idle > 0 {
			m.Idle, changed = max(m.Idle-by, z.to), true
		}
		for _, at := range []*int64{&m.Joined, &m.Moved, &m.Busy, &m.Seen} {
			changed = z.past(at) || changed
		}
		if !changed {
			return true, nil
		}
		return true, z.tx.file.Put(row.BatchHosts, key, row.EncodeMember(m))
	})
}

// answers lets those that were given by the wrong clock be forgotten in time.
func (z *rewind) answers() error {
	return z.tx.file.Each(row.Answers, nil, func(key, payload []byte) (bool, error) {
		a, err := row.DecodeAnswerText(key, payload)
		if err != nil || a.At <= z.to {
			return true, err
		}
		if err := z.tx.answers().Remove(a); err != nil {
			return false, err
		}
		a.Until -= a.At - z.to
		a.At = z.to
		return true, z.tx.answers().Put(a)
	})
}

func (z *rewind) shares() error {
	timer, err := z.tx.ShareTimer()
	if err != nil || !timer.Running || timer.Since <= z.to {
		return err
	}
	return z.tx.SetShareTimer(fairshare.Timer{Running: true, Since: z.to})
}
