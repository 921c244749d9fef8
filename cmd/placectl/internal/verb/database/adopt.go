package database

import (
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Adopt declares the verb adopt.
func Adopt() *session.Verb {
	return &session.Verb{
		Name:     "adopt",
		Category: "Store",
		Usage:    "make a copied file a database that executes jobs",
		May:      engine.Owners,
		Description: "Nothing is executed from a copy of a database: its waiting jobs may have run in the original. " +
			"backup, salvage\n" +
			"and load make such files, and so do cp, rsync and a move to another file system. adopt makes the file " +
			"a\n" +
			"database of its own, in place, as restore does with a backup. Jobs that waited, and those whose " +
			"start was not\n" +
			"yet announced, are held with the reason \"restored\"; unhold releases them.",
		Flags:    []cli.Flag{&cli.BoolFlag{Name: "no-hold", Usage: "do not hold jobs: none of them runs elsewhere"}},
		Access:   verbs.Writes,
		Alone:    true,
		Statuses: map[int]string{exit.NotFound: "", exit.Locked: ""},
		Example:  "placectl --db /backup/cluster.db adopt\nplacectl --db since.db adopt --no-hold",
		Run:      adopt,
	}
}

func adopt(r *session.Run, c *cli.Context) error {
	return r.Update(c, func(tx *engine.Tx) error {
		held, err := tx.Adopt(c.Bool("no-hold"))
		if err != nil {
			return err
		}
		if n := len(held); n > 0 {
			r.Notef("%s held, because waiting jobs may have run elsewhere; placectl unhold releases one",
				text.Plural(n, "job"))
		}
		p := r.Printer(
			output.Result{Record: true, Columns: []output.Column{{Name: "file"}, {Name: "held", Kind: output.Integer}}})
		p.Row(r.DB, int64(len(held)))
		return p.Close()
	})
}
