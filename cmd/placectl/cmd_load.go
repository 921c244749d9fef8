package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func loadVerb() *verb {
	return &verb{
		Name:     "load",
		Category: "Store",
		Usage:    "make a database of a dump",
		Args:     []verbs.Arg{{Name: "FILE", Kind: verbs.KindFile, Optional: true}},
		Description: "FILE is what dump wrote, standard input without it or with -; it may be compressed by gzip. All of it becomes the database\n" +
			"that --db names, or nothing does. One that is there is not written over: give it another name first.",
		Access:  verbs.Makes,
		Alone:   true,
		Example: "placectl --db new.db load cluster.jsonl.gz\nplacectl dump | placectl --db copy.db load -",
		Run:     (*runner).load,
	}
}

func (r *runner) load(c *cli.Context) error {
	name := cmp.Or(c.Args().First(), "-")
	opt := &store.LoadOptions{Options: *r.storeOptions(), DryRun: c.Bool(verbs.DryRun)}
	return r.keyedWithin(c, r.DB, func(keep keeper) error {
		if keep.kept {
			opt.Last = func(tx *store.Tx, content store.Content) error {
				return keep.answer(tx, func() error { return r.printLoaded(content) })
			}
		}
		content, err := r.loadFrom(name, opt)
		if err == nil && !keep.kept {
			err = keep.answer(nil, func() error { return r.printLoaded(content) })
		}
		return err
	})
}

func (r *runner) loadFrom(name string, opt *store.LoadOptions) (content store.Content, err error) {
	from := r.stdin // not read as a part of the request: a dump may be larger than memory
	if name != "-" {
		in, err := os.Open(name)
		if err != nil {
			return content, err
		}
		defer in.Close()
		from = in
	}
	err = r.working("loading", r.sizeOf(name), func(watch store.Watch) (err error) {
		opt.Watch = watch
		content, err = store.Load(r.DB, from, opt)
		return err
	})
	var line *store.LineError
	switch {
	case errors.As(err, &line):
		err = usagef("%s: %w", shownFile(name), err)
	case err != nil:
		err = fmt.Errorf("loading %s: %w", shownFile(name), err)
	}
	return content, err
}

func (r *runner) printLoaded(content store.Content) error {
	p := r.printer(output.Result{Record: true, Columns: contentColumns()})
	p.Row(contentRow(r.DB, content)...)
	return p.Close()
}
