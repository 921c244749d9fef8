package main

import (
	"strconv"

	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func releaseCommand(r *runner) *cli.Command {
	return r.verb(&cli.Command{
		Name:      "release",
		Category:  "Placing",
		Usage:     "end running jobs and give their nodes back",
		ArgsUsage: "JOB...",
		Flags:     []cli.Flag{dryRunFlag()},
		Action:    r.release,
	}, about{Example: "placectl release 12 13", Exits: writeExits})
}

func (r *runner) release(c *cli.Context) error {
	if err := wantArgs(c, 1, -1); err != nil {
		return err
	}
	ids, err := jobIDs(c)
	if err != nil {
		return err
	}
	var jobs []*store.Job
	var nodes [][]string
	err = r.update(c, func(tx *store.Tx) error {
		for _, id := range ids {
			job, err := tx.Release(id)
			if err != nil {
				return err
			}
			names, err := tx.NodeNames(job.AllNodes())
			if err != nil {
				return err
			}
			jobs, nodes = append(jobs, job), append(nodes, names)
		}
		return nil
	})
	if err != nil {
		return err
	}
	p := r.printer(result{Columns: []column{{Name: "job"}, {Name: "state"}, {Name: "start", Kind: when}, {Name: "end", Kind: when},
		{Name: "nodes", Kind: list, Nodes: true}}})
	for i, job := range jobs {
		p.row(strconv.FormatUint(job.ID, 10), job.State.String(), job.Start, job.End, nodes[i])
	}
	return p.close()
}

// jobIDs reads job numbers, each once.
func jobIDs(c *cli.Context) ([]uint64, error) {
	seen := make(map[uint64]bool)
	var ids []uint64
	for _, arg := range c.Args().Slice() {
		id, err := strconv.ParseUint(arg, 10, 64)
		if err != nil || id == 0 {
			return nil, usagef(verbName(c), "%q is not a job number", arg)
		}
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids, nil
}
