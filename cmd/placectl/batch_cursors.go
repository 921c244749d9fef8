package main

import (
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func batchCursorsCommand(r *runner) *cli.Command {
	return r.verb(&cli.Command{
		Name:      "cursors",
		Usage:     "the ranges of a batch: how far each is, who works in it, and how long it will take",
		ArgsUsage: "NAME",
		Description: "rules tells which soft rules a team breaks: its fastest host is to be no faster than the others together,\n" +
			"and its hosts are to belong to different users. Finished ranges are left out unless --all asks for them.",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "finished ranges too"}},
		Action: r.batchCursors,
	}, about{Example: "placectl batch cursors night-12\nplacectl batch cursors night-12 --all -o csv", Exits: readExits})
}

func (r *runner) batchCursors(c *cli.Context) error {
	if err := wantArgs(c, 1, 1); err != nil {
		return err
	}
	name := c.Args().First()
	return r.view(func(tx *store.Tx) error {
		b, err := tx.Batch(name)
		if err != nil {
			return err
		}
		p := r.printer(result{Columns: []column{{Name: "first_job", Kind: integer}, {Name: "last_job", Kind: integer}, {Name: "result", Kind: integer},
			{Name: "first_unfinished", Kind: integer}, {Name: "first_ungenerated", Kind: integer}, {Name: "remaining_credit", Kind: number},
			{Name: "expavg_credit", Kind: number}, {Name: "est_time_left", Kind: span}, {Name: "hosts", Kind: list}, {Name: "rules", Kind: list}}})
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
		return p.close()
	})
}

func cursorRow(p *printer, b *store.Batch, cur *locality.Cursor, t *locality.Team) error {
	at := b.Progress(cur)
	var result, left any
	if at.Result > 0 {
		result = at.Result
	}
	if s, ok := cur.Left(); ok {
		left = s
	}
	return p.row(at.First, at.Last, result, at.Unfinished, at.Ungenerated, locality.Credits(cur.Remaining()), locality.Credits(cur.Rate()), left, t.Hosts, t.Broken())
}
