// Package hook hands the events of a database to the site's own program, the setting hook. The program
// runs while the database is closed. Only the cycle or pass that runs it waits for it, after its own
// work is done.
package hook

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/placectl/placectl/internal/bytejson"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/launch"
	"github.com/placectl/placectl/internal/text"
)

// Hook hands events on.
type Hook struct {
	Database string // its path: the program's PLACECTL_DB
	// Update changes the database. It may run its function more than once.
	Update func(func(*engine.Tx) error) error
	// Distrusts says why programs that the database names must not run, "" if they may.
	Distrusts func() string
	// Note reports details, and Warn problems that need attention.
	Note, Warn func(format string, args ...any)

	failed bool // the last run of the program failed
}

// saidAfter is how long the program must fail before each cycle and pass says so.
const saidAfter = time.Hour

// Line is an event as a line of JSON for the program. Fields that the event lacks are left out.
type Line struct {
	ID      uint64    `json:"id"`
	Event   string    `json:"event"`
	Time    time.Time `json:"time"`
	Job     uint64    `json:"job,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	User    string    `json:"user,omitempty"`
	Old     string    `json:"old,omitempty"`
	New     string    `json:"new,omitempty"`
	Outcome string    `json:"outcome,omitempty"`
	Node    string    `json:"node,omitempty"`
	Mail    *Mail     `json:"mail,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	Code    string    `json:"reason_code,omitempty"`
}

// Mail says to whom an event is mailed, if the job wants that.
type Mail struct {
	On string `json:"on"` // begin, end, fail or requeue
	To string `json:"to"` // addresses, separated by commas
}

func line(ev *engine.HookEvent) Line {
	l := Line{ID: ev.ID, Event: ev.Event.Event, Time: ev.Time.UTC(), Job: ev.Job, Attempt: ev.Attempt, User: ev.User,
		Old: ev.Old, New: ev.New, Outcome: ev.Outcome.String(), Node: ev.Node, Reason: ev.Reason.String(),
		Code: ev.Reason.Cause.String()}
	if ev.Mail != "" {
		l.Mail = &Mail{ev.Mail, ev.MailTo}
	}
	return l
}

// Run hands on what has happened since the program last ran, for at most the time of one run. If the
// program fails, it gets the same events again, and that is no error.
func (h *Hook) Run(ctx context.Context) error {
	end := time.Now().Add(engine.HookTime)
	for more := true; more && ctx.Err() == nil && time.Now().Before(end); {
		var err error
		if more, err = h.once(ctx); err != nil {
			return err
		}
	}
	return nil
}

// once makes one run, and reports whether there may be more events.
func (h *Hook) once(ctx context.Context) (more bool, err error) {
	if why := h.Distrusts(); why != "" {
		h.Note("the hook is not run, since %s: PLACECTL_TRUST=1 allows it", why)
		return false, nil
	}
	var holder engine.Nonce
	rand.Read(holder[:]) //nolint:errcheck // it never fails
	var run *engine.HookRun
	var now time.Time
	err = h.Update(func(tx *engine.Tx) (err error) {
		run, err = tx.Hook().Begin(holder)
		now = tx.Now()
		return err
	})
	if err != nil {
		return false, err
	}
	since := run.Failing
	if len(run.Events) > 0 {
		said, failed := h.feed(ctx, run)
		if h.failed = failed != nil; h.failed {
			said = failed.Error()
		}
		err := h.Update(func(tx *engine.Tx) (err error) {
			since, err = tx.Hook().End(run, h.failed, said)
			return err
		})
		if err != nil {
			return false, err
		}
		if failed != nil && now.Sub(since) < saidAfter {
			h.Note("the hook %s: %v; it gets the same events again", text.Quoted(run.Program[0]), failed)
		}
		more = failed == nil && len(run.Events) == engine.MaxHookEvents
	}
	if !since.IsZero() && now.Sub(since) >= saidAfter {
		h.Warn("the hook %s has been failing since %s", text.Quoted(run.Program[0]), since.UTC().Format(time.RFC3339))
	}
	return more, nil
}

// feed runs the program on the events of a run. It returns the last line of its error messages.
func (h *Hook) feed(ctx context.Context, run *engine.HookRun) (said string, err error) {
	var lines bytes.Buffer
	for i := range run.Events {
		if err := bytejson.Write(&lines, line(&run.Events[i])); err != nil {
			return "", err
		}
	}
	path, err := launch.Find(run.Program[0])
	if err != nil {
		return "", err
	}
	program := launch.Program{Words: append([]string{path}, run.Program[1:]...), Timeout: engine.HookTime, Whole: true}
	said, err = program.Feed(ctx, h.Database, lines.Bytes())
	if ctx.Err() != nil {
		err = errors.New("it was interrupted")
	}
	return said, err
}
