package tables

import (
	"cmp"

	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/query/values"
)

// jobCursor iterates over jobs. It reads a row only as far as the columns need.
type jobCursor struct {
	t    *jobs
	rows chosen
	view row.JobView
	use  *jobUse // of the current job, once needed
	err  error
}

func (r *jobCursor) Next() bool {
	if r.err != nil {
		return false
	}
	var ok bool
	if ok, r.err = r.rows.next(jobKey, "job"); !ok {
		return false
	}
	r.use, r.err = nil, r.view.Open(r.rows.Key, r.rows.Payload)
	return r.err == nil
}

func jobKey(number uint32) []byte { return row.Key64(uint64(number)) }

func (r *jobCursor) Err() error {
	if r.err != nil {
		return r.err
	}
	return r.rows.Err
}

func (r *jobCursor) Column(i int) values.Value { return r.t.columns[i].get(r) }

// wait returns how long the job has waited, or NULL for one that was placed, or cancelled
// without a start.
func (r *jobCursor) wait() values.Value {
	submit, start := r.view.Submit(), r.view.Start()
	switch s := r.view.State(); {
	case submit <= 0:
		return values.Value{}
	case s == row.JobRunning || s == row.JobFinished || s == row.JobFailed:
		if start <= 0 {
			return values.Value{}
		}
	case s == row.JobCancelled:
		return values.Value{}
	default:
		start = max(r.t.c.src.Now, submit)
	}
	return values.Int(max(start-submit, 0))
}

// slowdown counts a run of less than a second as one second.
func (r *jobCursor) slowdown() values.Value {
	submit, start, end := r.view.Submit(), r.view.Start(), r.view.End()
	if s := r.view.State(); s != row.JobFinished && s != row.JobFailed || submit <= 0 || start <= 0 || end < start {
		return values.Value{}
	}
	return values.Float(float64(max(end-min(submit, start), 1)) / float64(max(end-start, 1)))
}

// ran returns the time from start to end, or to now while the job runs. It returns NULL for a
// job that has not started.
func (r *jobCursor) ran() values.Value {
	start, end := r.view.Start(), r.view.End()
	switch s := r.view.State(); {
	case start <= 0:
		return values.Value{}
	case s == row.JobRunning:
		end = r.t.c.src.Now
	case s != row.JobFinished && s != row.JobFailed && s != row.JobCancelled:
		return values.Value{}
	}
	if end < start {
		return values.Value{}
	}
	return values.Int(end - start)
}

// jobUse is what the attempts of a job used.
type jobUse struct {
	last row.ResourceUse // of the last attempt
	cpu  int64           // of all attempts, in microseconds
	mem  int64           // the most of any attempt, in bytes
}

// took reads what the attempts of the job used.
func (r *jobCursor) took() *jobUse {
	if r.use != nil {
		return r.use
	}
	r.use = new(jobUse)
	for j, n := r.job(), 1; j != nil && n <= j.CurrentAttempt(); n++ {
		a, err := r.t.c.src.Attempt(j, n)
		if r.t.c.fail(err); err != nil {
			break
		}
		r.use.last = a.Use
		r.use.cpu += a.Use.CPUUser + a.Use.CPUSystem
		r.use.mem = max(r.use.mem, cmp.Or(a.Use.MemPeak, a.Use.MaxRSS))
	}
	return r.use
}

// job reads the whole of the job.
func (r *jobCursor) job() *row.Job {
	j, err := r.view.Job()
	if err != nil && r.err == nil {
		r.err = err
	}
	return j
}

// text reads a text early in the row, and nothing after it.
func (r *jobCursor) text(t row.JobText) string {
	text, err := r.view.Text(t)
	if err != nil && r.err == nil {
		r.err = err
	}
	if len(text) == 0 {
		return ""
	}
	return r.t.c.word(text)
}
