package main

import (
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/jobref"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func jobVerb() *verb {
	return &verb{
		Name:     "job",
		Category: "Queue",
		Usage:    "what waits, what runs, and what has run",
		Example:  "placectl job list",
		Verbs: []*verb{
			{Name: "list", Usage: "jobs that have not ended", Access: verbs.Reads, Run: (*runner).jobList,
				Flags: []cli.Flag{
					&cli.BoolFlag{Name: "all", Usage: "those that have ended, too"},
					&cli.StringFlag{Name: "state", Usage: "only those in a `STATE`"},
					&cli.StringFlag{Name: "user", Usage: "only those of a `USER`"},
				},
				Example: "placectl job list --user ann"},
			{Name: "show", Usage: "one job", Args: []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob}}, Flags: showFlags(), Access: verbs.Reads, InTx: (*runner).jobShow,
				Example: "placectl job show 12"},
			jobThrottleVerb(),
		},
	}
}

func showVerb() *verb {
	return &verb{
		Name:     "show",
		Category: "Placing",
		Usage:    "one job",
		Args:     []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob}},
		Flags:    showFlags(),
		Access:   verbs.Reads,
		Example:  "placectl show 12",
		InTx:     (*runner).jobShow,
	}
}

func showFlags() []cli.Flag {
	return []cli.Flag{&cli.BoolFlag{Name: "env", Usage: "the environment that it was submitted with, too"}}
}

// The columns of the jobs table, and what job show has besides.
const (
	jobListColumns = "job name user account* queue class* state priority* select place walltime submit* begin* start end nodes reservation* reason expected array* index*"
	jobShowColumns = " path policy set key exec_vnode devices bind pools deadline after command exit attempt attempts directory script script_size out err out_mode umask interpreter compat owner submit_host retries retry_on retry_wait signal grace mail mail_to"
)

func (r *runner) jobList(c *cli.Context) error {
	states, err := jobStates(c)
	if err != nil {
		return err
	}
	return r.view(func(tx *store.Tx) error {
		look, err := tx.Outlook()
		if err != nil {
			return err
		}
		p := r.jobs(tx, false, jobListColumns+" devices*")
		p.Look = look
		err = tx.EachJob(func(job *store.Job) error {
			if user := c.String("user"); user != "" && job.User != user {
				return nil
			}
			return p.Print(job)
		}, states...)
		if err != nil {
			return err
		}
		return p.Close()
	})
}

// jobStates is which states --state and --all ask for; none means all.
func jobStates(c *cli.Context) ([]store.JobState, error) {
	word := strings.ToLower(c.String("state"))
	switch {
	case c.Bool("all"):
		return nil, nil
	case word == "":
		return liveStates(), nil
	}
	var names []string
	for _, s := range store.JobStates() {
		if s.String() == word {
			return []store.JobState{s}, nil
		}
		names = append(names, s.String())
	}
	return nil, usagef("--state: %w", spell.NotOneOf(word, names))
}

// liveStates are the states of jobs that have not ended.
func liveStates() (states []store.JobState) {
	for _, s := range store.JobStates() {
		if s.Live() {
			states = append(states, s)
		}
	}
	return states
}

func (r *runner) jobShow(tx *store.Tx, c *cli.Context) error {
	id, err := jobref.One(tx, c.Args().First())
	if err != nil {
		return err
	}
	job, err := tx.Job(id)
	if err != nil {
		return err
	}
	look, err := tx.Outlook()
	if err != nil {
		return err
	}
	// There is room for why it waits, and from when on.
	columns := strings.ReplaceAll(jobListColumns, "*", "") + jobShowColumns
	if c.Bool("env") {
		columns += " env"
	}
	p := r.jobs(tx, true, columns)
	p.Look = look
	p.Print(job)
	return p.Close()
}

// eachJobNamed calls fn for every job that the arguments name, each once, and says
// whether one word has named several: an array, or a range.
func eachJobNamed(tx *store.Tx, c *cli.Context, fn func(j *store.Job, several bool) error) error {
	seen := make(map[uint64]bool)
	for _, word := range c.Args().Slice() {
		ids, err := jobref.Named(tx, word)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if seen[id] {
				continue
			}
			seen[id] = true
			j, err := tx.Job(id)
			if err != nil {
				return err
			}
			if err := fn(j, len(ids) > 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// changeJobs changes every job that the arguments name, in one transaction, and
// prints what they are then. Of an array, or a range, those that have ended are passed
// over: the others are what is left of it.
func (r *runner) changeJobs(c *cli.Context, change func(*store.Tx, uint64) (*store.Job, error)) error {
	return r.update(c, func(tx *store.Tx) error {
		p := r.jobs(tx, false, "job state start end nodes reason*")
		err := eachJobNamed(tx, c, func(j *store.Job, several bool) error {
			if several && !j.State.Live() {
				return nil
			}
			was := j.Ending
			j, err := change(tx, j.ID)
			if err != nil {
				return err
			}
			if j.Ending && !was {
				r.notef("job %d is ending: it keeps its nodes until what is executed there has ended", j.ID)
			}
			return p.Print(j)
		})
		if err != nil {
			return err
		}
		return p.Close()
	})
}
