package database

import (
	"fmt"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Compact declares the verb compact.
func Compact() *session.Verb {
	return &session.Verb{
		Name:     "compact",
		Category: "Store",
		Usage:    "rewrite the file without its free pages",
		May:      engine.Owners,
		Description: "The file keeps the space of removed rows for new ones. compact gives it back: it copies the " +
			"rows into a new file\n" +
			"in the same folder, compares and syncs it, and replaces the old one in one step. You may kill it at " +
			"any point.\n" +
			"Others wait meanwhile.",
		Access:  verbs.Writes,
		Alone:   true,
		Example: "placectl compact",
		Run:     compact,
	}
}

func compact(r *session.Run, c *cli.Context) error {
	db, err := r.Open()
	if err != nil {
		return err
	}
	work := db.Compact
	if c.Bool(verbs.DryRun) {
		work = db.CompactTrial
	}
	var done engine.Compacted
	return r.KeyedWork(c, r.DB, func() error {
		return working(r, "compacting", sizeOf(r, r.DB), func(watch engine.Watch) (err error) {
			done, err = work(watch)
			return err
		})
	}, func() error { return printCompacted(r, done) })
}

func printCompacted(r *session.Run, done engine.Compacted) error {
	p := r.Printer(
		output.Result{Record: true, Columns: []output.Column{{Name: "file"}, {Name: "before", Kind: output.Size},
			{Name: "after", Kind: output.Size}}})
	p.Row(r.DB, done.Before, done.After)
	return p.Close()
}

// Archive declares the verb archive.
func Archive() *session.Verb {
	return &session.Verb{
		Name:     "archive",
		Category: "Store",
		Usage:    "move ended jobs and reservations into an archive",
		May:      engine.Owners,
		Description: "Moves jobs that ended before T, their events, those of nodes and reservations, and ended " +
			"batches from the\n" +
			"database into FILE, which has a line for each row, as dump writes them. An existing archive of this " +
			"database is\n" +
			"extended. To query what goes, make a backup first: placectl --db BACKUP query.\n\n" +
			"Jobs stay if others wait for them, and arrays stay as long as one of their jobs does. FILE is synced " +
			"before the\n" +
			"first row is removed. If archive is killed, every row is in one of the two; run it again to " +
			"continue. The past\n" +
			"of nodes (nodes AT, capacity) and sums of usage stay. The setting keep_ended makes cycles delete old " +
			"jobs, and\n" +
			"the past of nodes, without a file.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "before", Usage: "archive what ended before `T`: 2026-11-01, now-30d",
				Required: true},
			&cli.StringFlag{Name: "to", Usage: "archive `FILE`: FILE.jsonl or FILE.jsonl.gz", Required: true},
		},
		Access: verbs.Writes,
		Alone:  true,
		Example: "placectl archive --before now-30d --to archive.jsonl\nplacectl archive --before 2026-01-01 --to " +
			"2025.jsonl.gz",
		Run: archive,
	}
}

func archive(r *session.Run, c *cli.Context) error {
	before, err := text.ParseTime(c.String("before"), r.Instant(), r.Loc)
	if err != nil {
		return usage.Errorf("--before %w", err)
	}
	if before.After(r.Instant()) {
		return usage.Errorf("--before %s is in the future", c.String("before"))
	}
	to := c.String("to")
	db, err := r.Open()
	if err != nil {
		return err
	}
	var done *engine.Archived
	return r.KeyedWork(c, r.DB, func() error {
		err := working(r, "archiving", 0, func(watch engine.Watch) (err error) {
			done, err = db.Archive(to, before, &engine.ArchiveOptions{DryRun: c.Bool(verbs.DryRun), Watch: watch})
			return err
		})
		if err != nil {
			return fmt.Errorf("archiving to %s: %w", text.Quoted(to), err)
		}
		return nil
	}, func() error { return printArchived(r, to, done) })
}

func printArchived(r *session.Run, to string, done *engine.Archived) error {
	if done.Stay > 0 {
		r.Notef("%s ended before that and are kept: other jobs depend on them or on their array",
			text.Plural(int(done.Stay), "job"))
	}
	p := r.Printer(
		output.Result{Record: true, Columns: []output.Column{{Name: "file"}, {Name: "jobs", Kind: output.Integer},
			{Name: "events", Kind: output.Integer}, {Name: "batches", Kind: output.Integer},
			{Name: "stay", Kind: output.Integer}}})
	var file any = to
	if *done == (engine.Archived{Stay: done.Stay}) {
		r.Notef("nothing to archive")
		file = nil
	}
	p.Row(file, done.Jobs, done.Events, done.Batches, done.Stay)
	return p.Close()
}
