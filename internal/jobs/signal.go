package jobs

import (
	"fmt"
	"strconv"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
)

// A signal for a job is written into the row of its attempt. The process that executes the attempt
// reads it there, sends it on all nodes of the job, and records that it has.

// maxSignals is the maximum number of signals of an attempt that have not been sent yet.
const maxSignals = 16

// Signal sends a signal to the processes of a running job. It returns the attempt that they
// belong to. The signal has been sent once the attempt's Sent reaches the returned number. It
// fails with a Conflict if no process of ours executes the job's command, or if too many
// signals wait. It fails with ErrInvalid if the number is not a signal.
func (as Attempts) Signal(id uint64, sig int) (a *kernel.Attempt, number int, err error) {
	if sig < 1 || sig > 64 {
		return nil, 0, fmt.Errorf("%w: there is no signal %d", row.ErrInvalid, sig)
	}
	j, err := forChange(as.tx, id, "sent a signal", row.JobRunning)
	if err != nil {
		return nil, 0, err
	}
	what := "job " + strconv.FormatUint(id, 10)
	is, err := as.tx.Attempts().Of(j, j.CurrentAttempt())
	switch {
	case err != nil:
		return nil, 0, err
	case is.By == row.ByLauncher:
		return nil, 0, row.Clash(what, "your site's own launcher executes it, and takes no signals from here")
	case !j.Claimed:
		return nil, 0, row.Clash(what, "its command has not begun yet")
	case len(is.Signals) >= maxSignals:
		return nil, 0, row.Clash(what, fmt.Sprintf("%d signals wait to be delivered already", maxSignals))
	}
	is.Signals, is.Chunks, is.Along = append(is.Signals, uint8(sig)), nil, nil
	err = as.tx.Attempts().Put(is)
	if err == nil {
		err = as.tx.Happened(row.Event{Job: id, Event: "signal", Attempt: is.Number, Old: j.State.String(),
			New: j.State.String(), Reason: row.Because(row.CauseRequest, SignalName(sig))})
	}
	return kernel.AttemptOf(is), is.Sent + len(is.Signals), as.tx.Spoil(err)
}

// signalNames are the names of Linux's signals, whose numbers are on disk.
var signalNames = [...]string{1: "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV",
	"USR2", "PIPE", "ALRM",
	"TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH",
	"IO", "PWR", "SYS"}

// SignalName returns the usual name of a signal, or its number if it has no name.
func SignalName(sig int) string {
	if sig > 0 && sig < len(signalNames) {
		return signalNames[sig]
	}
	return strconv.Itoa(sig)
}

// Signalled records that the first sent signals of an attempt were sent. The process that
// claimed the attempt under the nonce calls it. Repeating it changes nothing.
func (as Attempts) Signalled(job uint64, attempt int, n row.Nonce, sent int) error {
	j, err := forExecution(as.tx, job)
	if err != nil {
		return err
	}
	a, err := as.tx.Attempts().Of(j, attempt)
	switch {
	case err != nil:
		return err
	case a.Nonce != n || a.State == row.AttemptEnded:
		return row.Clash(fmt.Sprintf("attempt %d.%d", job, attempt), "the job has gone on without it")
	case sent <= a.Sent:
		return nil
	case sent > a.Sent+len(a.Signals):
		return fmt.Errorf("%w: %d signals sent of %d", row.ErrInvalid, sent, a.Sent+len(a.Signals))
	}
	paused := j.Paused
	for _, sig := range a.Signals[:sent-a.Sent] {
		switch SignalName(int(sig)) {
		case "STOP", "TSTP":
			paused = true
		case "CONT":
			paused = false
		}
	}
	a.Signals, a.Sent, a.Chunks, a.Along = a.Signals[sent-a.Sent:], sent, nil, nil
	if err := as.tx.Attempts().Put(a); err != nil || paused == j.Paused {
		return as.tx.Spoil(err)
	}
	j.Paused = paused
	return as.tx.Spoil(PutJob(as.tx, j, j.State))
}
