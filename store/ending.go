package store

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/row"
)

// Cancelling, requeuing or releasing a job does not free its nodes while a process executes its
// command. The attempt is marked as ending, with the job's next state; its executor stops the
// command and reports that. Until then the command may still use what the job has.

// isExecuted reports whether a job's command is executed by a process that obeys marks.
func isExecuted(j *row.Job) bool { return j.State == JobRunning && j.Claimed }

// asMarked ends a job that is ending, as it was marked: a launcher was told to stop it, and its
// time for that is over, or it never began.
func (as attempts) asMarked(j *row.Job) error {
	a, err := as.of(j, j.CurrentAttempt())
	if err != nil {
		return err
	}
	return as.machine().do(j, step{to: a.Becomes, reason: a.Why, leaving: exited})
}

// grace is how long a job has between being told to terminate and being killed.
func (as attempts) grace(j *row.Job) (time.Duration, error) {
	p, err := as.payloads().of(j)
	if err != nil || p == nil {
		return DefaultGrace, err
	}
	return p.Ending.grace(), nil
}

// GiveBack ends the attempt of a job that is ending at once: its nodes are others', whatever
// its processes do. It fails with a Conflict if the job is not ending.
func (tx *Tx) GiveBack(id uint64) (*Job, error) {
	j, err := tx.forChange(id, "given back", JobRunning)
	if err != nil {
		return nil, err
	}
	if !j.Ending {
		return nil, row.Clash("job "+strconv.FormatUint(id, 10), "it is still running")
	}
	a, err := tx.attempts().of(j, j.CurrentAttempt())
	if err != nil {
		return nil, err
	}
	const early = "its nodes were given back before its processes had ended"
	reason := a.Why.And(early)
	return jobResult(j, tx.machine().do(j, step{to: a.Becomes, reason: reason, leaving: exited}))
}

// prolong moves the end of a running job to a later instant, as extend would: its nodes are free
// until then, and its deadline is not earlier.
func (al allocations) prolong(j *row.Job, end int64) error {
	if j.Deadline != 0 {
		end = min(end, j.Deadline)
	}
	if end <= j.End {
		return nil
	}
	spans, err := al.spans(j)
	if err != nil {
		return err
	}
	err = al.mayReach(j, spans, end)
	if errors.Is(err, ErrConflict) {
		return nil
	}
	if err != nil {
		return err
	}
	s := step{to: j.State, reason: j.Reason}
	return errors.Join(al.untilAnother(j, end, &s), al.machine().do(j, s))
}

// untilAnother has a step give a job another end on the nodes that it has.
func (al allocations) untilAnother(j *row.Job, end int64, s *step) error {
	spans, err := al.spans(j)
	for i := range spans {
		spans[i].End = end
	}
	change := s.change
	s.keeps, s.change = spans, func() {
		if j.End = end; change != nil {
			change()
		}
	}
	return err
}

// An attempt that has failed is followed by another where the job allows it: after how
// many, after which outcomes and how much later is in its Ending.

// CheckRetryOn verifies a list of outcomes after which a job is retried: exit statuses and ranges
// of them, signal, walltime and oom, joined by commas, such as 1-5,75,oom. The empty list means
// every signal and every status but 126 and 127, which say that there is no such program. It fails
// with ErrInvalid.
func CheckRetryOn(list string) error {
	_, err := retriedOn(list, OutcomeNone, 0)
	return err
}

// retriedOn reports whether a list has an outcome.
func retriedOn(list string, o Outcome, exit int) (bool, error) {
	if list == "" {
		return o == OutcomeSignal || o == OutcomeExited && exit != 126 && exit != 127 && exit != 0, nil
	}
	found := false
	for _, item := range strings.Split(list, ",") {
		switch item {
		case OutcomeSignal.String(), OutcomeWalltime.String(), OutcomeOOM.String():
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
			return false, fmt.Errorf("%w: %q is no outcome after which a job can be tried again: use statuses from 1 to 255 and ranges of them, signal, walltime and oom", ErrInvalid, item)
		}
		found = found || o == OutcomeExited && int(low) <= exit && exit <= int(high)
	}
	return found, nil
}

