package place

import (
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/localorder"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/request"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
	"github.com/urfave/cli/v2"
)

// When declares the verb when.
func When() *session.Verb {
	return &session.Verb{
		Name:     "when",
		Category: "Placing",
		Usage:    "show when a request or a waiting job could start",
		May:      engine.Anybody,
		Args:     []verbs.Arg{{Name: "SELECT", Kind: verbs.KindRequest}},
		Description: "--job plays the queue forward: no more jobs come, and each runs as long as jobs like it did. A " +
			"planned job starts no later than planned, unless one before it, which waited for its begin or for " +
			"others, comes in between. The exit status is 3 if the start is unknown: the job is held or late, or " +
			"waits for something of unknown end, such as nodes out of service. It is 4 if the job can never run.\n\n" +
			"start is the likely start: half of such jobs start sooner. 90 % of such jobs have started " +
			"by safe. asked is the start if all jobs run as long as they asked for. In JSON, record is how many of " +
			"the last jobs started by their safe start: 28/30.",
		Flags: append(append(request.Flags(), request.Size()...), request.OverLimits(),
			&cli.StringFlag{Name: "job", Usage: "show the start of waiting job `N`"},
			&cli.IntFlag{Name: "count", Value: 1,
				Usage: "show `N` starts: the earliest, then each later time at which nodes come free"}),
		Access:   verbs.Reads,
		Revives:  true,
		Brief:    true,
		Statuses: map[int]string{exit.NotNow: "start unknown", exit.Never: "can never run", exit.Conflict: ""},
		Example: "placectl when 16:ncpus=8 --place scatter:excl -t 4h\nplacectl when -l 2 --place excl --count " +
			"3\nplacectl when --job 12",
		Run: when,
	}
}

func when(r *session.Run, c *cli.Context) error {
	q, err := r.Request(c, c.Args().Slice())
	if err != nil {
		return err
	}
	if c.IsSet("job") {
		if c.IsSet("count") || givesRequest(c) {
			return usage.Errorf("--job excludes a request and --count")
		}
		return whenJob(r, c)
	}
	if err := request.Any(c, &q); err != nil {
		return err
	}
	if c.Int("count") < 1 {
		return usage.Errorf("--count must be at least 1")
	}
	return r.Ordered(&q, func() error { return printStarts(r, q, c.Int("count")) })
}

// printStarts prints the first starts of a request.
func printStarts(r *session.Run, q placer.Request, count int) error {
	return r.View(func(tx *engine.Tx) error {
		if err := localorder.Wanted(tx, &q); err != nil {
			return err
		}
		found, err := tx.Ask().When(q, tx.Now(), count)
		if err != nil {
			return err
		}
		starts := make([]*startView, len(found))
		for i, start := range found {
			if starts[i], err = viewStart(r, tx, start); err != nil {
				return err
			}
		}
		return session.PrintAll(r, startFields, starts...)
	})
}

// startView is a start as shown in answers.
type startView struct {
	engine.Opening
	now   time.Time
	nodes []string
	waits []engine.Owner
	guess uint64
	of    engine.Forecast // of a job
	known *engine.Forecasts
}

var startFields = output.Fields[*startView]{
	{Name: "start", Kind: output.Time, Value: func(v *startView) any { return v.Start }},
	{Name: "end", Kind: output.Time, Value: func(v *startView) any { return v.End }},
	{Name: "wait", Kind: output.Duration, Value: func(v *startView) any { return v.Start.Sub(v.now) }},
	{Name: "nodes", Kind: output.List, Nodes: true, Value: func(v *startView) any { return v.nodes }},
	{Name: "waits_for", Kind: output.Object, Value: func(v *startView) any { return listing.Owners(v.waits) }},
	{Name: "guess", Kind: output.Integer, Detail: true, Value: func(v *startView) any { return output.OrNil(v.guess) }},
	{Name: "set", Value: func(v *startView) any { return output.OrNil(v.Plan.Set) }},
}

// expectedFields are startFields for a job, and the assumptions behind its start.
var expectedFields = append(slices.Clip(startFields), output.Fields[*startView]{
	{Name: "safe", Kind: output.Time, Value: func(v *startView) any { return output.OrNil(v.of.Safe) }},
	{Name: "asked", Kind: output.Time, Value: func(v *startView) any { return output.OrNil(v.of.Asked) }},
	{Name: "as_of", Kind: output.Time, Detail: true, Value: func(v *startView) any {
		if v.known == nil || v.of.Likely.IsZero() {
			return nil
		}
		return v.known.AsOf
	}},
	{Name: "record", Detail: true, Value: func(v *startView) any {
		if v.known == nil || v.of.Likely.IsZero() {
			return nil
		}
		kept, of := v.known.Record()
		return fmt.Sprintf("%d/%d", kept, of)
	}},
}...)

func viewStart(r *session.Run, tx *engine.Tx, start engine.Opening) (v *startView, err error) {
	v = &startView{Opening: start, now: tx.Now()}
	if v.nodes, err = tx.Nodes().Names(start.Plan.NodeNumbers()); err != nil {
		return nil, err
	}
	if v.waits, err = tx.Ask().WaitsFor(start.Plan); err == nil {
		v.guess, err = tx.Ask().Guess(start.Plan)
	}
	if v.guess != 0 && !r.Audience().Document {
		r.Notef("the start at %s is a guess: job %d is overdue", text.AppendLocal(nil, start.Start.Unix(), r.Loc),
			v.guess)
	}
	return v, err
}

// whenJob prints the expected start of a job.
func whenJob(r *session.Run, c *cli.Context) error {
	return r.View(func(tx *engine.Tx) error {
		id, err := r.Names(tx).Next(c.String("job"))
		if err != nil {
			return err
		}
		expected, err := tx.Ask().WhenJob(id)
		if err != nil {
			return err
		}
		start, err := viewStart(r, tx, expected.Opening)
		if err != nil {
			return err
		}
		start.of = expected.Forecast
		if start.known, err = tx.Cycle().Forecasts(); err != nil {
			return err
		}
		return session.PrintAll(r, expectedFields, start)
	})
}
