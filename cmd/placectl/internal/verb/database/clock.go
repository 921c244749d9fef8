package database

import (
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
)

// Clock declares the verb clock.
func Clock() *session.Verb {
	return &session.Verb{
		Name:     "clock",
		Category: "Store",
		Usage:    "correct the database's clock",
		Verbs: []*session.Verb{
			{Name: "reset", Usage: "set the database's clock back after a wrong clock",
				May: engine.Owners,
				Description: "A database records the time of its last write, and refuses writes with an earlier " +
					"clock (7). A write with a\n" +
					"clock that was ahead locks out all others. This verb sets the time back, by default to now, and " +
					"recomputes\n" +
					"derived data. It lists what began or ended by the wrong clock, as placectl events does. That is " +
					"not undone: what\n" +
					"has begun goes on, for as long as it would have.",
				Flags:  []cli.Flag{&cli.StringFlag{Name: "to", Usage: "set it to `T` instead of now"}},
				Access: verbs.Writes, Alone: true, Run: clockReset,
				Example: "placectl clock reset --dry-run\nplacectl clock reset --to 2026-11-20T10:00:00Z"},
		},
	}
}

func clockReset(r *session.Run, c *cli.Context) error {
	to := r.Instant()
	if c.IsSet("to") {
		var err error
		if to, err = r.Time(c, "to"); err != nil {
			return err
		}
	}
	r.Behind = true
	return r.Update(c, func(tx *engine.Tx) error {
		if !c.IsSet("to") && !tx.Now().After(to) {
			r.Notef("the database stands at %s: there is nothing to reset", tx.Now().UTC().Format(time.RFC3339))
			return printReset(r, tx, &engine.ClockReset{Was: tx.Now(), Now: tx.Now()})
		}
		done, err := tx.ResetClock(to)
		if err != nil {
			return err
		}
		return printReset(r, tx, done)
	})
}

// printReset answers with what started and ended by the wrong clock: a document with both instants,
// or a list.
func printReset(r *session.Run, tx *engine.Tx, done *engine.ClockReset) error {
	return r.Either(func(f output.Format) bool { return f.Traits().Document }, func() error {
		p := r.Printer(
			output.Result{Record: true, Columns: []output.Column{{Name: "was", Kind: output.Time, Required: true},
				{Name: "now", Kind: output.Time, Required: true},
				{Name: "changed", Kind: output.Object, Required: true}}})
		p.Row(done.Was, done.Now, listing.EventObjects(tx, done.Changed))
		return p.Close()
	}, func() error {
		if done.Was != done.Now {
			r.Notef("the database stood at %s, and stands at %s", done.Was.UTC().Format(time.RFC3339),
				done.Now.UTC().Format(time.RFC3339))
		}
		p := r.Printer(output.Result{Columns: listing.EventColumns()})
		print := listing.EventPrinter(p, tx)
		for _, ev := range done.Changed {
			if err := print(ev); err != nil {
				return err
			}
		}
		return p.Close()
	})
}
