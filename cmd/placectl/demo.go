package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// The demo is what a newcomer runs first: a real cluster and some days of its
// recorded jobs, replayed through a real database, which is then there to play
// with. demo_data.go reads what is recorded, demo_replay.go replays it,
// demo_report.go looks at what came of it, demo_page.go shows it.

// demoDB is the database of the demo when none is named.
const demoDB = "placectl-demo.db"

func demoVerb() *verb {
	return &verb{
		Name:     "demo",
		Category: "Store",
		Usage:    "a real cluster's recorded jobs, replayed into a database to play with",
		Description: "Six days of MetaCentrum's cluster wagap: 68 nodes, and twelve hundred jobs, each as it was asked for,\n" +
			"placed, released when they ended, and kept waiting, moved in time so that the last day ends now; and\n" +
			"what would have come of them with other policies. Works offline and in seconds.\n" +
			"Makes ./" + demoDB + ", anew each time, or the file that --db names, and says what to try on it.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "force", Usage: "make it anew where an earlier demo's file is in the way"},
		},
		Access:   makes,
		Statuses: []int{exitLocked},
		Example:  "placectl demo\nplacectl demo --db /tmp/demo.db --force",
		Run:      (*runner).demo,
	}
}

func (r *runner) demo(c *cli.Context) error {
	path, named, remove, err := r.demoFile(c.Bool(dryRun))
	if err != nil {
		return err
	}
	defer remove()
	data, err := loadDemo(r.now().Unix())
	if err != nil {
		return err
	}
	if data.From < 0 {
		return usagef("--now must leave room for six days since 1970")
	}
	if c.Bool("force") || !named {
		if err := removeDemo(path, data); err != nil {
			return err
		}
	}
	report, err := r.makeDemo(path, data)
	if errors.Is(err, store.ErrExists) {
		return fmt.Errorf("%w; --force makes it anew, --db FILE makes another", err)
	}
	if err != nil {
		return err
	}
	if c.Bool(dryRun) {
		report.DB, report.Next = "", []demoHint{}
	}
	return r.printDemo(report)
}

// demoFile says where the demo's database goes, whether somebody named it so, and
// gives a function to call when all is done. PLACECTL_DB and --db count as everywhere; only what is used
// without them is another file, so that nobody's placectl.db is in the way.
func (r *runner) demoFile(dry bool) (path string, named bool, done func(), err error) {
	if dry {
		dir, err := os.MkdirTemp("", "placectl-")
		return filepath.Join(dir, demoDB), false, func() { os.RemoveAll(dir) }, err
	}
	inv, err := r.parseArgs(r.env.args)
	if err != nil {
		return "", false, nil, err
	}
	if _, source := lookUp(findGlobal("db"), inv.globals, r.env); source != "" {
		return r.DB, true, func() {}, nil
	}
	r.DB = demoDB
	return r.DB, false, func() {}, nil
}

// removeDemo removes the file of an earlier demo, and none that holds anything
// else: --force and a forgotten PLACECTL_DB must not cost a cluster.
func removeDemo(path string, data *demoData) error {
	db, err := store.Open(path, nil)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var names []string
	err = db.View(func(tx *store.Tx) error {
		names, err = allNodeNames(tx)
		return err
	})
	if err != nil {
		return err
	}
	if !data.hasNodes(names) {
		return &store.Conflict{What: path, Why: "it does not hold an earlier demo, and nothing else is replaced"}
	}
	return os.Remove(path)
}

// makeDemo makes the database, replays into it and, where that is to be shown,
// replays elsewhere what it is compared with. When it fails there is no half a
// demo left behind.
func (r *runner) makeDemo(path string, data *demoData) (report *demoReport, err error) {
	bar := r.progress("replaying six days: jobs", int64(len(data.Jobs)))
	d := newDemoReplay(r, data, demoHow{}, func() { bar.Add(1) })
	db, err := d.run(path, r.storeOptions())
	bar.Done()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err = errors.Join(err, db.Close()); err != nil {
			os.Remove(path)
		}
	}()
	report = newDemoReport(path, d)
	if err := db.View(report.look); err != nil {
		return nil, err
	}
	if !r.Output.IsDocument() && r.Output != output.Line && (r.Output != output.Table || r.Quiet) { // the figures alone
		return report, nil
	}
	others, err := r.compare(data)
	report.compare(others)
	return report, err
}
