package kernel

import (
	"cmp"
	"math"
	"time"

	"github.com/placectl/placectl/internal/row"
)

// Event is something that happened to a job, a node or a reservation. Events are numbered from 1 in
// the order in which they were written.
type Event struct {
	ID   uint64
	Time time.Time // when it happened, which may be before it was written
	Job  uint64
	Node string

	Reservation string // the event's reservation, or ""

	Event  string // its kind, in one word
	Old    string // the states before and after
	New    string
	Reason row.Reason

	Attempt int // the job's attempt, or 0

	By *uint32 // the uid that caused it, or nil if unknown
}

// ReservationEvents is the name of events of reservations.
const ReservationEvents = "reservation"

// EndsAttempt reports whether the event is the end of a job's attempt.
func (ev *Event) EndsAttempt() bool {
	return ev.Attempt > 0 && (ev.Old != ev.New && ev.Old == row.JobRunning.String() || ev.Event == "again")
}

// eventOf converts a row to an event.
func eventOf(ev *row.Event) *Event {
	out := &Event{ID: ev.ID, Time: time.Unix(ev.Time, 0), Job: ev.Job, Node: ev.Node, Event: ev.Event, Old: ev.Old,
		New: ev.New, Reason: ev.Reason, Attempt: ev.Attempt, By: ev.By}
	if out.Event == ReservationEvents {
		out.Node, out.Reservation = "", cmp.Or(ev.Node, ev.Reason.Text) // older events have the name as their reason
	}
	running := row.JobRunning.String()
	if out.Attempt == 0 && out.Job != 0 && (out.Old == running || out.New == running) {
		out.Attempt = 1
	}
	return out
}

// EachEvent calls fn for the events numbered above after, in order, until fn fails or returns
// false.
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

// Happened records an event.
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

// Replanned returns the event of a planned job whose start has changed.
func Replanned(j *row.Job, before row.Reason) row.Event {
	return row.Event{Job: j.ID, Event: "plan", Old: j.State.String(), New: j.State.String(),
		Reason: before.Behind("to start at " + Stamp(j.Start) + "; ")}
}

// Instant returns the time of the current action. While time passes, it is the time reached so far.
func (tx *Tx) Instant() int64 {
	if tx.File.Passing() && tx.Loaded.Calendar != nil {
		return tx.Loaded.Calendar.Now()
	}
	return tx.Now
}

// JobEvents maps the states of jobs to the names of their events.
var JobEvents = map[row.JobState]string{row.JobHeld: "hold", row.JobQueued: "queue", row.JobReserved: "plan",
	row.JobRunning:  "start",
	row.JobFinished: "end", row.JobFailed: "fail", row.JobCancelled: "cancel", row.JobLate: "late"}

// JobEvent returns the event of a job that went from state was, 0 for none, to its present state.
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
