package ask

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/placectl/placectl/cmd/placectl/internal/demo"
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
)

// demoDB is the demo's database if none is named.
const demoDB = "placectl-demo.db"

// Demo declares the verb demo.
func Demo() *session.Verb {
	return &session.Verb{
		Name:     "demo",
		Category: "Store",
		Usage:    "make a demo database with recorded jobs",
		May:      engine.Anybody,
		Description: "Six days of MetaCentrum's cluster wagap: 68 nodes, and twelve hundred jobs as scheduled here, " +
			"moved in time so that the last day ends now. The failed node, the node with GPUs and a few jobs on " +
			"them are made up. Works offline. Makes ./" + demoDB + ", and replaces an earlier one, or makes " +
			"the file that --db names, and says what to try on it. placectl simulate replays the whole record " +
			"under other policies: bench/wagap-2013.md.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "force", Usage: "replace an earlier demo's file"},
		},
		Access:   verbs.Makes,
		Asks:     true,
		Statuses: map[int]string{exit.Locked: ""},
		Example:  "placectl demo\nplacectl demo --db /tmp/demo.db --force",
		Run:      makeDemo,
	}
}

func makeDemo(r *session.Run, c *cli.Context) error {
	path, named, done, err := demoFile(r, c.Bool(verbs.DryRun))
	if err != nil {
		return err
	}
	defer done()
	if r.Instant().Unix() < int64(demo.Lasts.Seconds()) {
		return usage.Errorf("--now must be at least six days after 1970-01-01")
	}
	return r.KeyedWithin(c, path, func(keep session.Keeper) error {
		if c.Bool("force") || !named {
			if err := removeDemo(path); err != nil {
				return err
			}
		}
		var report *demo.Report
		answer := func() error { return printDemo(r, report) }
		opt := &engine.LoadOptions{Options: *r.StoreOptions(), DryRun: c.Bool(verbs.DryRun)}
		opt.Last = func(tx *engine.Tx, _ engine.Content) (err error) {
			if report, err = demo.Read(tx, path); err != nil || !keep.Kept {
				return err
			}
			return keep.Answer(tx, answer)
		}
		err := demo.Load(path, r.Instant(), opt)
		switch {
		case errors.Is(err, engine.ErrExists):
			return fmt.Errorf("%w; --force makes it again, --db FILE makes another", err)
		case err != nil || keep.Kept:
			return err
		case c.Bool(verbs.DryRun):
			report.DB = ""
		}
		return keep.Answer(nil, answer)
	})
}

// printDemo prints the report. It is not made of rows, so it is recorded in each form that may be
// asked for.
func printDemo(r *session.Run, report *demo.Report) error {
	for i := range output.FormatNames() {
		form := output.Format(i)
		err := r.InForms(func(f output.Format) bool { return f == form }, func() error {
			o := r.OutputOptions()
			o.Format = form
			return report.Print(r.Stdout, o, r.Quiet)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// demoFile returns the path of the demo's database, whether the command line names it, and a
// function to call at the end. PLACECTL_DB and --db count as usual. Without them the demo uses a
// file other than placectl.db, which may be in use.
func demoFile(r *session.Run, dry bool) (path string, named bool, done func(), err error) {
	if dry {
		dir, err := os.MkdirTemp("", "placectl-")
		return filepath.Join(dir, demoDB), false, func() { os.RemoveAll(dir) }, err
	}
	inv, err := r.Verbs.Parse(r.Env.Args)
	if err != nil {
		return "", false, nil, err
	}
	if _, source := verbs.FindGlobal("db").LookUp(inv.Globals, r.Surroundings()); source != "" {
		return r.DB, true, func() {}, nil
	}
	r.DB = demoDB
	return r.DB, false, func() {}, nil
}

// removeDemo removes the file of an earlier demo, but no file that holds anything else: --force
// and a forgotten PLACECTL_DB must not destroy a real database.
func removeDemo(path string) error {
	db, err := engine.Open(path, nil)
	if errors.Is(err, engine.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	made := false
	err = db.View(func(tx *engine.Tx) (err error) {
		made, err = demo.Made(tx)
		return err
	})
	if err != nil {
		return err
	}
	if !made {
		return &engine.Conflict{What: path, Why: "it does not hold an earlier demo, and nothing else is replaced"}
	}
	return os.Remove(path)
}
