package jobs

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
)

// Submit puts a job, or the jobs of an array, into the queue. An array has a number of its own, right
// before the consecutive numbers of its jobs. It fails with ErrNotFound if a job that they depend on does not exist.
// A job that can never run on the present cluster still waits, marked Never.
func (js Jobs) Submit(s Submission) ([]*kernel.Job, error) {
	return kernel.JobsResult(submit(js.tx, s))
}

func submit(tx *kernel.Tx, s Submission) ([]*row.Job, error) {
	if !tx.Writable() {
		return nil, file.ErrReadOnly
	}
	if err := errors.Join(mayRank(tx, s.Priority), kernel.CheckText("reason", s.Reason)); err != nil {
		return nil, err
	}
	j, never, err := submitted(tx, s)
	if err != nil {
		return nil, err
	}
	begins := Step{To: row.JobQueued}
	if s.Hold {
		begins = Step{To: row.JobHeld, Reason: tx.Wish(s.Reason)}
	}
	list := make([]*row.Job, s.count())
	after, err := corresponding(tx, j, s)
	if err != nil {
		return nil, err
	}
	if j.Payload, err = carry(tx, s.Payload, len(list)); err != nil {
		return nil, tx.Spoil(err)
	}
	if s.isArray() {
		j.Array = tx.State.NextJob
		tx.State.NextJob++
	}
	signing := signing(tx, s.Sign)
	for i := range list {
		one := *j
		one.ID = tx.State.NextJob
		if s.isArray() {
			one.Index = s.index(i)
		}
		if after != nil {
			one.After = after[i]
		}
		if len(s.Each) > 0 {
			one.Command, one.Line = s.Each[i].Command, s.Each[i].Line
		}
		if len(s.retryOf) > 0 {
			one.RetryOf = s.retryOf[i]
		}
		tx.State.NextJob++
		if err := signing(&one); err != nil {
			return nil, tx.Spoil(err)
		}
		if err := MachineOf(tx).Do(&one, begins); err != nil {
			return nil, err
		}
		if never != "" {
			if err := NeverRuns(tx, &one, never); err != nil {
				return nil, tx.Spoil(err)
			}
		}
		list[i] = &one
	}
	if err := noted(tx, list[0], s.Notes); err != nil {
		return nil, tx.Spoil(err)
	}
	if s.Throttle > 0 {
		return list, tx.Spoil(Throttle(tx, j.Array, int64(s.Throttle), nil))
	}
	return list, nil
}

// mayRank fails with ErrNotPermitted for a priority that only operators may give.
func mayRank(tx *kernel.Tx, priority int64) error {
	set, err := tx.Settings()
	if err != nil || priority >= set.PriorityMin && priority <= set.PriorityMax {
		return err
	}
	return users.RolesOf(tx).Permit(users.Operators,
		fmt.Sprintf("a priority of %d, outside %d to %d (the settings priority_min and priority_max)", priority,
			set.PriorityMin, set.PriorityMax))
}

// noted records notes for the job's owner.
func noted(tx *kernel.Tx, j *row.Job, notes []string) error {
	for _, note := range notes {
		if err := tx.Happened(row.Event{Job: j.ID, Event: "note", Old: j.State.String(), New: j.State.String(),
			Reason: row.Because(row.CauseNone, note)}); err != nil {
			return err
		}
	}
	return nil
}

// ascending reports whether indexes are valid and ascend without repeats.
func ascending(indexes []int) bool {
	last := -1
	for _, i := range indexes {
		if i <= last || i > MaxIndex {
			return false
		}
		last = i
	}
	return true
}

