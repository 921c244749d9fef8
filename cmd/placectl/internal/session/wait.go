package session

import (
	"errors"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
)

// PollInterval is how often a waiting command checks whether the file has changed. It holds
// no lock meanwhile.
const PollInterval = 200 * time.Millisecond

// KeepTrying calls try until it no longer fails with "not now" or patience is over. It tries again
// when the file has changed, and at the start that the refusal named. Patience is measured by the
// clock, whatever --now says.
func (r *Run) KeepTrying(patience time.Duration, try func() error) error {
	if patience > 0 && r.Tx != nil {
		return usage.Of("tx", "--wait cannot be part of a transaction")
	}
	if patience == 0 {
		return try()
	}
	deadline := r.Env.Clock().Add(patience)
	for {
		seen := r.FileStamp()
		err := try()
		if !errors.Is(err, placer.ErrNotNow) {
			return err
		}
		if waited := r.WaitForChange(seen, deadline, earliestOf(err)); waited != nil {
			return errors.Join(waited, err)
		}
		if !r.Env.Clock().Before(deadline) {
			return err
		}
	}
}

// earliestOf returns when a refused request could start, the zero time if that is unknown.
func earliestOf(err error) time.Time {
	var refused interface{ Earliest() (int64, bool) }
	if errors.As(err, &refused) {
		if at, ok := refused.Earliest(); ok {
			return time.Unix(at, 0)
		}
	}
	return time.Time{}
}

// WaitForChange sleeps until the file differs from seen, the deadline, or the instant named,
// whichever comes first. It fails when the run is interrupted.
func (r *Run) WaitForChange(seen FileStamp, deadline, named time.Time) error {
	ticks := time.NewTicker(PollInterval)
	defer ticks.Stop()
	var changed <-chan struct{}
	if engine.IsLog(r.DB) {
		changed = r.LogMoves()
	}
	for {
		if !r.Env.Clock().Before(deadline) || !named.IsZero() && !r.Instant().Before(named) || r.FileStamp() != seen {
			return nil
		}
		select {
		case <-r.Ctx.Done():
			return r.Ctx.Err()
		case <-ticks.C:
		case <-changed:
		}
	}
}

// WaitForFile sleeps until the file differs from seen. It fails when the run is interrupted, and as a write would when
// no process can read the answer any more: what follows a database must end with the process that reads it.
func (r *Run) WaitForFile(seen FileStamp) error {
	for r.FileStamp() == seen {
		if r.Answers.IsUnread() {
			return r.Answers.Err
		}
		if err := r.WaitForChange(seen, r.Env.Clock().Add(time.Second), time.Time{}); err != nil {
			return err
		}
	}
	return r.Ctx.Err()
}

// FileStamp tells states of the database apart. The file's modification time would not do: the
// kernel's clock may stand still between two commits.
type FileStamp struct {
	file engine.FileState
	log  int64 // of a database in a log
}

// FileStamp returns the present state of the database, the zero stamp if there is none. Commands
// that wait for a change call it over and over. So a killed attendant that they wait for is
// replaced.
func (r *Run) FileStamp() (s FileStamp) {
	r.leaveAgain()
	if engine.IsLog(r.DB) {
		return FileStamp{log: r.logStamp()}
	}
	s.file, _ = engine.StateOfFile(r.DB) //nolint:errcheck // the zero stamp stands for no file
	return s
}
