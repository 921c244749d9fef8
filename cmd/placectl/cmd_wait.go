package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func waitVerb() *verb {
	return &verb{
		Name:     "wait",
		Category: "Queue",
		Usage:    "wait until jobs have ended, or started",
		May:      store.Anybody,
		Args:     []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Optional: true, Many: true}},
		Description: "Without JOB it waits for all of your jobs that have not ended when it begins.\n" +
			"Nothing is locked meanwhile. The exit status is 0 when all have ended well (or started), 1 when one has\n" +
			"failed, was cancelled, or ended without having started, and 3 when the time was over first.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "for", Value: "ended", Usage: "wait until they have `WHAT`: started or ended"},
			&cli.StringFlag{Name: "timeout", Aliases: []string{"wait"}, Usage: "for no longer than `D`"},
		},
		Access:   verbs.Reads,
		Revives:  true,
		Alone:    true,
		Statuses: []int{exit.NotNow},
		Example:  "placectl wait $job && ./use-the-results\nplacectl wait '40[]' --for started --timeout 1h",
		Run:      (*runner).waitVerb,
	}
}

func (r *runner) waitVerb(c *cli.Context) error {
	started := c.String("for") == "started"
	if !started && c.String("for") != "ended" {
		return usagef("--for: %w", text.NotOneOf(c.String("for"), []string{"started", "ended"}))
	}
	deadline := time.Time{}
	if c.IsSet("timeout") {
		d, err := r.duration(c, "timeout")
		if err != nil {
			return err
		}
		deadline = r.env.now().Add(d)
	}
	words := c.Args().Slice()
	if len(words) == 0 {
		if err := r.view(func(tx *store.Tx) error {
			jobs, err := r.choose(tx, c)
			for _, j := range jobs {
				words = append(words, strconv.FormatUint(j.ID, 10))
			}
			if len(jobs) == 0 && err == nil {
				r.notef("no job to wait for")
			}
			return err
		}); err != nil {
			return err
		}
	}
	for {
		seen := r.fileStamp()
		jobs, next, err := r.waitedFor(words, started)
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(slices.Clone(jobs), func(j *store.Job) bool { return reached(j, started) })
		if len(left) == 0 {
			return r.waitResult(jobs)
		}
		if !deadline.IsZero() && !r.env.now().Before(deadline) {
			err := fmt.Errorf("%w: %d of %s, job %d the first, which is %s", exit.ErrNotYet, len(left), text.Plural(len(jobs), "job"), left[0].ID, left[0].State)
			if !r.audience().Document {
				return err
			}
			return r.failing("jobs", err, func() error { return r.printWaited(jobs) })
		}
		end := deadline
		if end.IsZero() {
			end = r.env.now().Add(time.Hour)
		}
		for more := true; more; { // as long as the last of them waits there is no need to read all
			if err := r.waitForChange(seen, end, next); err != nil {
				return err
			}
			seen = r.fileStamp()
			more = !started && r.env.now().Before(end) && r.goesOn(left[len(left)-1].ID)
		}
	}
}

// goesOn reports whether a job is there, and has not ended.
func (r *runner) goesOn(id uint64) (is bool) {
	err := r.view(func(tx *store.Tx) error {
		j, err := tx.Job(id)
		is = err == nil && j.State.Live()
		return err
	})
	return is && err == nil
}

// reached reports whether a job has come as far as it is waited for.
func reached(j *store.Job, started bool) bool {
	return !j.State.Live() || started && j.State == store.JobRunning
}

// waitedFor finds the jobs as they are now, and when the clock will next start one.
func (r *runner) waitedFor(words []string, started bool) (jobs []*store.Job, next time.Time, err error) {
	err = r.view(func(tx *store.Tx) error {
		return eachJobNamed(tx, words, func(j *store.Job, _ bool) error {
			jobs = append(jobs, j)
			if started && j.State == store.JobReserved && (next.IsZero() || j.Start.Before(next)) {
				next = j.Start
			}
			return nil
		})
	})
	return jobs, next, err
}