// retryWait is for how long a job waits after so many retries.
func (e *Ending) retryWait(retried int) time.Duration {
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

// maxRetryMem is the most memory that a retry may ask for, in percent.
const maxRetryMem = 10_000

// growsFor reports whether a retry after such an outcome asks for more memory.
func (e *Ending) growsFor(o Outcome) bool { return e.RetryMem != 0 && o == OutcomeOOM }

// grown is a select whose chunks ask for more memory, "" if none can have more.
func (as attempts) grown(sel string, e *Ending) (string, error) {
	defs, err := as.Resources()
	if err != nil {
		return "", err
	}
	chunks, err := placer.ParseSelect(defs, sel)
	if err != nil {
		return "", err
	}
	mem, ok := defs.Lookup("mem")
	most := e.RetryMax
	if ok {
		largest := int64(0)
		err = as.EachNode(func(n *index.Node) error {
			has, _ := n.Get(mem.ID)
			largest = max(largest, has.Num)
			return nil
		})
		if most = min(cmp.Or(most, largest), largest); err != nil {
			return "", err
		}
	}
	more := false
	for _, c := range chunks {
		for i := range c.Wants {
			if w := &c.Wants[i]; ok && w.Res == mem.ID {
				if next := min(most, w.Value.Num*int64(e.RetryMem)/100); next > w.Value.Num {
					w.Value.Num, more = next, true
				}
			}
		}
	}
	if !more {
		return "", nil
	}
	return placer.Spec{Chunks: chunks}.Text(defs), nil
}

// grow increases the memory request of a job that waits for a retry after oom. If a limit or right
// forbids that, the request stays.
func (as attempts) grow(j *row.Job, e *Ending) error {
	sel, err := as.grown(j.Select, e)
	if err != nil || sel == "" {
		return err
	}
	note := "its memory was too little: it asks for " + sel + " in place of " + j.Select
	next, err := as.waiting().alter(j.ID, &Alteration{Select: &sel, Notes: []string{note}})
	if err == nil {
		*j = *next
		return nil
	}
	if as.spoilt != nil {
		return err
	}
	return as.waiting().noted(j, []string{"it cannot have more memory: " + err.Error()})
}

// Check verifies an ending. It fails with ErrInvalid.
func (e *Ending) Check() error {
	switch {
	case e.Retries < 0 || e.Retries > MaxRetries:
		return fmt.Errorf("%w: %d retries; there may be from 0 to %d", ErrInvalid, e.Retries, MaxRetries)
	case e.RetryWait < 0 || e.RetryWait > MaxRetryWait:
		return fmt.Errorf("%w: a wait of %s before a retry; it must be from 0 to %s", ErrInvalid, e.RetryWait, MaxRetryWait)
	case e.RetryMem != 0 && (e.RetryMem <= 100 || e.RetryMem > maxRetryMem) || e.RetryMax < 0 || e.RetryMax > 0 && e.RetryMem == 0:
		return fmt.Errorf("%w: %d%% of the memory after oom; it must be from 101%% to %d%%", ErrInvalid, e.RetryMem, maxRetryMem)
	case e.Signal < 0 || e.Signal > 64:
		return fmt.Errorf("%w: there is no signal %d", ErrInvalid, e.Signal)
	case (e.Signal == 0) != (e.Before == 0) || e.Before < 0:
		return fmt.Errorf("%w: signal %d, %s before the end: both, or neither", ErrInvalid, e.Signal, e.Before)
	case e.Signal == 0 && e.First:
		return fmt.Errorf("%w: the first process alone is to get a signal, and there is none", ErrInvalid)
	}
	for _, when := range strings.Split(e.Mail, ",") {
		switch when {
		case "", "begin", "end", "fail", "requeue":
		default:
			return fmt.Errorf("%w: mail at %q; there are begin, end, fail and requeue", ErrInvalid, when)
		}
	}
	for _, to := range strings.Split(e.MailTo, ",") {
		if e.MailTo != "" && (to == "" || strings.ContainsFunc(to, notInAddress)) {
			return fmt.Errorf("%w: mail to %q; addresses are wanted, with commas between", ErrInvalid, e.MailTo)
		}
	}
	return CheckRetryOn(e.RetryOn)
}

// notInAddress are characters that would end an address, or the line of a mail's head that
// it stands in.
func notInAddress(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
