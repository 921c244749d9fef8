package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/daily"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func statusVerb() *verb {
	return &verb{
		Name:     "status",
		Category: "Asking",
		Usage:    "one screen: nodes, what runs, what waits, what happened lately, what is wrong",
		Description: "What is to be looked at: jobs past their end, jobs that can never run or could not start when they were planned to,\n" +
			"jobs held because they failed, nodes that are down or were taken out for a reason; below each the command that does\n" +
			"something about it. top is the same, live; stats has more numbers.",
		Access:  verbs.Reads,
		Example: "placectl status\nplacectl status -o json",
		InTx:    (*runner).status,
	}
}

func (r *runner) status(tx *store.Tx, _ *cli.Context) error {
	s, err := daily.ReadStatus(tx)
	if err != nil {
		return err
	}
	if a := r.audience(); a.table {
		return r.answer(s.Text(a.width, r.loc, a.blocks))
	}
	columns, row := s.Record()
	p := r.printer(output.Result{Record: true, Columns: columns})
	p.Row(row...)
	return p.Close()
}
