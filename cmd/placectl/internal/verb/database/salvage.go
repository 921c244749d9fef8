package database

import (
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Salvage declares the verb salvage.
func Salvage() *session.Verb {
	return &session.Verb{
		Name:     "salvage",
		Category: "Store",
		Usage:    "recover what is readable from a damaged database",
		May:      engine.Anybody,
		Args:     []verbs.Arg{{Name: "DAMAGED", Kind: verbs.KindFile}},
		Description: "NEW becomes a sound database of every row of DAMAGED that can be read and verified. DAMAGED " +
			"does not change.\n" +
			"Derived rows are recomputed. The answer lists each table with rows that are missing, or changed " +
			"because others\n" +
			"are missing. For example, a job whose nodes are lost is held. Nothing is executed from NEW until " +
			"placectl adopt.\n" +
			"If you have a backup, restore it instead, and look in NEW for what happened since.",
		Flags:    []cli.Flag{&cli.StringFlag{Name: "to", Usage: "database to write, `NEW`", Required: true}},
		Access:   verbs.Makes,
		Alone:    true,
		Statuses: map[int]string{exit.NotFound: "", exit.Locked: ""},
		Example:  "placectl salvage placectl.db --to new.db",
		Run:      salvage,
	}
}

func salvage(r *session.Run, c *cli.Context) error {
	name, to := c.Args().First(), c.String("to")
	opt := &engine.SalvageOptions{Options: *r.StoreOptions(), DryRun: c.Bool(verbs.DryRun)}
	return r.KeyedWithin(c, to, func(keep session.Keeper) error {
		if keep.Kept {
			opt.Last = func(tx *engine.Tx, out *engine.Salvaged) error {
				return keep.Answer(tx, func() error { return printSalvaged(r, name, to, out) })
			}
		}
		var out *engine.Salvaged
		err := working(r, "salvaging", 0, func(watch engine.Watch) (err error) {
			opt.Watch = watch
			out, err = engine.Salvage(name, to, opt)
			return err
		})
		if err == nil && !keep.Kept {
			err = keep.Answer(nil, func() error { return printSalvaged(r, name, to, out) })
		}
		return err
	})
}

func printSalvaged(r *session.Run, name, to string, out *engine.Salvaged) error {
	for _, note := range out.Notes {
		r.Notef("%s: %s", name, note)
	}
	switch {
	case out.Missing > 0:
		r.Notef("%s: %s of %s are missing", to, text.Plural(int(out.Missing), "row"), text.Comma(out.Rows+out.Missing))
	case len(out.Tables) == 0 && len(out.Notes) == 0:
		r.Notef("%s: nothing is missing", to)
	}
	return r.InForms(func(f output.Format) bool { return f != output.Table || len(out.Tables) > 0 }, func() error {
		p := r.Printer(output.Result{Columns: []output.Column{{Name: "table"}, {Name: "rows", Kind: output.Integer},
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
