package main

import (
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func salvageVerb() *verb {
	return &verb{
		Name:     "salvage",
		Category: "Store",
		Usage:    "get out of a damaged database what can be read",
		May:      store.Anybody,
		Args:     []verbs.Arg{{Name: "DAMAGED", Kind: verbs.KindFile}},
		Description: "NEW becomes a sound database of every row of DAMAGED that can be read and verified; DAMAGED stays as it is.\n" +
			"What is derived is made anew. The answer has a line for each table of which rows are missing, or were changed\n" +
			"because others are: a job whose nodes are lost is held, for example. Where there is a backup, restore it\n" +
			"rather, and look into NEW for what has been since.",
		Flags:    []cli.Flag{&cli.StringFlag{Name: "to", Usage: "the database that is made, `NEW`", Required: true}},
		Access:   verbs.Makes,
		Alone:    true,
		Statuses: []int{exit.NotFound, exit.Locked},
		Example:  "placectl salvage placectl.db --to new.db",
		Run:      (*runner).salvage,
	}
}

func (r *runner) salvage(c *cli.Context) error {
	name, to := c.Args().First(), c.String("to")
	opt := &store.SalvageOptions{Options: *r.storeOptions(), DryRun: c.Bool(verbs.DryRun)}
	return r.keyedWithin(c, to, func(keep keeper) error {
		if keep.kept {
			opt.Last = func(tx *store.Tx, out *store.Salvaged) error {
				return keep.answer(tx, func() error { return r.printSalvaged(name, to, out) })
			}
		}
		var out *store.Salvaged
		err := r.working("salvaging", 0, func(watch store.Watch) (err error) {
			opt.Watch = watch
			out, err = store.Salvage(name, to, opt)
			return err
		})
		if err == nil && !keep.kept {
			err = keep.answer(nil, func() error { return r.printSalvaged(name, to, out) })
		}
		return err
	})
}

func (r *runner) printSalvaged(name, to string, out *store.Salvaged) error {
	for _, note := range out.Notes {
		r.notef("%s: %s", name, note)
	}
	switch {
	case out.Missing > 0:
		r.notef("%s: %s of %s are missing", to, text.Plural(int(out.Missing), "row"), text.Comma(out.Rows+out.Missing))
	case len(out.Tables) == 0 && len(out.Notes) == 0:
		r.notef("%s: nothing is missing", to)
	}
	return r.inForms(func(f output.Format) bool { return f != output.Table || len(out.Tables) > 0 }, func() error {
		p := r.printer(output.Result{Columns: []output.Column{{Name: "table"}, {Name: "rows", Kind: output.Integer},
			{Name: "missing", Kind: output.Integer}, {Name: "notes", Kind: output.Prose}}})
		for _, t := range out.Tables {
			var missing any
			if t.Missing >= 0 {
				missing = t.Missing
			}
			p.Row(t.Name, t.Rows, missing, strings.Join(t.Notes, "; "))
		}
		return p.Close()
	})
}
