package store

import (
	"cmp"
	"math"
	"sort"
	"time"

	"github.com/placectl/placectl/store/internal/row"
)

// Event is something that happened to a job, a node or a reservation. Events are numbered from 1 in
// the order in which they were written.
type Event struct {
	ID   uint64
	Time time.Time // when it happened, which may be before it was written
	Job  uint64
	Node string

	Reservation string // the reservation it is about, or ""

	Event  string // what happened, in a word
	Old    string // the states before and after
	New    string
	Reason Reason

	Attempt int // the job's attempt it is about, or 0

	By *uint32 // the uid that did it, or nil if unknown
}

// reservationEvents is what events of reservations are called.
const reservationEvents = "reservation"

// EndsAttempt reports whether the event is that an attempt of a job has ended.
func (ev *Event) EndsAttempt() bool {
	return ev.Attempt > 0 && (ev.Old != ev.New && ev.Old == JobRunning.String() || ev.Event == "again")
}

// eventOf is an event as callers get it.
func eventOf(ev *row.Event) *Event {
	out := &Event{ID: ev.ID, Time: time.Unix(ev.Time, 0), Job: ev.Job, Node: ev.Node, Event: ev.Event, Old: ev.Old, New: ev.New, Reason: ev.Reason, Attempt: ev.Attempt, By: ev.By}
	if out.Event == reservationEvents {
		out.Node, out.Reservation = "", cmp.Or(ev.Node, ev.Reason.Text) // older events have the name as their reason
	}
	running := JobRunning.String()
	if out.Attempt == 0 && out.Job != 0 && (out.Old == running || out.New == running) {
		out.Attempt = 1
	}
	return out
}

// EachEvent goes through the events with greater numbers than one, until fn fails
// or says stop.
func (tx *Tx) EachEvent(after uint64, fn func(*Event) (more bool, err error)) error {
	if after == math.MaxUint64 {
		return nil
	}
	return tx.file.EachFrom(row.Events, row.Key64(after+1), nil, func(key, payload []byte) (bool, error) {
		ev, err := row.DecodeEvent(key, payload)
		if err != nil {
			return false, err
		}
		return fn(eventOf(ev))
	})
}

// EventsSince finds a number: the events after it are all that happened since an instant, and maybe
// some earlier ones. If the clock was set back, several numbers separate earlier and later events,
// and the search finds one of them. known is false if events of that time may have been dropped.
func EventsSince(tx *Tx, since time.Time) (after uint64, known bool, err error) {
	var first *Event
	if err := tx.EachEvent(0, func(e *Event) (bool, error) { first = e; return false, nil }); err != nil || first == nil {
		return 0, false, err
	}
	if !first.Time.Before(since) {
		return 0, first.ID == 1, nil
	}
	last := tx.RecordedEvents()
	if last < first.ID {
		return first.ID - 1, true, nil
	}
	n := sort.Search(int(last-first.ID), func(i int) bool {
		late := true // where no event is behind
		if err == nil {
			err = tx.EachEvent(first.ID+uint64(i), func(e *Event) (bool, error) {
				late = !e.Time.Before(since)
				return false, nil
			})
		}
		return late
	})
	return first.ID + uint64(n), true, err
}

// RecordedEvents is the number of the latest event in the file. A reader also sees later events,
// which time alone has caused; they get their numbers when a writer records them.
func (tx *Tx) RecordedEvents() uint64 { return tx.state.Events - tx.unrecorded }

// happened writes an event down.
func (tx *Tx) happened(ev row.Event) error {
	tx.state.Events++
	if !tx.Writable() {
		tx.unrecorded++
	}
	if ev.Time == 0 {
		ev.Time = tx.instant()
	}
	if a := tx.opt.Actor; a != nil && !tx.file.Passing() {
		ev.By = &a.UID
	}
	return tx.file.Put(row.Events, row.Key64(tx.state.Events), row.EncodeEvent(&ev))
}

// replanned is that a planned job has another start than before.
func replanned(j *row.Job, before row.Reason) row.Event {
	return row.Event{Job: j.ID, Event: "plan", Old: j.State.String(), New: j.State.String(),
		Reason: before.Behind("to start at " + stamp(j.Start) + "; ")}
}

// instant is the time of the current action: while time passes, the time it has come to.
func (tx *Tx) instant() int64 {
	if tx.file.Passing() && tx.loaded.calendar != nil {
		return tx.loaded.calendar.Now()
	}
	return tx.now
}

// jobEvents are what changes of state are called.
var jobEvents = map[JobState]string{JobHeld: "hold", JobQueued: "queue", JobReserved: "plan", JobRunning: "start",
	JobFinished: "end", JobFailed: "fail", JobCancelled: "cancel", JobLate: "late"}

// jobEvent is that a job has come from one state, 0 for none, to its present one.
func jobEvent(j *row.Job, was JobState) row.Event {
	ev := row.Event{Job: j.ID, Event: jobEvents[j.State], New: j.State.String(), Reason: j.Reason}
	switch {
	case was == 0 && j.Queued:
		ev.Event = "submit"
	case was == JobHeld && j.State == JobQueued:
		ev.Event = "unhold"
	case was == JobRunning && j.State == JobQueued:
		ev.Event = "requeue"
	case was == JobReserved && j.State == JobQueued:
		ev.Event = "unplan"
	}
	if was != 0 {
		ev.Old = was.String()
	}
	if was == JobRunning || j.State == JobRunning {
		ev.Attempt = j.Attempt
	}
	return ev
}

// reservationEvent is that a reservation has come from one state, "" for none, to another.
func reservationEvent(r *row.Reservation, was, is string) row.Event {
	return row.Event{Event: reservationEvents, Node: r.Name, Old: was, New: is, Reason: row.Because(row.CauseNone, r.Name)}
}
