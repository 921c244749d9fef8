package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func batchCursorsVerb() *verb {
	return &verb{
		Name:  "cursors",
		Usage: "the ranges of a batch: how far each is, who works in it, and how long it will take",
		Args:  []verbs.Arg{{Name: "NAME", Kind: verbs.KindBatch}},
		Description: "rules tells which soft rules a team breaks: its fastest host is to be no faster than the others together,\n" +
			"and its hosts are to belong to different users. Finished ranges are left out unless --all asks for them.",
		Flags:   []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "finished ranges too"}},
		Access:  verbs.Reads,
		Example: "placectl batch cursors night-12\nplacectl batch cursors night-12 --all -o csv",
		Run:     (*runner).batchCursors,
	}
}

func (r *runner) batchCursors(c *cli.Context) error {
	name := c.Args().First()
	return r.view(func(tx *store.Tx) error {
		b, err := tx.Batch(name)
		if err != nil {
			return err
		}
		p := r.printer(output.Result{Columns: []output.Column{{Name: "first_job", Kind: output.Integer}, {Name: "last_job", Kind: output.Integer}, {Name: "result", Kind: output.Integer},
			{Name: "first_unfinished", Kind: output.Integer}, {Name: "first_ungenerated", Kind: output.Integer}, {Name: "remaining_credit", Kind: output.Number},
			{Name: "expavg_credit", Kind: output.Number}, {Name: "est_time_left", Kind: output.Duration}, {Name: "hosts", Kind: output.List}, {Name: "rules", Kind: output.List}}})
		places, err := tx.BatchPlaces(name)
		if err != nil {
			return err
		}
		err = tx.EachBatchRange(name, func(cur *locality.Cursor) error {
			if cur.Remaining() == 0 && !c.Bool("all") {
				return nil
			}
			return cursorRow(p, b, cur, places.In(cur))
		})
		if err != nil {
			return err
		}
		return p.Close()
	})
}

func cursorRow(p *output.Printer, b *store.Batch, cur *locality.Cursor, t *locality.Team) error {
	at := b.Progress(cur)
	var result, left any
	if at.Result > 0 {
		result = at.Result
	}
	if s, ok := cur.Left(); ok {
		left = s
	}
	return p.Row(at.First, at.Last, result, at.Unfinished, at.Ungenerated, locality.Credits(cur.Remaining()), locality.Credits(cur.Rate()), left, t.Hosts, t.Broken())
}
