package engine

import (
	"github.com/placectl/placectl/internal/row"
)

// metIn reports, from all rows, whether a dependency on a job or an array is met.
func metIn(jobs map[uint64]*row.Job, d Dependency) bool {
	started, ended, failed, skipped := true, true, false, false
	for _, j := range elementsIn(jobs, d.Job) {
		over := j.State == JobFinished || j.State == JobFailed || j.State == JobCancelled
		began := j.State == JobRunning || over && j.Start != 0 && j.Start <= j.End
		started, ended = started && began, ended && over
		skipped, failed = skipped || over && !began, failed || j.State == JobFailed || j.State == JobCancelled
	}
	switch d.When {
	case After:
		return started && !skipped
	case AfterOK:
		return ended && !failed
	case AfterNotOK:
		return ended && failed
	}
	return ended
}

// elementsIn returns a job, or the jobs of an array.
func elementsIn(jobs map[uint64]*row.Job, number uint64) (list []*row.Job) {
	for id, j := range jobs {
		if id == number || j.Array == number {
			list = append(list, j)
		}
	}
	return list
}

// startsIn sums the starts of a job or an array's jobs.
func startsIn(jobs map[uint64]*row.Job, number uint64) (sum int64) {
	for _, j := range elementsIn(jobs, number) {
		sum += j.Start
	}
	return sum
}

// lastIn returns the highest number of a job.
func lastIn(jobs map[uint64]*row.Job) (last uint64) {
	for id := range jobs {
		last = max(last, id)
	}
	return last
}
