package database

import (
	"os"
	"runtime/debug"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Backup declares the verb backup.
func Backup() *session.Verb {
	return &session.Verb{
		Name:     "backup",
		Category: "Store",
		Usage:    "copy the database while others use it",
		May:      engine.Anybody,
		Args:     []verbs.Arg{{Name: "FILE", Kind: verbs.KindFile}},
		Description: "FILE holds the whole database at one instant, and is itself a database. The copy is verified " +
			"and synced before\n" +
			"it gets its name, so FILE is complete or absent. An existing FILE is not overwritten. With - the " +
			"copy goes to\n" +
			"standard output once it is complete and verified, and the answer to standard error. Nothing is " +
			"executed from\n" +
			"FILE until placectl adopt.",
		Access:   verbs.Reads,
		Alone:    true,
		Statuses: map[int]string{exit.Conflict: "", exit.Lost: ""},
		Example:  "placectl backup /backup/cluster-$(date +%F).db\nplacectl backup - | ssh vault 'cat > cluster.db'",
		Run:      backup,
	}
}

func backup(r *session.Run, c *cli.Context) error {
	db, err := r.Open()
	if err != nil {
		return err
	}
	name := c.Args().First()
	if name == "-" {
		return backupToStdout(r, db)
	}
	var content engine.Content
	err = working(r, "backing up", sizeOf(r, r.DB), func(watch engine.Watch) error {
		content, err = db.Backup(name, watch)
		return err
	})
	if err != nil {
		return err
	}
	r.Changed = true
	return r.Failing("", nil, func() error {
		p := r.Printer(output.Result{Record: true, Columns: contentColumns()})
		p.Row(contentRow(name, content)...)
		return p.Close()
	})
}

func backupToStdout(r *session.Run, db *engine.DB) error {
	if r.StdoutTTY {
		return usage.Errorf("refusing to write a database to a terminal: name a file, or use a pipe")
	}
	return working(r, "backing up", sizeOf(r, r.DB), func(watch engine.Watch) error {
		content, err := db.BackupTo(r.Stdout, watch)
		if err == nil {
			r.Notef("%s of %s written: %s, %s", text.FormatSize(content.Bytes), r.DB,
				text.Plural(int(content.Nodes), "node"), text.Plural(int(content.Jobs), "job"))
		}
		return err
	})
}

// contentColumns returns the columns that describe a file's contents.
func contentColumns() []output.Column {
	return []output.Column{{Name: "file"}, {Name: "bytes", Kind: output.Size}, {Name: "nodes", Kind: output.Integer},
		{Name: "jobs", Kind: output.Integer}, {Name: "events", Kind: output.Integer},
		{Name: "rows", Kind: output.Integer}}
}

func contentRow(name string, c engine.Content) []any {
	return []any{name, c.Bytes, c.Nodes, c.Jobs, c.Events, c.Rows}
}

// workMemory is the heap of a long work, in bytes, below which garbage is not collected. Other
// commands end before their memory matters.
const workMemory = 40 << 20

// working shows the progress of a long work, and ends it when the run is interrupted.
func working(r *session.Run, label string, total int64, work func(engine.Watch) error) error {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(workMemory))
	bar := r.Progress(label, total)
	defer bar.Done()
	return work(func(n int64) error {
		bar.Add(n)
		return r.Ctx.Err()
	})
}

// sizeOf returns the size of a file in bytes, 0 if it is unknown.
func sizeOf(r *session.Run, name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}

// Restore declares the verb restore.
func Restore() *session.Verb {
	return &session.Verb{
		Name:     "restore",
		Category: "Store",
		Usage:    "replace the database with a backup",
		May:      engine.Owners,
		Args:     []verbs.Arg{{Name: "FILE", Kind: verbs.KindFile}},
		Description: "Replaces the database with FILE's content in one step; FILE stays. An existing database, sound " +
			"or damaged, is\n" +
			"kept as NAME.replaced-N. Some jobs may have run since the backup: those that waited, and those " +
			"whose start\n" +
			"was not yet announced. They are held with the reason \"restored\"; unhold releases them.\n\n" +
			"Jobs that run and are not in the backup go on, but their ends are not recorded: restore names them " +
			"and wants\n" +
			"--force. Numbers of jobs go on behind those of the replaced database.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "no-hold", Usage: "do not hold jobs: nothing has run since the backup"},
			&cli.BoolFlag{Name: "force", Usage: "restore even if jobs run that are not in the backup"},
		},
		Access:   verbs.Makes,
		Alone:    true,
		Statuses: map[int]string{exit.NotFound: "", exit.Locked: ""},
		Example:  "placectl restore /backup/cluster-2026-11-21.db\nplacectl job list --state held",
		Run:      restore,
	}
}

func restore(r *session.Run, c *cli.Context) error {
	name := c.Args().First()
	if name == "-" {
		return usage.Errorf("a backup must be a file: standard input cannot be restored")
	}
	opt := &engine.RestoreOptions{Options: *r.StoreOptions(), NoHold: c.Bool("no-hold"), Force: c.Bool("force"),
		DryRun: c.Bool(verbs.DryRun)}
	return r.KeyedWithin(c, r.DB, func(keep session.Keeper) error {
		opt.Last = func(tx *engine.Tx, done *engine.Restored) error {
			return keep.Answer(tx, func() error { return printRestored(r, done) })
		}
		return working(r, "restoring", sizeOf(r, name), func(watch engine.Watch) error {
			opt.Watch = watch
			_, err := engine.Restore(r.DB, name, opt)
			return err
		})
	})
}

func printRestored(r *session.Run, done *engine.Restored) error {
	if n := len(done.Held); n > 0 {
		r.Notef("%s held, because waiting jobs may have run since the backup; placectl unhold releases one",
			text.Plural(n, "job"))
	}
	if len(done.Running) > 0 {
		r.Notef("jobs run that are not in the backup: %s; they go on, and their ends are not recorded",
			text.Ranges(done.Running))
	}
	p := r.Printer(output.Result{Record: true, Columns: append(contentColumns(),
		output.Column{Name: "held", Kind: output.Integer}, output.Column{Name: "kept"})})
	var kept any
	if done.Kept != "" {
		kept = done.Kept
	}
	p.Row(append(contentRow(r.DB, done.Content), int64(len(done.Held)), kept)...)
	return p.Close()
}
