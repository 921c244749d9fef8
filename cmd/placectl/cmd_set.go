package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func setVerb() *verb {
	return &verb{
		Name:     "set",
		Category: "Cluster",
		Usage:    "placement sets: nodes that share a value of the group key",
		Example:  "placectl set list",
		Verbs: []*verb{
			{Name: "list", Usage: "the placement sets, in the order they are tried", Access: verbs.Reads, InTx: (*runner).setList,
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "queue", Usage: "those of a `QUEUE`'s nodes"},
					&cli.StringFlag{Name: "group-key", Usage: "by resources `R,R` rather than the configured ones"},
				},
				Example: "placectl set list\nplacectl set list --group-key rack"},
		},
	}
}

func (r *runner) setList(tx *store.Tx, c *cli.Context) error {
	sets, err := tx.PlacementSets(c.String("queue"), splitList(c.String("group-key")))
	if err != nil {
		return err
	}
	p := r.printer(output.Result{Columns: []output.Column{{Name: "set"}, {Name: "total", Kind: output.Integer}, {Name: "free", Kind: output.Integer},
		{Name: "total_ncpus", Kind: output.Integer}, {Name: "free_ncpus", Kind: output.Integer}, {Name: "total_mem", Kind: output.Size}, {Name: "free_mem", Kind: output.Size}}})
	for _, s := range sets {
		p.Row(s.Name, s.Total, s.Free, s.TotalCPUs, s.FreeCPUs, s.TotalMem*1024, s.FreeMem*1024)
	}
	return p.Close()
}
