package database

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Dump declares the verb dump.
func Dump() *session.Verb {
	return &session.Verb{
		Name:     "dump",
		Category: "Store",
		Usage:    "write every row as a line of JSON",
		May:      engine.Anybody,
		Description: "Writes all rows of one instant to standard output, except those derived from others. The first " +
			"line describes\n" +
			"the dump. A line {\"table\",\"key\",\"row\"} follows for each row, then a line with their number. load " +
			"makes the\n" +
			"same database from it, also in a later version of placectl. -o has no effect.",
		Access:  verbs.Reads,
		Alone:   true,
		Example: "placectl dump | gzip >cluster.jsonl.gz\nplacectl dump | jq -c 'select(.table == \"nodes\").row.name'",
		Run:     dump,
	}
}

func dump(r *session.Run, _ *cli.Context) error {
	db, err := r.Open()
	if err != nil {
		return err
	}
	return working(r, "dumping", 0, func(watch engine.Watch) error {
		content, err := db.Dump(r.Stdout, watch)
		if err == nil {
			r.Debugf("%s of %s written", text.Plural(int(content.Rows), "row"), r.DB)
		}
		return err
	})
}

// Load declares the verb load.
func Load() *session.Verb {
	return &session.Verb{
		Name:     "load",
		Category: "Store",
		Usage:    "make a database from a dump",
		May:      engine.Owners,
		Args:     []verbs.Arg{{Name: "FILE", Kind: verbs.KindFile, Optional: true}},
		Description: "FILE is the output of dump, plain or compressed by gzip. Without FILE, or with -, load reads " +
			"standard input. It\n" +
			"makes the database that --db names from all of it, or makes none. An existing database is not " +
			"overwritten:\n" +
			"rename it first. Nothing is executed from it until placectl adopt.",
		Access:  verbs.Makes,
		Alone:   true,
		Example: "placectl --db new.db load cluster.jsonl.gz\nplacectl dump | placectl --db copy.db load -",
		Run:     load,
	}
}

func load(r *session.Run, c *cli.Context) error {
	name := cmp.Or(c.Args().First(), "-")
	opt := &engine.LoadOptions{Options: *r.StoreOptions(), DryRun: c.Bool(verbs.DryRun)}
	return r.KeyedWithin(c, r.DB, func(keep session.Keeper) error {
		if keep.Kept {
			opt.Last = func(tx *engine.Tx, content engine.Content) error {
				return keep.Answer(tx, func() error { return printLoaded(r, content) })
			}
		}
		content, err := loadFrom(r, name, opt)
		if err == nil && !keep.Kept {
			err = keep.Answer(nil, func() error { return printLoaded(r, content) })
		}
		return err
	})
}

func loadFrom(r *session.Run, name string, opt *engine.LoadOptions) (content engine.Content, err error) {
	from := r.Stdin // not read as a part of the request: a dump may be larger than memory
	if name != "-" {
		in, err := os.Open(name)
		if err != nil {
			return content, err
		}
		defer in.Close()
		from = in
	}
	err = working(r, "loading", sizeOf(r, name), func(watch engine.Watch) (err error) {
		opt.Watch = watch
		content, err = engine.Load(r.DB, from, opt)
		return err
	})
	var line *engine.LineError
	switch {
	case errors.As(err, &line):
		err = usage.Errorf("%s: %w", session.ShownFile(name), err)
	case err != nil:
		err = fmt.Errorf("loading %s: %w", session.ShownFile(name), err)
	}
	return content, err
}

func printLoaded(r *session.Run, content engine.Content) error {
	p := r.Printer(output.Result{Record: true, Columns: contentColumns()})
	p.Row(contentRow(r.DB, content)...)
	return p.Close()
}
