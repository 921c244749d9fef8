package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func restoreVerb() *verb {
	return &verb{
		Name:     "restore",
		Category: "Store",
		Usage:    "put a backup in the place of the database",
		Args:     []verbs.Arg{{Name: "FILE", Kind: verbs.KindFile}},
		Description: "The database becomes what FILE holds, in one step; FILE stays. A database that is there, sound or damaged,\n" +
			"is kept beside as NAME.replaced-N. Jobs that waited when the backup was made, or had started and nobody been\n" +
			"told to launch them, may have run since: they are held, with the reason \"restored\", and unhold lets them go on.",
		Flags:    []cli.Flag{&cli.BoolFlag{Name: "no-hold", Usage: "hold no jobs: nothing has run since the backup"}},
		Access:   verbs.Makes,
		Alone:    true,
		Statuses: []int{exit.NotFound, exit.Locked},
		Example:  "placectl restore /backup/cluster-2026-11-21.db\nplacectl job list --state held",
		Run:      (*runner).restore,
	}
}

func (r *runner) restore(c *cli.Context) error {
	name := c.Args().First()
	if name == "-" {
		return usagef("a backup is read from a file, not from standard input: write it into one first")
	}
	opt := &store.RestoreOptions{Options: *r.storeOptions(), NoHold: c.Bool("no-hold"), DryRun: c.Bool(verbs.DryRun)}
	return r.keyedWithin(c, r.DB, func(keep keeper) error {
		opt.Last = func(tx *store.Tx, done *store.Restored) error {
			return keep.answer(tx, func() error { return r.printRestored(done) })
		}
		return r.working("restoring", r.sizeOf(name), func(watch store.Watch) error {
			opt.Watch = watch
			_, err := store.Restore(r.DB, name, opt)
			return err
		})
	})
}

func (r *runner) printRestored(done *store.Restored) error {
	if n := len(done.Held); n > 0 {
		r.notef("%s held, for what waited may have run since the backup; placectl unhold lets a job go on", spell.Plural(n, "job"))
	}
	p := r.printer(output.Result{Record: true, Columns: append(contentColumns(),
		output.Column{Name: "held", Kind: output.Integer}, output.Column{Name: "kept"})})
	var kept any
	if done.Kept != "" {
		kept = done.Kept
	}
	p.Row(append(contentRow(r.DB, done.Content), int64(len(done.Held)), kept)...)
	return p.Close()
}
