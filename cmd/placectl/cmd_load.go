package main

import (
	"errors"
	"fmt"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func loadVerb() *verb {
	return &verb{
		Name:     "load",
		Category: "Store",
		Usage:    "make a database of a dump",
		Args:     []arg{{Name: "FILE", Kind: kindFile}},
		Description: "FILE is what dump wrote, - for standard input; it may be compressed by gzip. All of it becomes the database\n" +
			"that --db names, or nothing does. One that is there is not written over: give it another name first.",
		Access:  makes,
		Alone:   true,
		Unkeyed: true,
		Example: "placectl --db new.db load cluster.jsonl.gz\nplacectl dump | placectl --db copy.db load -",
		Run:     (*runner).load,
	}
}

func (r *runner) load(c *cli.Context) error {
	name := c.Args().First()
	in, err := r.input(name)
	if err != nil {
		return err
	}
	defer in.Close()
	var content store.Content
	err = r.working("loading", r.sizeOf(name), func(watch store.Watch) (err error) {
		content, err = store.Load(r.DB, in, &store.LoadOptions{Options: *r.storeOptions(), DryRun: c.Bool(dryRun), Watch: watch})
		return err
	})
	var line *store.LineError
	if errors.As(err, &line) {
		return usagef("%s: %w", shownFile(name), err)
	}
	if err != nil {
		return fmt.Errorf("loading %s: %w", shownFile(name), err)
	}
	p := r.printer(output.Result{Record: true, Columns: contentColumns()})
	p.Row(contentRow(r.DB, content)...)
	return p.Close()
}
