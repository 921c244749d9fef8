package queue

import (
	"errors"
	"fmt"

	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
)

// badly are the jobs, by number, that have not ended well.
type badly map[uint64]bool

// hasFailed reports whether a job has ended, and not with success.
func hasFailed(j *engine.Job) bool {
	return j.State == engine.JobFailed || j.State == engine.JobCancelled
}

// judged returns which of some jobs have not ended well, given in the order of their numbers. If they are all jobs of
// a night rather than some that were named, one that turned out not to be needed is none of them: an alarm whose
// --afternotok never came, and what waits for that.
func judged(r *session.Run, jobs []*engine.Job, all bool) (bad badly, err error) {
	err = r.View(func(tx *engine.Tx) error {
		spared := make(map[uint64]bool)
		bad = badly{}
		for _, j := range jobs {
			if !hasFailed(j) {
				continue
			}
			if all && j.State == engine.JobCancelled && j.Reason.Cause.String() == "dependency" {
				needless, err := isNeedless(tx, j, spared)
				if err != nil {
					return err
				}
				if needless {
					spared[j.ID] = true
					continue
				}
			}
			bad[j.ID] = true
		}
		return nil
	})
	return bad, err
}

// isNeedless reports whether a job was cancelled only because jobs that it was to follow if they fail have ended well,
// or were spared in the same way.
func isNeedless(tx *engine.Tx, j *engine.Job, spared map[uint64]bool) (is bool, err error) {
	for _, d := range j.After {
		jobs, err := tx.Jobs().JobOrArray(d.Job)
		if errors.Is(err, engine.ErrNotFound) {
			continue
		}
		if err != nil {
			return false, err
		}
		failed, excused := 0, 0
		for _, other := range jobs {
			switch {
			case spared[other.ID]:
				excused++
			case hasFailed(other):
				failed++
			}
		}
		switch d.When {
		case engine.AfterNotOK:
			is = is || failed == 0 && excused == 0
		case engine.AfterOK, engine.After:
			if failed > 0 {
				return false, nil
			}
			is = is || excused > 0
		}
	}
	return is, nil
}

// err says how many of some jobs have not ended well, nil for none.
func (b badly) err(jobs []*engine.Job) error {
	if len(b) == 0 {
		return nil
	}
	were := "were"
	if len(jobs) == 1 {
		were = "was"
	}
	return fmt.Errorf("%d of %s failed or %s cancelled", len(b), text.Plural(len(jobs), "job"), were)
}

// each returns those of some jobs that have not ended well, each alone.
func (b badly) each(jobs []*engine.Job) (list []fate) {
	for _, j := range jobs {
		if b[j.ID] {
			list = append(list, fate{j})
		}
	}
	return list
}
