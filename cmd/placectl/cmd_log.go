package main

import (
	"fmt"
	"strconv"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func logVerb() *verb {
	return &verb{
		Name:     "log",
		Category: "Store",
		Usage:    "who changed how much, where the database is in etcd",
		May:      store.Anybody,
		Description: "Each transaction is an entry: its position, when it was made, by whom, on which host, with which verb, and how\n" +
			"many rows of which tables it has changed. Entries before the second newest snapshot are gone.",
		Flags:  []cli.Flag{&cli.StringFlag{Name: "since", Usage: "only the entries behind the one at position `N`"}},
		Access: verbs.Reads, Alone: true, Run: (*runner).log,
		Example: "placectl --db etcd://e1:2379,e2:2379,e3:2379/cluster log --since 1200",
		Verbs: []*verb{
			{Name: "check", Usage: "verify that entries follow each other, and that a replica made anew equals this machine's",
				May:    store.Anybody,
				Access: verbs.Reads, Alone: true, Run: (*runner).logCheck, Statuses: []int{exit.Conflict, exit.Unknown, exit.Lost},
				Example: "placectl --db etcd://e1:2379/cluster log check"},
			{Name: "trim", Usage: "put a snapshot at the log's end, and delete what lies before the snapshot before it",
				May:         store.Owners,
				Description: "It is done by itself when it is time; cycle looks first. Nothing of the database changes.",
				Access:      verbs.Reads, Alone: true, Run: (*runner).logTrim, Statuses: []int{exit.Conflict, exit.Unknown, exit.Lost},
				Example: "placectl --db etcd://e1:2379/cluster log trim"},
		},
	}
}

// openLog makes a handle on the log that --db names.
func (r *runner) openLog() (*store.Log, error) {
	if !store.IsLog(r.DB) {
		return nil, usagef("%s is a file: a log is there where the database is in etcd, --db etcd://HOST:PORT,.../PREFIX", r.DB)
	}
	db, err := r.open()
	if err != nil {
		return nil, err
	}
	return db.Log(), nil
}

func (r *runner) log(c *cli.Context) error {
	since := uint64(0)
	if c.IsSet("since") {
		var err error
		if since, err = strconv.ParseUint(c.String("since"), 10, 64); err != nil {
			return usagef("--since: %s is not the position of an entry", text.Quoted(c.String("since")))
		}
	}
	log, err := r.openLog()
	if err != nil {
		return err
	}
	p := r.printer(output.Result{Columns: []output.Column{{Name: "entry", Kind: output.Integer}, {Name: "time", Kind: output.Time}, {Name: "host"}, {Name: "user"}, {Name: "verb"},
		{Name: "rows", Kind: output.Integer}, {Name: "bytes", Kind: output.Size}, {Name: "tables", Kind: output.List}}})
	err = log.Each(since, func(e *store.LogEntry) error {
		p.Row(int64(e.Position), e.Now, e.Host, e.User, e.Verb, int64(e.Rows), int64(e.Bytes), e.Tables)
		return r.ctx.Err()
	})
	if err != nil {
		return err
	}
	return p.Close()
}

func (r *runner) logCheck(*cli.Context) error {
	log, err := r.openLog()
	if err != nil {
		return err
	}
	var findings []string
	err = log.Check(func(f string) { findings = append(findings, f) })
	if printed := r.printFindings(findings); printed != nil {
		return printed
	}
	if err == nil && len(findings) > 0 {
		err = fmt.Errorf("%w: %s in %s", store.ErrDamaged, text.Plural(len(findings), "finding"), r.DB)
	}
	if err == nil {
		r.notef("%s is sound", r.DB)
	}
	return err
}

func (r *runner) logTrim(*cli.Context) error {
	log, err := r.openLog()
	if err != nil {
		return err
	}
	before, err := log.Size()
	if err != nil {
		return err
	}
	if err := log.Trim(); err != nil {
		return err
	}
	after, err := log.Size()
	if err != nil {
		return err
	}
	p := r.printer(output.Result{Record: true, Columns: []output.Column{{Name: "db"}, {Name: "before", Kind: output.Size}, {Name: "after", Kind: output.Size}}})
	p.Row(r.DB, before.Prefix, after.Prefix)
	return p.Close()
}

// logSize is how much the log of the database holds. It warns where the log will take no
// more before long.
func (r *runner) logSize() (store.LogSize, error) {
	log, err := r.openLog()
	if err != nil || r.Stale < 0 {
		return store.LogSize{}, err
	}
	size, err := log.Size()
	const what = "defragment it, let it forget its history (--auto-compaction-retention=1h), or raise --quota-backend-bytes"
	switch {
	case err != nil:
	case size.Full:
		r.notef("etcd is full, and takes nothing more (NOSPACE): %s; then etcdctl alarm disarm", what)
	case size.Quota > 0 && size.Stored > size.Quota/2:
		r.notef("etcd has %s, more than half of the %s that it may have: %s", text.FormatSize(size.Stored), text.FormatSize(size.Quota), what)
	}
	return size, err
}
