package cluster

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
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

// MaxHookEvents is the maximum number of events that the hook gets in a run.
const MaxHookEvents = 1000

// HookEvent is an event as the hook receives it.
type HookEvent struct {
	kernel.Event
	User    string      // the job's user
	Outcome row.Outcome // how the attempt ended, if the event says so

	// Mail is the kind of mail that the job's submitter wants for this event: begin, end, fail or
	// requeue, or "". MailTo is the address.
	Mail, MailTo string
}

// HookRun is a run of the hook.
type HookRun struct {
	Program []string // with its arguments
	Events  []HookEvent
	Failing time.Time // since when it has failed; zero if its last run succeeded

	holder row.Nonce
}

// Begin begins a run of the hook for the process with this nonce, with the next events. There are
// none if no hook is set, nothing has happened, or another process runs it. Call End within
// HookHeld.
func (hs Hook) Begin(holder row.Nonce) (*HookRun, error) {
	tx := hs.tx
	if !tx.Writable() {
		return nil, file.ErrReadOnly
	}
	if err := tx.Executing(); err != nil {
		return nil, err
	}
	set, err := tx.Settings()
	run := &HookRun{holder: holder}
	if err != nil || len(set.Hook) == 0 {
		return run, err
	}
	if holder == (row.Nonce{}) {
		return nil, fmt.Errorf("%w: a run of the hook needs a nonce", row.ErrInvalid)
	}
	h, err := hs.Row()
	if err != nil {
		return nil, err
	}
	run.Program, run.Failing = slices.Clone(set.Hook), kernel.Instant(h.Failing)
	held := kernel.Seconds(HookHeld)
	// a time beyond that comes from a wrong clock
	if h.Holder != (row.Nonce{}) && tx.Now < h.Until && h.Until <= tx.Now+held {
		return run, nil
	}
	err = tx.EachEvent(h.Cursor, func(ev *kernel.Event) (bool, error) {
		is, err := hs.event(ev)
		run.Events = append(run.Events, is)
		return len(run.Events) < MaxHookEvents, err
	})
	if err != nil || len(run.Events) == 0 {
		return run, err
	}
	h.Holder, h.Until = holder, tx.Now+held
	return run, tx.StartsNone(func() error { return hs.put(h) })
}

// maxSaid is how many bytes of what a hook said are kept.
const maxSaid = 200

// End ends a run of the hook that handled its events or failed. said is how it failed, or its complaint; it
// is kept until other events than the hook's own are handled. End returns since when the hook fails. It
// changes nothing if another process has begun a run meanwhile, because this one took too long.
func (hs Hook) End(run *HookRun, failed bool, said string) (since time.Time, err error) {
	tx := hs.tx
	if !tx.Writable() {
		return since, file.ErrReadOnly
	}
	h, err := hs.Row()
	if err != nil || h.Holder != run.holder || h.Holder == (row.Nonce{}) {
		return kernel.Instant(h.Failing), err
	}
	h.Holder, h.Until = row.Nonce{}, 0
	was, before := h.Failing, h.Failure
	others := slices.ContainsFunc(run.Events, func(ev HookEvent) bool { return ev.Event.Event != "hook" })
	if was != 0 || failed || others {
		h.Failure = strings.ToValidUTF8(said[:min(len(said), maxSaid)], "")
	}
	switch {
	case !failed:
		h.Failing = 0
		if n := len(run.Events); n > 0 {
			h.Cursor = run.Events[n-1].ID
		}
	case h.Failing == 0:
		h.Failing = tx.Now
	}
	return kernel.Instant(h.Failing), tx.StartsNone(func() error {
		complains := !failed && h.Failure != "" && h.Failure != before
		if was == 0 == (h.Failing == 0) && !complains {
			return hs.put(h)
		}
		state := map[bool]string{false: "working", true: "failing"}
		why := strings.Join(run.Program, " ")
		if h.Failure != "" {
			why += ": " + h.Failure
		}
		if err := hs.put(h); err != nil {
			return err
		}
		return tx.Happened(row.Event{Event: "hook", Old: state[was != 0], New: state[h.Failing != 0],
			Reason: row.Because(row.CauseNone, why)})
	})
}

// HookState tells how far the hook has got.
type HookState struct {
	Program []string  // nil if no hook is set
	Failing time.Time // since when it fails; zero if its last run succeeded
	Failure string    // how that failed, or the last line of its error messages
	Behind  uint64    // number of events that it has not handled yet
}

// State returns how far the hook has got.
func (hs Hook) State() (HookState, error) {
	s, err := ConfigOf(hs.tx).Settings()
	if err != nil || len(s.Hook) == 0 {
		return HookState{}, err
	}
	h, err := hs.Row()
	if err != nil {
		return HookState{}, err
	}
	return HookState{Program: s.Hook, Failing: kernel.Instant(h.Failing), Failure: h.Failure,
		Behind: hs.tx.State.Events - h.Cursor}, nil
}

// Hook is the part of a transaction that deals with the hook.
type Hook struct{ tx *kernel.Tx }

// HookOf returns the hook of a transaction.
func HookOf(tx *kernel.Tx) Hook { return Hook{tx} }

// set records whether there is a hook from now on. A new hook does not get earlier events. One
// that replaces another continues after the last event of that one.
func (hs Hook) set(is bool) error {
	if !is {
		return hs.tx.File.Remove(row.Meta, row.KeyHook)
	}
	h, err := hs.Row()
	if err != nil {
		return err
	}
	return hs.put(h)
}

// Row returns the hook's position; by default it is after the latest event.
func (hs Hook) Row() (*row.Hook, error) {
	payload, err := hs.tx.File.Get(row.Meta, row.KeyHook)
	if err != nil || payload == nil {
		return &row.Hook{Cursor: hs.tx.State.Events}, err
	}
	return row.HookRow.Decode(row.KeyHook, payload)
}

func (hs Hook) put(h *row.Hook) error {
	return hs.tx.Spoil(hs.tx.File.Put(row.Meta, row.KeyHook, row.HookRow.Encode(h)))
}

// event adds the job's details to an event. The job may be gone by now.
func (hs Hook) event(ev *kernel.Event) (HookEvent, error) {
	out := HookEvent{Event: *ev}
	if ev.Job == 0 {
		return out, nil
	}
	payload, err := hs.tx.File.Get(row.Jobs, row.Key64(ev.Job))
	if err != nil || payload == nil {
		return out, err
	}
	j, err := row.DecodeJob(row.Key64(ev.Job), payload)
	if err != nil {
		return out, err
	}
	out.User = j.User
	if ev.EndsAttempt() {
		a, err := hs.tx.Attempts().Of(j, ev.Attempt)
		if err != nil {
			return out, err
		}
		out.Outcome = a.Outcome
	}
	err = hs.mail(j, &out)
	return out, err
}

// mail decides whether a job's submitter wants mail about an event.
func (hs Hook) mail(j *row.Job, ev *HookEvent) error {
	of := mailed(&ev.Event)
	if of == "" {
		return nil
	}
	p, err := hs.tx.Payloads().Of(j)
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

// mailed returns the kind of mail for an event, or "".
func mailed(ev *kernel.Event) string {
	running := row.JobRunning.String()
	switch {
	case ev.Old != running && ev.New == running:
		return "begin"
	case ev.New == row.JobFailed.String():
		return "fail"
	case ev.New == row.JobFinished.String() || ev.New == row.JobCancelled.String():
		return "end"
	case ev.Old == running && ev.New != running:
		return "requeue"
	}
	return ""
}
