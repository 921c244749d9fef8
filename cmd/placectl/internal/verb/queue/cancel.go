package queue

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
)

// Cancel declares the verb cancel.
func Cancel() *session.Verb {
	return &session.Verb{
		Name:     "cancel",
		Category: "Queue",
		Usage:    "end waiting or running jobs",
		May:      engine.Anybody,
		Args:     []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Optional: true, Many: true}},
		Description: "Waiting jobs leave the queue, and running ones free their nodes. Without JOB, --user, --name " +
			"and --all select\n" +
			"jobs that have not ended; no error if none match.\n\n" +
			"The next cycle tells the launchers of running jobs to stop them. " + endsFirst,
		Flags: []cli.Flag{&cli.StringFlag{Name: "reason", Usage: "reason to record, `WHY`"}, immediatelyFlag(),
			&cli.StringFlag{Name: "user", Usage: "all jobs of `USER`"},
			&cli.StringFlag{Name: "name", Usage: "all your jobs named `NAME` (with --user, that user's)"},
			&cli.BoolFlag{Name: "all", Usage: "all your jobs"},
			&cli.BoolFlag{Name: "waiting",
				Usage: "only jobs that have not started; if you name a started one, it is a conflict"}},
		Exclusive: []string{"user all", "name all"},
		Access:    verbs.Writes,
		Brief:     true,
		Example:   "placectl cancel 12\nplacectl cancel 40\nplacectl cancel --name train --waiting",
		Run:       cancel,
	}
}

func cancel(r *session.Run, c *cli.Context) error {
	chosen := c.IsSet("user") || c.IsSet("name") || c.Bool("all")
	switch named := c.Args().Present(); {
	case named && chosen:
		return usage.Errorf("name jobs, or select them with --user, --name or --all, not both")
	case !named && !chosen:
		return usage.Errorf("name the jobs to cancel, or select them with --user, --name or --all")
	}
	change := atOnce(c, func(tx *engine.Tx, id uint64) (*engine.Job, error) {
		return tx.Jobs().Cancel(id, c.String("reason"))
	})
	if c.Bool("waiting") {
		whatever := change
		change = func(tx *engine.Tx, id uint64) (*engine.Job, error) {
			j, err := tx.Jobs().Get(id)
			if err == nil && j.State == engine.JobRunning {
				err = &engine.Conflict{What: "job " + strconv.FormatUint(id, 10), Why: "it has started"}
			}
			if err != nil {
				return nil, err
			}
			return whatever(tx, id)
		}
	}
	return r.Update(c, func(tx *engine.Tx) error {
		if !chosen {
			jobs, _, err := liveNamed(r.SeveralNames(tx), c.Args().Slice(), anyJob)
			if err != nil {
				return err
			}
			return changeEach(r, tx, jobs, change)
		}
		jobs, err := choose(r, tx, c)
		if err != nil {
			return err
		}
		if len(jobs) == 0 {
			r.Notef("no job to cancel")
		}
		return changeEach(r, tx, jobs, change)
	})
}

// choose finds the jobs that have not ended and that --user, --name, --all and --waiting select.
// Without --user they are those of the calling user.
func choose(r *session.Run, tx *engine.Tx, c *cli.Context) (jobs []*engine.Job, err error) {
	user := cmp.Or(c.String("user"), r.Self())
	states := session.LiveStates()
	if c.Bool("waiting") {
		states = slices.DeleteFunc(states, func(s engine.JobState) bool { return s == engine.JobRunning })
	}
	err = tx.Jobs().Each(func(j *engine.Job) error {
		if j.User == user && (!c.IsSet("name") || j.Name == c.String("name")) {
			jobs = append(jobs, j)
		}
		return nil
	}, states...)
	slices.SortFunc(jobs, func(a, b *engine.Job) int { return cmp.Compare(a.ID, b.ID) })
	return jobs, err
}

// Requeue declares the verb requeue.
func Requeue() *session.Verb {
	return &session.Verb{
		Name:        "requeue",
		Category:    "Queue",
		Usage:       "stop running jobs and queue them again",
		May:         engine.Anybody,
		Args:        []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Many: true}},
		Description: "Only for submitted jobs. The next cycle tells their launchers to stop them. " + endsFirst,
		Flags: []cli.Flag{&cli.StringFlag{Name: "reason", Usage: "reason to record, `WHY`"}, immediatelyFlag(),
			&cli.BoolFlag{Name: "hold", Usage: "hold the jobs until placectl unhold"}},
		Access:  verbs.Writes,
		Brief:   true,
		Example: "placectl requeue 12 --reason 'node n3 went down'",
		Run: func(r *session.Run, c *cli.Context) error {
			return changeJobs(r, c, atOnce(c, func(tx *engine.Tx, id uint64) (*engine.Job, error) {
				if c.Bool("hold") {
					return tx.Jobs().RequeueHeld(id, c.String("reason"))
				}
				return tx.Jobs().Requeue(id, c.String("reason"))
			}))
		},
	}
}

// Release declares the verb release.
func Release() *session.Verb {
	return &session.Verb{
		Name:        "release",
		Category:    "Placing",
		Usage:       "end running jobs and free their nodes",
		May:         engine.Anybody,
		Args:        []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Many: true}},
		Description: endsFirst,
		Flags:       []cli.Flag{immediatelyFlag()},
		Access:      verbs.Writes,
		Brief:       true,
		Example:     "placectl release 12 13",
		Run:         release,
	}
}

func release(r *session.Run, c *cli.Context) error {
	return changeJobs(r, c, atOnce(c, func(tx *engine.Tx, id uint64) (*engine.Job, error) {
		return tx.Jobs().Release(id)
	}))
}

// endsFirst is help for verbs that stop jobs: a command that is executed here ends in its own time.
const endsFirst = "If a keeper or run executes a job, it is ending first: it keeps its nodes until its command " +
	"ends or its\n" +
	"grace is over."

// immediatelyFlag returns --immediately for the verbs that take jobs off their nodes.
func immediatelyFlag() cli.Flag {
	return &cli.BoolFlag{Name: "immediately", Usage: "free the nodes at once, whatever still runs there"}
}

// atOnce makes a job give its nodes back without waiting for its command if --immediately is set.
func atOnce(c *cli.Context, change func(*engine.Tx, uint64) (*engine.Job, error)) func(*engine.Tx, uint64) (*engine.Job,
	error) {
	if !c.Bool("immediately") {
		return change
	}
	return func(tx *engine.Tx, id uint64) (*engine.Job, error) {
		j, err := change(tx, id)
		if err == nil && j.Ending {
			return tx.Attempts().GiveBack(id)
		}
		return j, err
	}
}
