package main

import (
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
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
			{Name: "list", Usage: "jobs that have not ended", Access: reads, Run: (*runner).jobList,
				Flags: []cli.Flag{
					&cli.BoolFlag{Name: "all", Usage: "those that have ended, too"},
					&cli.StringFlag{Name: "state", Usage: "only those in a `STATE`"},
					&cli.StringFlag{Name: "user", Usage: "only those of a `USER`"},
				},
				Example: "placectl job list --user ann"},
			{Name: "show", Usage: "one job", Args: []arg{{Name: "JOB", Kind: kindJob}}, Access: reads, Run: (*runner).jobShow,
				Example: "placectl job show 12"},
		},
	}
}

func showVerb() *verb {
	return &verb{
		Name:     "show",
		Category: "Placing",
		Usage:    "one job",
		Args:     []arg{{Name: "JOB", Kind: kindJob}},
		Access:   reads,
		Example:  "placectl show 12",
		Run:      (*runner).jobShow,
	}
}

// jobColumns are those of the jobs table.
func jobColumns() []output.Column {
	return []output.Column{{Name: "job"}, {Name: "name"}, {Name: "user"}, {Name: "account", Detail: true}, {Name: "queue"},
		{Name: "class", Detail: true}, {Name: "state"}, {Name: "priority", Kind: output.Integer, Detail: true}, {Name: "select"}, {Name: "place"},
		{Name: "walltime", Kind: output.Duration}, {Name: "submit", Kind: output.Time, Detail: true}, {Name: "begin", Kind: output.Time, Detail: true},
		{Name: "start", Kind: output.Time}, {Name: "end", Kind: output.Time}, {Name: "nodes", Kind: output.List, Nodes: true},
		{Name: "reservation", Detail: true}, {Name: "reason", Kind: output.Prose}, {Name: "expected", Kind: output.Time}, {Name: "array", Detail: true}, {Name: "index", Kind: output.Integer, Detail: true}}
}

func jobRow(tx *store.Tx, look *store.Outlook, job *store.Job) ([]any, error) {
	nodes, err := tx.NodeNames(job.AllNodes())
	if err != nil {
		return nil, err
	}
	p, err := look.Prospect(job)
	return []any{strconv.FormatUint(job.ID, 10), orNil(job.Name), orNil(job.User), orNil(job.Account), orNil(job.Queue), orNil(job.Class),
		job.State.String(), job.Priority, job.Select, job.Place, job.Walltime, job.Submit, instant(job.Begin), instant(job.Start), instant(job.End),
		nodes, orNil(job.Reservation), orNil(p.Reason), instant(p.Start), arrayID(job), arrayIndex(job)}, err
}

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
		p := r.printer(output.Result{Columns: jobColumns()})
		err = tx.EachJob(func(job *store.Job) error {
			if user := c.String("user"); user != "" && job.User != user {
				return nil
			}
			row, err := jobRow(tx, look, job)
			if err != nil {
				return err
			}
			return p.Row(row...)
		}, states...)
		if err != nil {
			return err
		}
		return p.Close()
	})
}

// jobStates is which states --state and --all ask for; none means all.
func jobStates(c *cli.Context) ([]store.JobState, error) {
	if c.Bool("all") {
		return nil, nil
	}
	word := strings.ToLower(c.String("state"))
	var live []store.JobState
	var names []string
	for s := store.JobHeld; s <= store.JobCancelled; s++ {
		names = append(names, s.String())
		if s.String() == word {
			return []store.JobState{s}, nil
		}
		if s.Live() {
			live = append(live, s)
		}
	}
	if word != "" {
		return nil, usagef(verbName(c), "--state: %w", spell.NotOneOf(word, names))
	}
	return live, nil
}

func (r *runner) jobShow(c *cli.Context) error {
	return r.view(func(tx *store.Tx) error {
		id, err := theJob(tx, c, c.Args().First())
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
		row, err := jobRow(tx, look, job)
		if err != nil {
			return err
		}
		vnodes, err := tx.ExecVNode(job)
		if err != nil {
			return err
		}
		columns := append(jobColumns(), output.Column{Name: "path"}, output.Column{Name: "policy"}, output.Column{Name: "set"}, output.Column{Name: "key"}, output.Column{Name: "exec_vnode"},
			output.Column{Name: "deadline", Kind: output.Time}, output.Column{Name: "after", Kind: output.List}, output.Column{Name: "command", Kind: output.Words}, output.Column{Name: "exit", Kind: output.Integer})
		for i := range columns {
			columns[i].Detail = false // there is room for why it waits, and from when on
		}
		p := r.printer(output.Result{Record: true, Columns: columns})
		p.Row(append(row, orNil(string(job.Path)), orNil(job.Policy), orNil(job.Set), orNil(job.Key), orNil(vnodes),
			instant(job.Deadline), dependenciesOf(job), job.Command, exitOf(job))...)
		return p.Close()
	})
}

// dependenciesOf lists what a job depends on: afterok:12.
func dependenciesOf(job *store.Job) []string {
	var out []string
	for _, d := range job.After {
		out = append(out, d.String())
	}
	return out
}

// exitOf is a job's exit status, nil before it has one.
func exitOf(job *store.Job) any {
	if job.State != store.JobFinished && job.State != store.JobFailed {
		return nil
	}
	return job.Exit
}
