package kernel

import (
	"cmp"
	"math"
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
	Reason row.Reason

	Attempt int // the job's attempt it is about, or 0

	By *uint32 // the uid that did it, or nil if unknown
}

// ReservationEvents is what events of reservations are called.
const ReservationEvents = "reservation"

// EndsAttempt reports whether the event is that an attempt of a job has ended.
func (ev *Event) EndsAttempt() bool {
	return ev.Attempt > 0 && (ev.Old != ev.New && ev.Old == row.JobRunning.String() || ev.Event == "again")
}

// eventOf is an event as callers get it.
func eventOf(ev *row.Event) *Event {
	out := &Event{ID: ev.ID, Time: time.Unix(ev.Time, 0), Job: ev.Job, Node: ev.Node, Event: ev.Event, Old: ev.Old, New: ev.New, Reason: ev.Reason, Attempt: ev.Attempt, By: ev.By}
	if out.Event == ReservationEvents {
		out.Node, out.Reservation = "", cmp.Or(ev.Node, ev.Reason.Text) // older events have the name as their reason
	}
	running := row.JobRunning.String()
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
	return tx.File.EachFrom(row.Events, row.Key64(after+1), nil, func(key, payload []byte) (bool, error) {
		ev, err := row.DecodeEvent(key, payload)
		if err != nil {
			return false, err
		}
		return fn(eventOf(ev))
	})
}

// Happened writes an event down.
func (tx *Tx) Happened(ev row.Event) error {
	tx.State.Events++
	if !tx.Writable() {
		tx.Unrecorded++
	}
	if ev.Time == 0 {
		ev.Time = tx.Instant()
	}
	if a := tx.Opt.Actor; a != nil && !tx.File.Passing() {
		ev.By = &a.UID
	}
	return tx.File.Put(row.Events, row.Key64(tx.State.Events), row.EncodeEvent(&ev))
}

// Replanned is that a planned job has another start than before.
func Replanned(j *row.Job, before row.Reason) row.Event {
	return row.Event{Job: j.ID, Event: "plan", Old: j.State.String(), New: j.State.String(),
		Reason: before.Behind("to start at " + Stamp(j.Start) + "; ")}
}

// Instant is the time of the current action: while time passes, the time it has come to.
func (tx *Tx) Instant() int64 {
	if tx.File.Passing() && tx.Loaded.Calendar != nil {
		return tx.Loaded.Calendar.Now()
	}
	return tx.Now
}

// JobEvents are what changes of state are called.
var JobEvents = map[row.JobState]string{row.JobHeld: "hold", row.JobQueued: "queue", row.JobReserved: "plan", row.JobRunning: "start",
	row.JobFinished: "end", row.JobFailed: "fail", row.JobCancelled: "cancel", row.JobLate: "late"}

// JobEvent is that a job has come from one state, 0 for none, to its present one.
func JobEvent(j *row.Job, was row.JobState) row.Event {
	ev := row.Event{Job: j.ID, Event: JobEvents[j.State], New: j.State.String(), Reason: j.Reason}
	switch {
	case was == 0 && j.Queued:
		ev.Event = "submit"
	case was == row.JobHeld && j.State == row.JobQueued:
		ev.Event = "unhold"
	case was == row.JobRunning && j.State == row.JobQueued:
		ev.Event = "requeue"
	case was == row.JobReserved && j.State == row.JobQueued:
		ev.Event = "unplan"
	}
	if was != 0 {
		ev.Old = was.String()
	}
	if was == row.JobRunning || j.State == row.JobRunning {
		ev.Attempt = j.Attempt
	}
	return ev
}

// ReservationEvent is that a reservation has come from one state, "" for none, to another.
func ReservationEvent(r *row.Reservation, was, is string) row.Event {
	return row.Event{Event: ReservationEvents, Node: r.Name, Old: was, New: is, Reason: row.Because(row.CauseNone, r.Name)}
}
