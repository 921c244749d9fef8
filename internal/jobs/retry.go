package jobs

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
)

// Retry submits ended jobs again, as new jobs with the same request, command and payload.
// RetryOf of each names the old one. Jobs of an array become an array again, with the same
// indexes. The new jobs have no begin time and no dependencies, and lose a deadline that is
// over. It fails with a Conflict if one of them has not ended, or did not come through the
// queue, and with the errors of Submit.
func (js Jobs) Retry(ids []uint64, sign Signer) ([]*kernel.Job, error) {
	return kernel.JobsResult(retry(js.tx, ids, sign))
}

func retry(tx *kernel.Tx, ids []uint64, sign Signer) (list []*row.Job, err error) {
	var group []*row.Job
	submit := func() error {
		if len(group) == 0 {
			return nil
		}
		s, err := onceMore(tx, group)
		if err != nil {
			return err
		}
		s.Sign = sign
		jobs, err := submit(tx, *s)
		list, group = append(list, jobs...), nil
		return err
	}
	for _, id := range ids {
		j, err := forChange(tx, id, "done once more: it has not ended", row.JobFinished, row.JobFailed,
			row.JobCancelled)
		if err != nil {
			return nil, err
		}
		if !j.Queued || j.Attended {
			return nil, row.Clash("job "+strconv.FormatUint(id, 10),
				"it was placed, or executed by run, not submitted: there is nothing to submit once more")
		}
		if len(group) > 0 && !together(group[0], j) {
			if err := submit(); err != nil {
				return nil, err
			}
		}
		group = append(group, j)
	}
	return list, submit()
}

// together reports whether two jobs are of one array and still ask for the same.
func together(a, b *row.Job) bool {
	return a.Array != 0 && a.Array == b.Array && a.Payload == b.Payload && fmt.Sprint(repeat(a)) == fmt.Sprint(
		repeat(b))
}

// repeat returns the submission that repeats a job, without its command and payload.
func repeat(j *row.Job) Submission {
	s := submissionOf(j)
	s.Begin, s.After, s.Command = time.Time{}, nil, nil
	return s
}

// onceMore returns a submission that repeats jobs with the same request.
func onceMore(tx *kernel.Tx, jobs []*row.Job) (*Submission, error) {
	first := jobs[0]
	s := repeat(first)
	if s.Command = first.Command; first.Deadline < tx.Now+first.Walltime {
		s.Deadline = time.Time{}
	}
	var err error
	if s.Payload, err = tx.Payloads().Of(first); err != nil {
		return nil, err
	}
	slices.SortFunc(jobs, func(a, b *row.Job) int { return a.Index - b.Index })
	for _, j := range jobs {
		s.retryOf = append(s.retryOf, j.ID)
		if j.Array != 0 {
			s.Indexes = append(s.Indexes, j.Index)
			s.Each = append(s.Each, Element{j.Command, j.Line})
		}
	}
	return &s, nil
}
