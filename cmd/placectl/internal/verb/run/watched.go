package run

import (
	"os"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/internal/dispatch"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/keeper"
)

// watched is a command that runs in the foreground, as its database sees it. While that is away, or another one
// is in its place, the job goes on as far as we know.
type watched struct {
	*Foreground
	db    *dispatch.DB
	key   keeper.Key
	nonce engine.Nonce
	epoch string

	pid     int
	seen    session.FileStamp // of the last answer
	end     time.Time         // of the walltime, by our clock; extend moves it
	stopped engine.Outcome    // why the command must end
}

// watch watches the command of a job that is about to run.
func (f *Foreground) watch(tx *engine.Tx, job *engine.Job) (*watched, error) {
	is, err := tx.Identity()
	if err != nil {
		return nil, err
	}
	w := &watched{Foreground: f, db: f.Dispatched("", os.Getuid()), key: keeper.Key{Job: job.ID, Number: job.Attempt},
		end: time.Now().Add(job.End.Sub(tx.Now()))}
	if w.db.ID = is.ID; f.lock != nil { // else the attempt has no claim
		w.nonce, w.epoch = f.lock.As.Nonce, dispatch.EpochOf(is)
	}
	return w, nil
}

// began records the command's process.
func (w *watched) began(pid int) {
	if w.pid = pid; w.lock == nil {
		return
	}
	if err := w.lock.Began(pid); err != nil {
		w.Notef("the command's process was not recorded: %v", err)
	}
}

// ends reports whether the command must end.
func (w *watched) ends() bool {
	if now := w.FileStamp(); now != w.seen && w.ask() {
		w.seen = now
	}
	if w.stopped == engine.OutcomeNone && !time.Now().Before(w.end) {
		w.Notef("the walltime of job %d is over: its command is told to terminate", w.key.Job)
		w.stopped = engine.OutcomeWalltime
	}
	return w.stopped != engine.OutcomeNone
}

// ask asks the database about the attempt, and sends the command's processes the signals that it holds for them. It
// reports whether the database has answered.
func (w *watched) ask() bool {
	held, err := w.db.Held(w.Ctx, w.key, w.nonce, w.epoch)
	switch {
	case !keeper.Settled(err):
		w.Debugf("%v", err)
		return false
	case err != nil:
		w.Notef("%v: its command is told to terminate", err)
		w.stopped = engine.OutcomeStopped
		return true
	}
	for _, sig := range held.Signals {
		keeper.OwnFile().SignalTree(w.pid, sig)
	}
	if len(held.Signals) > 0 {
		err = w.db.Signalled(w.Ctx, w.key, w.nonce, held.Sent+len(held.Signals))
	}
	if err != nil {
		w.Notef("signals: %v", err)
	}
	if w.end = time.Now().Add(held.Left); held.Ending {
		w.Notef("job %d is %s: its command is told to terminate", w.key.Job, held.Why)
		w.stopped = engine.OutcomeStopped
	}
	return true
}
