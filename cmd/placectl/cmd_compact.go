package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func compactVerb() *verb {
	return &verb{
		Name:     "compact",
		Category: "Store",
		Usage:    "write the file anew, without its free pages",
		Description: "Of what has been removed the file keeps the space, for what comes. compact gives it back: the rows are\n" +
			"copied into a file beside, compared, synced, and take the place of the old one in one step. It may be killed\n" +
			"at any point. Others wait meanwhile.",
		Access:  verbs.Writes,
		Alone:   true,
		Example: "placectl compact",
		Run:     (*runner).compact,
	}
}

func (r *runner) compact(c *cli.Context) error {
	db, err := r.open()
	if err != nil {
		return err
	}
	work := db.Compact
	if c.Bool(verbs.DryRun) {
		work = db.CompactTrial
	}
	var done store.Compacted
	return r.keyedWork(c, r.DB, func() error {
		return r.working("compacting", r.sizeOf(r.DB), func(watch store.Watch) (err error) {
			done, err = work(watch)
			return err
		})
	}, func() error { return r.printCompacted(done) })
}

func (r *runner) printCompacted(done store.Compacted) error {
	p := r.printer(output.Result{Record: true, Columns: []output.Column{{Name: "file"}, {Name: "before", Kind: output.Size}, {Name: "after", Kind: output.Size}}})
	p.Row(r.DB, done.Before, done.After)
	return p.Close()
}
