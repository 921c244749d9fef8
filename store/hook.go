package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/store/internal/row"
)

// The site's program, the hook, receives the events in order, each at least once. A run takes the
// next events after the cursor, and the cursor moves when the run succeeds. The database is closed
// while it runs, and a row records the process that runs it. If that process is killed, a later run
// receives the same events.

// HookTime is how long a run of the hook may take. HookHeld is how long a process that has begun a
// run keeps others from starting one.
const (
	HookTime = 60 * time.Second
	HookHeld = 90 * time.Second
)

// MaxHookEvents is how many events the hook gets in a run.
const MaxHookEvents = 1000

// HookEvent is an event as the hook gets it.
type HookEvent struct {
	Event
	User    string  // whose job
	Outcome Outcome // how the attempt has ended, if the event says so

	// Mail is the kind of mail that the job's submitter wants for this event: begin, end, fail or
	// requeue, or "". MailTo is the address.
	Mail, MailTo string
}

// HookRun is a run of the hook.
type HookRun struct {
	Program []string // and its arguments
	Events  []HookEvent
	Failing time.Time // since when it has taken nothing, zero if it has taken the last it was handed

	holder Nonce
}

// Begin begins a run of the hook for the process with this nonce, with the next events. There are
// none if no hook is set, nothing has happened, or another process runs it. Call End within
// HookHeld.
func (hs Hook) Begin(holder Nonce) (*HookRun, error) {
	tx := hs.tx
	if !tx.Writable() {
		return nil, ErrReadOnly
	}
	set, err := tx.settings()
	run := &HookRun{holder: holder}
	if err != nil || len(set.Hook) == 0 {
		return run, err
	}
	if holder == (Nonce{}) {
		return nil, fmt.Errorf("%w: a run of the hook needs a nonce", ErrInvalid)
	}
	h, err := hs.row()
	if err != nil {
		return nil, err
	}
	run.Program, run.Failing = slices.Clone(set.Hook), instant(h.Failing)
	held := seconds(HookHeld)
	if h.Holder != (Nonce{}) && tx.now < h.Until && h.Until <= tx.now+held { // beyond that is by a clock that was wrong
		return run, nil
	}
	err = tx.EachEvent(h.Cursor, func(ev *Event) (bool, error) {
		is, err := hs.event(ev)
		run.Events = append(run.Events, is)
		return len(run.Events) < MaxHookEvents, err
	})
	if err != nil || len(run.Events) == 0 {
		return run, err
	}
	h.Holder, h.Until = holder, tx.now+held
	return run, tx.startsNone(func() error { return hs.put(h) })
}

// End ends a run of the hook that handled its events or failed. It returns since when the hook has
// been failing. If another process has begun a run meanwhile, because this one took too long, it
// changes nothing.
func (hs Hook) End(run *HookRun, failed bool) (since time.Time, err error) {
	tx := hs.tx
	if !tx.Writable() {
		return since, ErrReadOnly
	}
	h, err := hs.row()
	if err != nil || h.Holder != run.holder || h.Holder == (Nonce{}) {
		return instant(h.Failing), err
	}
	h.Holder, h.Until = Nonce{}, 0
	was := h.Failing
	switch {
	case !failed:
		h.Failing = 0
		if n := len(run.Events); n > 0 {
			h.Cursor = run.Events[n-1].ID
		}
	case h.Failing == 0:
		h.Failing = tx.now
	}
	return instant(h.Failing), tx.startsNone(func() error {
		if was == 0 == (h.Failing == 0) {
			return hs.put(h)
		}
		state := map[bool]string{false: "working", true: "failing"}
		return errors.Join(hs.put(h), tx.happened(row.Event{Event: "hook", Old: state[was != 0], New: state[h.Failing != 0], Reason: row.Because(row.CauseNone, strings.Join(run.Program, " "))}))
	})
}

// HookState is how far the hook is.
type HookState struct {
	Program []string  // nil if no hook is set
	Failing time.Time // since when it has taken no events; zero while it takes them
	Behind  uint64    // how many events it has not taken yet
}

// State tells how far the hook is.
func (hs Hook) State() (HookState, error) {
	s, err := hs.tx.Settings()
	if err != nil || len(s.Hook) == 0 {
		return HookState{}, err
	}
	h, err := hs.row()
	if err != nil {
		return HookState{}, err
	}
	return HookState{Program: s.Hook, Failing: instant(h.Failing), Behind: hs.tx.state.Events - h.Cursor}, nil
}

// Hook is the transaction as far as it is about the hook.
type Hook struct{ tx *Tx }

// Hook is the program that is handed the events.
func (tx *Tx) Hook() Hook { return Hook{tx} }

// set records that there is a hook from now on, or none. A new hook does not get earlier events;
// one that replaces another goes on where that was.
func (hs Hook) set(is bool) error {
	if !is {
		return hs.tx.file.Remove(row.Meta, row.KeyHook)
	}
	h, err := hs.row()
	if err != nil {
		return err
	}
	return hs.put(h)
}

// row is the hook's position; by default it is after the latest event.
func (hs Hook) row() (*row.Hook, error) {
	payload, err := hs.tx.file.Get(row.Meta, row.KeyHook)
	if err != nil || payload == nil {
		return &row.Hook{Cursor: hs.tx.state.Events}, err
	}
	return row.DecodeHook(payload)
}

func (hs Hook) put(h *row.Hook) error {
	return hs.tx.spoil(hs.tx.file.Put(row.Meta, row.KeyHook, row.EncodeHook(h)))
}

// event adds the job's details to an event. The job may be gone by now.
func (hs Hook) event(ev *Event) (HookEvent, error) {
	out := HookEvent{Event: *ev}
	if ev.Job == 0 {
		return out, nil
	}
	payload, err := hs.tx.file.Get(row.Jobs, row.Key64(ev.Job))
	if err != nil || payload == nil {
		return out, err
	}
	j, err := row.DecodeJob(row.Key64(ev.Job), payload)
	if err != nil {
		return out, err
	}
	out.User = j.User
	if ev.EndsAttempt() {
		a, err := hs.tx.attempts().of(j, ev.Attempt)
		if err != nil {
			return out, err
		}
		out.Outcome = a.Outcome
	}
	err = hs.mail(j, &out)
	return out, err
}

// mail finds out whether a job's submitter wants to be told of an event.
func (hs Hook) mail(j *row.Job, ev *HookEvent) error {
	of := mailed(&ev.Event)
	if of == "" {
		return nil
	}
	p, err := hs.tx.payloads().of(j)
	if err != nil || p == nil || p.Ending.Mail == "" {
		return err
	}
	wanted := strings.Split(p.Ending.Mail, ",")
	if of == "fail" && !slices.Contains(wanted, of) {
		of = "end" // it has ended, too
	}
	if !slices.Contains(wanted, of) {
		return nil
	}
	ev.Mail, ev.MailTo = of, p.Ending.MailTo
	if ev.MailTo == "" {
		ev.MailTo = j.User
		if p.Owner != nil && p.Owner.Name != "" {
			ev.MailTo = p.Owner.Name
		}
	}
	return nil
}

// mailed is the kind of mail for an event, or "".
func mailed(ev *Event) string {
	running := JobRunning.String()
	switch {
	case ev.Old != running && ev.New == running:
		return "begin"
	case ev.New == JobFailed.String():
		return "fail"
	case ev.New == JobFinished.String() || ev.New == JobCancelled.String():
		return "end"
	case ev.Old == running && ev.New != running:
		return "requeue"
	}
	return ""
}
