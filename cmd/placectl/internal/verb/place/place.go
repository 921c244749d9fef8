// Package place holds the verbs that take nodes at once or at a given time: place, reserve, extend,
// when, explain.
package place

import (
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/localorder"
	"github.com/placectl/placectl/cmd/placectl/internal/request"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
	"github.com/urfave/cli/v2"
)

// Place declares the verb place.
func Place() *session.Verb {
	return &session.Verb{
		Name:     "place",
		Category: "Placing",
		Usage:    "place a request on nodes, now or planned",
		May:      engine.Anybody,
		Args:     []verbs.Arg{{Name: "SELECT", Kind: verbs.KindRequest}},
		Description: "The job holds its nodes until you release it, even past its walltime. If it does not fit " +
			"now, the exit\n" +
			"status is 3 and the message says when it would, or which nodes out of service it needs. If it can " +
			"never fit,\n" +
			"the status is 4 and the message says why. A planned job gets its nodes at its start, by the clock.",
		Flags: append(request.Flags(), request.Bind(), request.OverLimits(),
			&cli.StringFlag{Name: "at", Usage: "start at `TIME`"},
			&cli.BoolFlag{Name: "or-reserve", Usage: "if it does not fit now, plan it for its earliest start"},
			&cli.StringFlag{Name: "wait", Usage: "keep trying for up to `D` until it fits now"},
			&cli.BoolFlag{Name: "explain", Usage: "show how it was placed, and why"}),
		Exclusive: []string{"at or-reserve wait"},
		Access:    verbs.Writes, Waits: true,
		Asks:     true,
		Brief:    true,
		Statuses: map[int]string{exit.NotNow: "does not fit now", exit.Never: "can never fit"},
		Example: "placectl place 2:ncpus=4 --place scatter:excl -t 1h\n" +
			"placectl place 2:ncpus=4 --place scatter:excl --or-reserve\n" +
			"job=$(placectl place -l 1:ncpus=1 --place excl --wait 10m -o id)",
		Run: place,
	}
}

func place(r *session.Run, c *cli.Context) error {
	q, err := r.Request(c, c.Args().Slice())
	if err != nil {
		return err
	}
	if err := request.Any(c, &q); err != nil {
		return err
	}
	decide, patience, err := placeHow(r, c)
	if err != nil {
		return err
	}
	try := func() error {
		return r.Ordered(&q, func() error {
			return r.Update(c, func(tx *engine.Tx) error {
				if err := localorder.Wanted(tx, &q); err != nil {
					return err
				}
				met := ""
				if c.Bool("explain") {
					var err error
					if met, err = bucketsFor(tx, q); err != nil {
						return err
					}
				}
				job, err := decide(tx, q)
				if err != nil {
					return err
				}
				return r.PrintPlacement(tx, job, c.Bool("explain"), met)
			})
		})
	}
	return r.KeepTrying(patience, try)
}

// bucketsFor tells the sizes of the four maps of each bucket that serves a request.
func bucketsFor(tx *engine.Tx, q placer.Request) (string, error) {
	explained, err := tx.Ask().Explain(q, placer.Explain{})
	if err != nil {
		return "", err
	}
	all, err := tx.Ask().Buckets()
	if err != nil {
		return "", err
	}
	text := ""
	for _, b := range all {
		serves := func(chunk placer.ChunkView) bool {
			return slices.ContainsFunc(chunk.Buckets, func(v placer.BucketView) bool { return v.ID == b.ID })
		}
		if slices.ContainsFunc(explained.Chunks, serves) {
			text += fmt.Sprintf("; bucket %d (%s): %d nodes, %d free, %d later, %d busy", b.ID, b.Signature,
				b.Up+b.NotUp, b.Free, b.Later, b.Busy)
		}
	}
	return text, nil
}

// placeHow reads from the flags how to place, and for how long to try.
func placeHow(r *session.Run, c *cli.Context) (decide func(*engine.Tx, placer.Request) (*engine.Job, error),
	patience time.Duration, err error) {
	decide = func(tx *engine.Tx, q placer.Request) (*engine.Job, error) { return tx.Jobs().Place(q) }
	switch {
	case c.Bool("or-reserve"):
		decide = func(tx *engine.Tx, q placer.Request) (*engine.Job, error) { return tx.Jobs().PlaceOrReserve(q) }
	case c.IsSet("at"):
		at, err := r.Time(c, "at")
		if err != nil {
			return nil, 0, err
		}
		decide = func(tx *engine.Tx, q placer.Request) (*engine.Job, error) {
			return tx.Jobs().PlaceAt(q, notPast(at, tx))
		}
	case c.IsSet("wait"):
		patience, err = r.Duration(c, "wait")
	}
	return decide, patience, err
}

// startSlack is how far a start may lie before the clock: waiting for the lock takes time, so
// "now" may be a moment ago.
const startSlack = time.Minute

// notPast replaces a start a moment ago with now.
func notPast(at time.Time, tx *engine.Tx) time.Time {
	if now := tx.Now(); at.Before(now) && !at.Before(now.Add(-startSlack)) {
		return now
	}
	return at
}
