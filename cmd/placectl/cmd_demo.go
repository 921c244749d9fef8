package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/placectl/placectl/cmd/placectl/internal/demo"
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// demoDB is the database of the demo when none is named.
const demoDB = "placectl-demo.db"

func demoVerb() *verb {
	return &verb{
		Name:     "demo",
		Category: "Store",
		Usage:    "a real cluster's recorded jobs, replayed into a database to play with",
		May:      store.Anybody,
		Description: "Six days of MetaCentrum's cluster wagap: 68 nodes, and twelve hundred jobs, each submitted as it was asked\n" +
			"for, started and planned by cycles, and finished when it ended, moved in time so that the last day ends\n" +
			"now; and what would have come of them with other policies. Works offline and in seconds.\n" +
			"Makes ./" + demoDB + ", anew each time, or the file that --db names, and says what to try on it.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "force", Usage: "make it anew where an earlier demo's file is in the way"},
		},
		Access:   verbs.Makes,
		Statuses: []int{exit.Locked},
		Example:  "placectl demo\nplacectl demo --db /tmp/demo.db --force",
		Run:      (*runner).demo,
	}
}

func (r *runner) demo(c *cli.Context) error {
	path, named, done, err := r.demoFile(c.Bool(verbs.DryRun))
	if err != nil {
		return err
	}
	defer done()
	data, err := demo.Load(r.now().Unix())
	if err != nil {
		return err
	}
	if data.From < 0 {
		return usagef("--now must leave room for six days since 1970")
	}
	var report *demo.Report
	return r.keyedWork(c, path, func() error {
		if c.Bool("force") || !named {
			if err := removeDemo(path, data); err != nil {
				return err
			}
		}
		report, err = r.makeDemo(path, data, c.IsSet(verbs.Key))
		if errors.Is(err, store.ErrExists) {
			return fmt.Errorf("%w; --force makes it anew, --db FILE makes another", err)
		}
		if c.Bool(verbs.DryRun) && err == nil {
			report.DB, report.Hints = "", []demo.Hint{}
		}
		return err
	}, func() error { return r.printDemo(report) })
}

// printDemo answers with the report. A page is not made of rows: it is recorded in each
// form that may be asked for.
func (r *runner) printDemo(report *demo.Report) error {
	for i := range output.FormatNames() {
		form := output.Format(i)
		err := r.inForms(func(f output.Format) bool { return f == form }, func() error {
			o := r.outputOptions()
			o.Format = form
			return report.Print(r.stdout, o, r.Quiet, r.audience().blocks)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// demoFile says where the demo's database goes, whether somebody named it so, and
// gives a function to call when all is done. PLACECTL_DB and --db count as everywhere; only what is used
// without them is another file, so that nobody's placectl.db is in the way.
func (r *runner) demoFile(dry bool) (path string, named bool, done func(), err error) {
	if dry {
		dir, err := os.MkdirTemp("", "placectl-")
		return filepath.Join(dir, demoDB), false, func() { os.RemoveAll(dir) }, err
	}
	inv, err := r.verbs.Parse(r.env.args)
	if err != nil {
		return "", false, nil, err
	}
	if _, source := verbs.FindGlobal("db").LookUp(inv.Globals, r.surroundings()); source != "" {
		return r.DB, true, func() {}, nil
	}
	r.DB = demoDB
	return r.DB, false, func() {}, nil
}

// removeDemo removes the file of an earlier demo, and none that holds anything
// else: --force and a forgotten PLACECTL_DB must not cost a cluster.
func removeDemo(path string, data *demo.Data) error {
	db, err := store.Open(path, nil)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	made := false
	err = db.View(func(tx *store.Tx) (err error) {
		made, err = data.Made(tx)
		return err
	})
	if err != nil {
		return err
	}
	if !made {
		return &store.Conflict{What: path, Why: "it does not hold an earlier demo, and nothing else is replaced"}
	}
	return os.Remove(path)
}

// makeDemo makes the database, replays into it and, where that is to be shown,
// replays elsewhere what it is compared with. When it fails there is no half a
// demo left behind. Whoever uses a key again may ask for any form.
func (r *runner) makeDemo(path string, data *demo.Data, keyed bool) (report *demo.Report, err error) {
	jobs := int64(len(data.Jobs))
	bar := r.progress("replaying six days: jobs", jobs)
	replay, err := data.Replay(r.ctx, path, r.storeOptions(), "", func(n int) { bar.Add(int64(n)) })
	bar.Done()
	if err != nil {
		return nil, err
	}
	if report, err = replay.Report(data, path); err != nil {
		return nil, errors.Join(err, replay.Discard(path))
	}
	if keyed || r.audience().Document || r.Output == output.Line || r.audience().table && !r.Quiet { // not for the figures alone
		bar = r.progress("comparing policies: jobs", jobs*int64(len(demo.Others)))
		others, err := data.Compare(r.ctx, func(n int) { bar.Add(int64(n)) })
		bar.Done()
		if err != nil {
			return nil, errors.Join(err, replay.Discard(path))
		}
		report.Outcomes = append(report.Outcomes, others...)
	}
	return report, replay.DB.Close()
}
