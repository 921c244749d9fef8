package kernel

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/row"
)

// Cancelling, requeuing or releasing a job does not free its nodes while a process executes its
// command. The attempt is marked as ending, with the job's next state; its executor stops the
// command and reports that. Until then the command may still use what the job has.

// IsExecuted reports whether a job's command is executed by a process that obeys marks.
func IsExecuted(j *row.Job) bool { return j.State == row.JobRunning && j.Claimed }

// Grace returns how long a job has between the signal to terminate and being killed.
func (as Attempts) Grace(j *row.Job) (time.Duration, error) {
	p, err := as.tx.Payloads().Of(j)
	if err != nil || p == nil {
		return DefaultGrace, err
	}
	return p.Ending.grace(), nil
}

// If the job allows it, a failed attempt is followed by another. Its Ending says how many may
// follow, after which outcomes, and how much later.

// CheckRetryOn verifies a list of outcomes after which a job is retried: exit statuses and ranges
// of them, signal, walltime and oom, joined by commas, such as 1-5,75,oom. The empty list means
// every signal and every status but 126 and 127, which say that there is no such program. It fails
// with ErrInvalid.
func CheckRetryOn(list string) error {
	_, err := RetriedOn(list, row.OutcomeNone, 0)
	return err
}

// RetriedOn reports whether a list includes an outcome.
func RetriedOn(list string, o row.Outcome, exit int) (bool, error) {
	if list == "" {
		return o == row.OutcomeSignal || o == row.OutcomeExited && exit != 126 && exit != 127 && exit != 0, nil
	}
	found := false
	for _, item := range strings.Split(list, ",") {
		switch item {
		case row.OutcomeSignal.String(), row.OutcomeWalltime.String(), row.OutcomeOOM.String():
			found = found || o.String() == item
			continue
		}
		from, to, isRange := strings.Cut(item, "-")
		if !isRange {
			to = from
		}
		low, err := strconv.ParseUint(from, 10, 8)
		high, errTo := strconv.ParseUint(to, 10, 8)
		if err != nil || errTo != nil || low > high || low == 0 {
			return false, fmt.Errorf("%w: %q cannot lead to a retry: use statuses from 1 to 255 and ranges of them, "+
				"signal, walltime and oom", row.ErrInvalid, item)
		}
		found = found || o == row.OutcomeExited && int(low) <= exit && exit <= int(high)
	}
	return found, nil
}

// WaitBefore returns how long a job waits before its next retry, after the given number of retries.
func (e *Ending) WaitBefore(retried int) time.Duration {
	wait := e.RetryWait
	if wait == 0 {
		wait = DefaultRetryWait
	}
	for range retried {
		if wait *= 2; wait >= MaxRetryWait {
			break
		}
	}
	return min(wait, MaxRetryWait)
}

// maxRetryMem is the maximum of RetryMem, in percent.
const maxRetryMem = 10_000

// GrowsFor reports whether a retry after such an outcome asks for more memory.
func (e *Ending) GrowsFor(o row.Outcome) bool { return e.RetryMem != 0 && o == row.OutcomeOOM }

// Check verifies an ending. It fails with ErrInvalid.
func (e *Ending) Check() error {
	switch {
	case e.Retries < 0 || e.Retries > MaxRetries:
		return fmt.Errorf("%w: %d retries; there must be from 0 to %d", row.ErrInvalid, e.Retries, MaxRetries)
	case e.RetryWait < 0 || e.RetryWait > MaxRetryWait:
		return fmt.Errorf("%w: a wait of %s before a retry; it must be from 0 to %s", row.ErrInvalid, e.RetryWait,
			MaxRetryWait)
	case e.RetryMem != 0 && (e.RetryMem <= 100 || e.RetryMem > maxRetryMem) || e.RetryMax < 0 ||
		e.RetryMax > 0 && e.RetryMem == 0:
		return fmt.Errorf("%w: %d%% of the memory after oom; it must be from 101%% to %d%%", row.ErrInvalid, e.RetryMem,
			maxRetryMem)
	case len(e.MailTo) > MaxText:
		return fmt.Errorf("%w: addresses of %d bytes for mail; at most %d are kept", row.ErrInvalid, len(e.MailTo),
			MaxText)
	case e.Signal < 0 || e.Signal > 64:
		return fmt.Errorf("%w: there is no signal %d", row.ErrInvalid, e.Signal)
	case (e.Signal == 0) != (e.Before == 0) || e.Before < 0:
		return fmt.Errorf("%w: signal %d, %s before the end: both, or neither", row.ErrInvalid, e.Signal, e.Before)
	case e.Signal == 0 && e.First:
		return fmt.Errorf("%w: a signal for the first process is missing", row.ErrInvalid)
	}
	for _, when := range strings.Split(e.Mail, ",") {
		switch when {
		case "", "begin", "end", "fail", "requeue":
		default:
			return fmt.Errorf("%w: mail at %q: use begin, end, fail and requeue", row.ErrInvalid, when)
		}
	}
	for _, to := range strings.Split(e.MailTo, ",") {
		if e.MailTo != "" && (to == "" || strings.ContainsFunc(to, notInAddress)) {
			return fmt.Errorf("%w: mail to %q: expected addresses such as ann@x.org, separated by commas",
				row.ErrInvalid, e.MailTo)
		}
	}
	return CheckRetryOn(e.RetryOn)
}

// notInAddress reports whether a character cannot be in an address without quotes, by RFC 5322. docs/hooks/mail
// sends the same ones.
func notInAddress(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(
		"!#$%&'*+-/=?^_`{|}~.@", r)
}