// waitResult prints how the jobs came out, and fails when one came out badly.
func (r *runner) waitResult(jobs []*store.Job) error {
	bad := 0
	for _, j := range jobs {
		if j.State == store.JobFailed || j.State == store.JobCancelled {
			bad++
		}
	}
	var err error
	if bad > 0 {
		were := "were"
		if len(jobs) == 1 {
			were = "was"
		}
		err = fmt.Errorf("%d of %s failed or %s cancelled", bad, text.Plural(len(jobs), "job"), were)
	}
	return r.failing("jobs", err, func() error { return r.printWaited(jobs) })
}

// printWaited prints jobs that were waited for.
func (r *runner) printWaited(jobs []*store.Job) error {
	p := r.jobs(nil, false, "job state start end reason exit* reason_code* array* index*")
	for _, j := range jobs {
		p.Print(j)
	}
	return p.Close()
}

// pollInterval is how often waiting looks whether the file has changed. It holds
// no lock meanwhile.
const pollInterval = 200 * time.Millisecond

// keepTrying tries, for as long as patience lasts, until the answer is not "not
// now": again when the file has changed, and when the time has come that the
// refusal named. Patience is measured by the clock, whatever --now says.
func (r *runner) keepTrying(patience time.Duration, try func() error) error {
	if patience > 0 && r.tx != nil {
		return usage.Of("tx", "--wait cannot be part of a transaction")
	}
	if patience == 0 {
		return try()
	}
	deadline := r.env.now().Add(patience)
	for {
		seen := r.fileStamp()
		err := try()
		if !errors.Is(err, placer.ErrNotNow) {
			return err
		}
		if waited := r.waitForChange(seen, deadline, earliestOf(err)); waited != nil {
			return errors.Join(waited, err)
		}
		if !r.env.now().Before(deadline) {
			return err
		}
	}
}

// earliestOf is when a refused request could start, zero when that is not known.
func earliestOf(err error) time.Time {
	var refused interface{ Earliest() (int64, bool) }
	if errors.As(err, &refused) {
		if at, ok := refused.Earliest(); ok {
			return time.Unix(at, 0)
		}
	}
	return time.Time{}
}

// waitForChange sleeps until the file is not as it was seen, the deadline, or
// the time that was named. It fails when the run is interrupted.
func (r *runner) waitForChange(seen fileStamp, deadline, named time.Time) error {
	ticks := time.NewTicker(pollInterval)
	defer ticks.Stop()
	var changed <-chan struct{}
	if store.IsLog(r.DB) {
		changed = r.inLogs.Changed()
	}
	for {
		if !r.env.now().Before(deadline) || !named.IsZero() && !r.now().Before(named) || r.fileStamp() != seen {
			return nil
		}
		select {
		case <-r.ctx.Done():
			return r.ctx.Err()
		case <-ticks.C:
		case <-changed:
		}
	}
}

// waitForFile sleeps until the file is not as it was seen. It fails when the run is
// interrupted.
func (r *runner) waitForFile(seen fileStamp) error {
	for r.fileStamp() == seen {
		if err := r.waitForChange(seen, r.env.now().Add(time.Hour), time.Time{}); err != nil {
			return err
		}
	}
	return r.ctx.Err()
}

// fileStamp tells states of the database apart. The time of the last change of the file would not
// do: the kernel's clock may stand still between two commits.
type fileStamp struct {
	file store.FileState
	log  int64 // of a database in a log
}

// fileStamp is the state of the database now, the zero stamp if there is none. Commands that wait
// for a change ask for it over and over: then the attendant that they wait for is replaced if it
// was killed.
func (r *runner) fileStamp() (s fileStamp) {
	r.leaveAgain()
	if store.IsLog(r.DB) {
		return fileStamp{log: r.logStamp()}
	}
	s.file, _ = store.StateOfFile(r.DB) //nolint:errcheck // there is none
	return s
}
