package database

import (
	"fmt"
	"strconv"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Log declares the verb log.
func Log() *session.Verb {
	return &session.Verb{
		Name:     "log",
		Category: "Store",
		Usage:    "show the log of a database in etcd",
		May:      engine.Anybody,
		Description: "Each transaction is an entry: its position, time, user, host, verb, and number of changed " +
			"rows, by table.\n" +
			"Entries before the second newest snapshot are gone.",
		Flags:  []cli.Flag{&cli.StringFlag{Name: "since", Usage: "only entries after position `N`"}},
		Access: verbs.Reads, Alone: true, Run: log,
		Example: "placectl --db etcd://e1:2379,e2:2379,e3:2379/cluster log --since 1200",
		Verbs: []*session.Verb{
			{Name: "check", Usage: "check the log and this machine's replica",
				May:         engine.Anybody,
				Description: "The entries must be consecutive, and a new replica must equal this machine's.",
				Access:      verbs.Reads, Alone: true, Run: logCheck, Statuses: map[int]string{exit.Conflict: "",
					exit.Unknown: "", exit.Lost: ""},
				Example: "placectl --db etcd://e1:2379/cluster log check"},
			{Name: "trim", Usage: "write a snapshot and delete old entries",
				May: engine.Owners,
				Description: "The snapshot is at the log's end; entries before the previous one are deleted. " +
					"placectl does this itself when it\n" +
					"is due; cycle checks first. The database's content does not change.",
				Flags:  []cli.Flag{verbs.DryRunFlag()},
				Access: verbs.Reads, Alone: true, Run: logTrim,
				Statuses: map[int]string{exit.Conflict: "", exit.Unknown: "", exit.Lost: ""},
				Example:  "placectl --db etcd://e1:2379/cluster log trim"},
		},
	}
}

func log(r *session.Run, c *cli.Context) error {
	since := uint64(0)
	if c.IsSet("since") {
		var err error
		if since, err = strconv.ParseUint(c.String("since"), 10, 64); err != nil {
			return usage.Errorf("--since: %s is not the position of an entry", text.Quoted(c.String("since")))
		}
	}
	log, err := r.OpenLog()
	if err != nil {
		return err
	}
	p := r.Printer(output.Result{Columns: []output.Column{{Name: "entry", Kind: output.Integer},
		{Name: "time", Kind: output.Time}, {Name: "host"}, {Name: "user"}, {Name: "verb"},
		{Name: "rows", Kind: output.Integer}, {Name: "bytes", Kind: output.Size}, {Name: "tables", Kind: output.List}}})
	err = log.Each(since, func(e *engine.LogEntry) error {
		p.Row(int64(e.Position), e.Now, e.Host, e.User, e.Verb, int64(e.Rows), int64(e.Bytes), e.Tables)
		return r.Ctx.Err()
	})
	if err != nil {
		return err
	}
	return p.Close()
}

func logCheck(r *session.Run, _ *cli.Context) error {
	log, err := r.OpenLog()
	if err != nil {
		return err
	}
	var findings []string
	err = log.Check(func(f string) { findings = append(findings, f) })
	if printed := printFindings(r, findings); printed != nil {
		return printed
	}
	if err == nil && len(findings) > 0 {
		err = fmt.Errorf("%w: %s in %s", engine.ErrDamaged, text.Plural(len(findings), "finding"), r.DB)
	}
	if err == nil {
		r.Notef("%s is sound", r.DB)
	}
	return err
}

func logTrim(r *session.Run, _ *cli.Context) error {
	log, err := r.OpenLog()
	if err != nil {
		return err
	}
	before, err := log.Size()
	if err != nil {
		return err
	}
	if r.Dry {
		snapshot, entries, err := log.DryTrim()
		if err != nil {
			return err
		}
		if snapshot == 0 {
			r.Notef("there is nothing to trim: the newest snapshot is at the log's end")
		} else {
			r.Notef("would write a snapshot at position %d; entries to delete: %d", snapshot, entries)
		}
		return printTrim(r, before.Prefix, nil)
	}
	if err := log.Trim(); err != nil {
		return err
	}
	after, err := log.Size()
	if err != nil {
		return err
	}
	return printTrim(r, before.Prefix, after.Prefix)
}

// printTrim answers with the log's size before and after. after is nil if it is unknown.
func printTrim(r *session.Run, before int64, after any) error {
	p := r.Printer(
		output.Result{Record: true, Columns: []output.Column{{Name: "db"}, {Name: "before", Kind: output.Size},
			{Name: "after", Kind: output.Size}}})
	p.Row(r.DB, before, after)
	return p.Close()
}
