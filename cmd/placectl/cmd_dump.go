package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func dumpVerb() *verb {
	return &verb{
		Name:     "dump",
		Category: "Store",
		Usage:    "write every row as a line of JSON",
		Description: "The rows of one instant, but for those that are derived from others, to standard output: a line that says\n" +
			"what this is, {\"table\",\"key\",\"row\"} for each row, and a line that says how many they are. load makes the same\n" +
			"database of it, also in a later version of placectl. -o has no effect.",
		Access:  verbs.Reads,
		Alone:   true,
		Example: "placectl dump | gzip >cluster.jsonl.gz\nplacectl dump | jq -c 'select(.table == \"nodes\").row.name'",
		Run:     (*runner).dump,
	}
}

func (r *runner) dump(*cli.Context) error {
	db, err := r.open()
	if err != nil {
		return err
	}
	return r.working("dumping", 0, func(watch store.Watch) error {
		content, err := db.Dump(r.stdout, watch)
		if err == nil {
			r.debugf("%s of %s written", spell.Plural(int(content.Rows), "row"), r.DB)
		}
		return err
	})
}
