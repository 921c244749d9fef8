package queue

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Hold declares the verb hold.
func Hold() *session.Verb {
	return &session.Verb{
		Name:     "hold",
		Category: "Queue",
		Usage:    "keep waiting jobs from starting",
		May:      engine.Anybody,
		Args:     []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Many: true}},
		Description: "The jobs lose their planned starts. You cannot hold running jobs: requeue them. Of an array, a " +
			"range or a name, the waiting jobs are held.",
		Flags:   []cli.Flag{&cli.StringFlag{Name: "reason", Usage: "reason to record, `WHY`"}},
		Access:  verbs.Writes,
		Brief:   true,
		Example: "placectl hold 12 '13[0-4]'",
		Run: func(r *session.Run, c *cli.Context) error {
			return r.Update(c, func(tx *engine.Tx) error {
				waits := func(j *engine.Job) bool {
					return j.Queued && (j.State == engine.JobQueued || j.State == engine.JobReserved)
				}
				jobs, over, err := liveNamed(r.SeveralNames(tx), c.Args().Slice(), waits)
				if err != nil {
					return err
				}
				if len(jobs) == 0 {
					return allEnded(c)
				}
				noteRunning(r, over)
				return changeEach(r, tx, jobs, func(tx *engine.Tx, id uint64) (*engine.Job, error) {
					return tx.Jobs().Hold(id, c.String("reason"))
				})
			})
		},
	}
}

// allEnded is the failure of a verb for waiting jobs whose words name none that lives.
func allEnded(c *cli.Context) error {
	return &engine.Conflict{What: strings.Join(c.Args().Slice(), " "), Why: "all its jobs have ended"}
}

// noteRunning names those of several jobs that hold leaves alone because they run.
func noteRunning(r *session.Run, jobs []*engine.Job) {
	var ids []uint64
	for _, j := range jobs {
		if j.State == engine.JobRunning {
			ids = append(ids, j.ID)
		}
	}
	if len(ids) > 0 {
		r.Notef("%s running, not held: %s", text.Plural(len(ids), "job"), text.Ranges(ids))
	}
}

// Unhold declares the verb unhold.
func Unhold() *session.Verb {
	return &session.Verb{
		Name:     "unhold",
		Category: "Queue",
		Usage:    "release held jobs to wait for their turn",
		May:      engine.Anybody,
		Args:     []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Many: true}},
		Access:   verbs.Writes,
		Brief:    true,
		Description: "If your job is held as not signed, in a database that others may write, this signs it. First " +
			"look with\n" +
			"placectl show at what it executes.",
		Example: "placectl unhold 12",
		Run: func(r *session.Run, c *cli.Context) error {
			return r.Update(c, func(tx *engine.Tx) error {
				held := func(j *engine.Job) bool { return j.State == engine.JobHeld }
				jobs, _, err := liveNamed(r.SeveralNames(tx), c.Args().Slice(), held)
				if err != nil {
					return err
				}
				if len(jobs) == 0 {
					return allEnded(c)
				}
				return changeEach(r, tx, jobs, func(tx *engine.Tx, id uint64) (*engine.Job, error) {
					return UnholdJob(r, tx, id)
				})
			})
		},
	}
}

func jobThrottleVerb() *session.Verb {
	return &session.Verb{
		Name:  "throttle",
		Usage: "limit how many jobs of an array run at once",
		May:   engine.Anybody,
		Args:  []verbs.Arg{{Name: "ARRAY", Kind: verbs.KindJob}, {Name: "N"}},
		Description: "Like --array 100%10 of placectl submit, but later. Running jobs go on. With 0 no more start; " +
			"with none any\n" +
			"number may run again.",
		Access:  verbs.Writes,
		Brief:   true,
		Example: "placectl job throttle 12 5",
		Run:     jobThrottle,
	}
}

func jobThrottle(r *session.Run, c *cli.Context) error {
	most := int64(-1)
	if word := c.Args().Get(1); word != "none" {
		var err error
		if most, err = session.WholeAmount(word); err != nil {
			return usage.Errorf("%w, or none", err)
		}
	}
	return r.Update(c, func(tx *engine.Tx) error {
		array, err := r.Names(tx).Array(c.Args().First())
		if err != nil {
			return err
		}
		if err := tx.Limits().Throttle(array, most); err != nil {
			return err
		}
		jobs, err := tx.Jobs().Array(array)
		if err != nil {
			return err
		}
		return printChanged(r, tx, slices.DeleteFunc(jobs, func(j *engine.Job) bool { return !j.State.Live() }))
	})
}

// UnholdJob releases a held job. If the job is this user's, UnholdJob also signs what it executes.
func UnholdJob(r *session.Run, tx *engine.Tx, id uint64) (*engine.Job, error) {
	was, err := tx.Jobs().Get(id)
	if err != nil {
		return nil, err
	}
	if why, _, err := r.Unverified(tx, was); err != nil {
		return nil, err
	} else if why != "" {
		r.Warnf("unsigned", "job %d will be held again: %s", id, why)
	}
	j, err := tx.Jobs().Unhold(id)
	if err != nil || engine.Others(r.DB) == "" {
		return j, err
	}
	signed, signature, err := tx.Jobs().Signed(id)
	mine, errMine := r.Dispatched("", os.Getuid()).Mine(tx, j)
	if err = errors.Join(err, errMine); err != nil || !mine || r.Verify(signed, signature) {
		return j, err
	}
	if err := tx.Jobs().Sign(id, r.Sign); err != nil {
		return nil, err
	}
	r.Notef("job %d was not signed by you, and is now: placectl show %d shows its command", id, id)
	return tx.Jobs().Get(id)
}
