package main

import (
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/request"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// alterable are the flags of submit that alter takes, as far as they are not those that a
// running job may have changed, too.
var alterable = append([]string{"select", "place", "queue", "class", "account", "policy", "prefer", "exclude", "access", "reservation",
	"begin", "deadline", "after", "afterok", "afternotok", "afterany", "no-requeue"}, request.OfPayload...)

// alterableRunning are those that a running job may have changed.
var alterableRunning = []string{"name", "walltime", "priority", "comment"}

func alterVerb() *verb {
	var flags []cli.Flag
	for _, f := range submitVerb().Flags {
		if name := f.Names()[0]; slices.Contains(alterable, name) || slices.Contains(alterableRunning, name) {
			flags = append(flags, f)
		}
	}
	return &verb{
		Name:     "alter",
		Category: "Queue",
		Usage:    "change what jobs ask for",
		May:      store.Anybody,
		Args:     []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Many: true}},
		Description: "The flags are those of submit, and what they do not name stays. Limits, rights and deadlines hold as at\n" +
			"submission. A job with a planned start gives it up, and is planned anew. A running job may get another name,\n" +
			"comment, priority and walltime (+30m: so much more). The directory, the environment, the output, retries and mail\n" +
			"are for the job's own user to change, whose signature they need. If one of several jobs cannot be changed, none is.",
		Flags:    slices.Concat(request.Size(), flags),
		Access:   verbs.Writes,
		Whole:    true,
		Brief:    true,
		Statuses: submitVerb().Statuses,
		Example:  "placectl alter 12 -t 4h --priority 50\nplacectl alter '40[]' --queue night --begin 22:00",
		Run:      (*runner).alter,
	}
}

func (r *runner) alter(c *cli.Context) error {
	given := slices.DeleteFunc(slices.Clone(r.inv.Flags), func(g verbs.Given) bool { return g.Name() == verbs.DryRun || g.Name() == verbs.Key })
	if len(given) == 0 {
		return usagef("say what to change, such as -t 4h")
	}
	walltime, longer := strings.CutPrefix(c.String("walltime"), "+")
	if longer {
		if err := c.Set("walltime", walltime); err != nil {
			return err
		}
	}
	var sub store.Submission
	var err error
	if sub.Request, err = request.Read(c, nil); err != nil {
		return err
	}
	if err := r.itsTurn(c, &sub); err != nil {
		return err
	}
	return r.update(c, func(tx *store.Tx) error {
		sub := sub
		if err := dependencies(tx, c, &sub); err != nil {
			return err
		}
		a, err := r.alteration(c, &sub, given)
		if err != nil {
			return err
		}
		var jobs []*store.Job
		err = eachJobNamed(tx, c.Args().Slice(), func(j *store.Job, several bool) error {
			if !several || j.State.Live() {
				jobs = append(jobs, j)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return r.changeEach(tx, jobs, func(tx *store.Tx, id uint64) (*store.Job, error) {
			a := a
			if longer {
				j, err := tx.Job(id)
				if err != nil {
					return nil, err
				}
				sum := j.Walltime + sub.Walltime
				a.Walltime = &sum
			}
			return tx.Alter(id, a)
		})
	})
}