// submitted makes and verifies the job of a submission. never says why it can never run, or is
// "".
func submitted(tx *kernel.Tx, s Submission) (j *row.Job, never string, err error) {
	a, err := plan.AskingOf(tx, s.Request).Read()
	if err != nil {
		return nil, "", err
	}
	if err := users.RolesOf(tx).Asks(s.Request); err != nil {
		return nil, "", err
	}
	begin, deadline := kernel.Unix(s.Begin), kernel.Unix(s.Deadline)
	switch {
	case s.Array < 0 || s.Array > MaxArray:
		return nil, "", fmt.Errorf("%w: an array of %d jobs; it must be from 1 to %d", row.ErrInvalid, s.Array,
			MaxArray)
	case s.Array > 0 && len(s.Indexes) > 0, len(s.Indexes) > MaxArray, !ascending(s.Indexes):
		return nil, "", fmt.Errorf("%w: the indexes of an array, in place of their number: at most %d, ascending, "+
			"from 0 to %d", row.ErrInvalid, MaxArray, MaxIndex)
	case s.Array > 0 && len(s.Each) > 0, len(s.Each) > MaxArray, len(s.Each) > 0 && len(s.Indexes) > 0 &&
		len(s.Each) != len(s.Indexes):
		return nil, "", fmt.Errorf("%w: what each job of an array executes, in place of its size: at most %d",
			row.ErrInvalid, MaxArray)
	case s.Throttle < 0 || s.Throttle > MaxArray:
		return nil, "", fmt.Errorf("%w: %d jobs of an array at once; it must be from 1 to %d", row.ErrInvalid,
			s.Throttle, MaxArray)
	case s.Throttle > 0 && !s.isArray():
		return nil, "", fmt.Errorf("%w: at most %d jobs at once: that needs an array", row.ErrInvalid, s.Throttle)
	case s.Accept != "" && !slices.Contains(kernel.SettingWords("accept"), s.Accept):
		return nil, "", fmt.Errorf("%w: accept %q; it is any or feasible", row.ErrInvalid, s.Accept)
	case deadline != 0 && deadline < max(begin, tx.Now)+a.Duration:
		return nil, "", fmt.Errorf("%w: it cannot end by its deadline, %s: its walltime is %d s, and it starts at %s "+
			"at the earliest", row.ErrInvalid,
			kernel.Stamp(deadline), a.Duration, kernel.Stamp(max(begin, tx.Now)))
	}
	set, err := tx.Settings()
	if err != nil {
		return nil, "", err
	}
	if n := s.count(); n > set.MaxArray {
		return nil, "", fmt.Errorf("%w: an array of %d jobs; the setting max_array allows %d. Others wait while a "+
			"larger one is submitted or cancelled: placectl config set max_array=%d", row.ErrInvalid, n, set.MaxArray,
			n)
	}
	if err := cmp.Or(s.labels(), s.Payload.Check()); err != nil {
		return nil, "", err
	}
	if err := s.Payload.Fits(s.Select); err != nil {
		return nil, "", err
	}
	after, err := dependencies(tx, s.After)
	if err != nil {
		return nil, "", err
	}
	defs, err := tx.Resources()
	if err != nil {
		return nil, "", err
	}
	j = newcomer(tx, s.Request, a, defs)
	s.asks(j)
	j.Queued, j.After = true, after
	if err := plan.Admit(tx, j, a.Spec, int64(s.count()), true); err != nil {
		return nil, "", err
	}
	never, err = whyNever(tx, s, a)
	j.Never = never != ""
	return j, never, err
}

// IsArray reports whether a number is that of an array, and not of a job.
func (js Jobs) IsArray(number uint64) (bool, error) { return js.tx.IsArray(number) }

// JobOrArray returns the job with a number, or the jobs of the array with it.
func (js Jobs) JobOrArray(number uint64) ([]*kernel.Job, error) {
	return kernel.JobsResult(js.tx.JobOrArray(number))
}

// Array returns the jobs of an array by index. It fails with ErrNotFound if there is no array with that
// number.
func (js Jobs) Array(array uint64) ([]*kernel.Job, error) {
	return kernel.JobsResult(js.tx.ArrayJobs(array))
}

// labels verifies what a running job can change, too, besides its walltime.
func (s *Submission) labels() error {
	if s.Priority < -kernel.MaxPriority || s.Priority > kernel.MaxPriority {
		return fmt.Errorf("%w: a priority of %d; it must be from %d to %d", row.ErrInvalid, s.Priority,
			-kernel.MaxPriority, kernel.MaxPriority)
	}
	return cmp.Or(plan.CheckNames(&s.Request), kernel.CheckText("comment", s.Comment))
}
