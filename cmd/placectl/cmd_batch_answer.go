package main

import (
	"strconv"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// batchAnswerVerb makes one of the verbs done and fail.
func batchAnswerVerb(name, usage string, answer func(*store.Tx, string, string, []int) ([]locality.Report, error)) *verb {
	return &verb{
		Name:  name,
		Usage: usage,
		Args:  []verbs.Arg{{Name: "NAME", Kind: verbs.KindBatch}, {Name: "JOB", Many: true}},
		Description: "All of them, or none. Status 7: the host does not hold a job, because its lease has expired or because it\n" +
			"has reported it before; the message says which. Nothing of what others have done is changed.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "host", Required: true, Usage: "the host that reports, `H`"},
		},
		Access:  verbs.Writes,
		Example: "placectl batch " + name + " night-12 17 18 --host $(hostname)",
		Run: func(r *runner, c *cli.Context) error {
			jobs, err := batchJobs(c)
			if err != nil {
				return err
			}
			return r.update(c, func(tx *store.Tx) error {
				reports, err := answer(tx, c.Args().First(), c.String("host"), jobs)
				if err != nil {
					return err
				}
				return r.printReports(reports)
			})
		},
	}
}

// batchJobs reads the numbers of jobs of a batch, each once.
func batchJobs(c *cli.Context) ([]int, error) {
	seen := make(map[int]bool)
	var jobs []int
	for _, arg := range c.Args().Slice()[1:] {
		n, err := strconv.Atoi(arg)
		if err != nil || n < 0 {
			return nil, usagef("%s is not the number of a job", spell.Quoted(arg))
		}
		if !seen[n] {
			seen[n] = true
			jobs = append(jobs, n)
		}
	}
	return jobs, nil
}

func (r *runner) printReports(reports []locality.Report) error {
	p := r.printer(output.Result{Columns: []output.Column{{Name: "job"}, {Name: "state"}, {Name: "remaining_credit", Kind: output.Number}}})
	for _, x := range reports {
		p.Row(strconv.Itoa(x.Job), x.State, locality.Credits(x.Remaining))
	}
	return p.Close()
}
