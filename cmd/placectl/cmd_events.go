package main

import (
	"strconv"

	"github.com/placectl/placectl/cmd/placectl/internal/jobref"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func eventsVerb() *verb {
	return &verb{
		Name:        "events",
		Category:    "Queue",
		Usage:       "what has become of jobs, nodes and reservations, and why",
		May:         store.Anybody,
		Description: "A line for each change of state, oldest first. The number of the last one seen is what --since takes.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "since", Usage: "only those after event `ID`"},
			&cli.StringFlag{Name: "job", Usage: "only those of `JOB`"},
			&cli.IntFlag{Name: "last", Usage: "only the last `N`"},
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "go on as more happens, until interrupted"},
		},
		Access:  verbs.Reads,
		Example: "placectl events --last 20\nplacectl events --since 1200 --follow -o jsonl",
		Run:     (*runner).events,
	}
}

var eventFields = output.Fields[*store.Event]{
	{Name: "id", Kind: output.Integer, Value: func(ev *store.Event) any { return ev.ID }},
	{Name: "time", Kind: output.Time, Value: func(ev *store.Event) any { return ev.Time }},
	{Name: "job", Value: func(ev *store.Event) any { return output.OrNil(jobWord(ev.Job)) }},
	{Name: "node", Value: func(ev *store.Event) any { return output.OrNil(ev.Node) }},
	{Name: "event", Value: func(ev *store.Event) any { return ev.Event }},
	{Name: "old", Value: func(ev *store.Event) any { return output.OrNil(ev.Old) }},
	{Name: "new", Value: func(ev *store.Event) any { return output.OrNil(ev.New) }},
	{Name: "reason", Kind: output.Prose, Value: func(ev *store.Event) any { return output.OrNil(ev.Reason) }},
}

func (r *runner) events(c *cli.Context) error {
	since, err := eventSince(c)
	if err != nil {
		return err
	}
	if c.Bool("follow") && r.tx != nil {
		return usage.Of("tx", "--follow cannot be part of a transaction")
	}
	if c.Bool("follow") && (r.Output == output.JSON || r.Output == output.MD) {
		return usagef("--follow never ends, and -o json is one document: use -o jsonl")
	}
	last := c.Int("last")
	if c.IsSet("last") && last < 1 {
		return usagef("--last must be 1 or more")
	}
	if !c.Bool("follow") {
		return r.view(func(tx *store.Tx) error {
			p := r.printer(output.Result{Columns: eventFields.Columns()})
			err := eachEventAfter(tx, c.String("job"), since, last, func(ev *store.Event) error { return eventFields.Print(p, ev) })
			if err != nil {
				return err
			}
			return p.Close()
		})
	}
	return r.followEvents(c.String("job"), since, last)
}

// followEvents prints events as they come. Those that are there already are gathered
// first: whoever reads them slowly keeps nobody waiting.
func (r *runner) followEvents(job string, since uint64, last int) error {
	p := r.printer(output.Result{Columns: eventFields.Columns()})
	for {
		seen := r.fileStamp()
		var list []*store.Event
		err := r.view(func(tx *store.Tx) error {
			return eachEventAfter(tx, job, since, last, func(ev *store.Event) error {
				list = append(list, ev)
				return nil
			})
		})
		if err != nil {
			return err
		}
		for _, ev := range list {
			since = ev.ID
			eventFields.Print(p, ev)
		}
		if err := p.Flush(); err != nil {
			return err
		}
		last = 0
		if err := r.waitForFile(seen); err != nil {
			return err
		}
	}
}

func eventSince(c *cli.Context) (uint64, error) {
	if !c.IsSet("since") {
		return 0, nil
	}
	since, err := strconv.ParseUint(c.String("since"), 10, 64)
	if err != nil {
		return 0, usagef("--since: %s is not the number of an event", text.Quoted(c.String("since")))
	}
	return since, nil
}

// eachEventAfter goes through the events after one, all or the last so many, of a job
// where one is named. What the clock has brought since the file was last written is on
// its way but has no number yet: it is told when somebody writes it down.
func eachEventAfter(tx *store.Tx, job string, since uint64, last int, fn func(*store.Event) error) error {
	only := uint64(0)
	if job != "" {
		id, err := jobref.One(tx, job)
		if err == nil {
			_, err = tx.Job(id)
		}
		if err != nil {
			return err
		}
		only = id
	} else if recorded := tx.RecordedEvents(); last > 0 && recorded > uint64(last) {
		since = max(since, recorded-uint64(last))
	}
	var held []*store.Event // of the last so many
	err := tx.EachEvent(since, func(ev *store.Event) (bool, error) {
		switch {
		case ev.ID > tx.RecordedEvents() || only != 0 && ev.Job != only:
		case last == 0:
			return true, fn(ev)
		default:
			if held = append(held, ev); len(held)-last >= last {
				held = append(held[:0], held[len(held)-last:]...)
			}
		}
		return true, nil
	})
	for _, ev := range held[max(0, len(held)-last):] {
		if err == nil {
			err = fn(ev)
		}
	}
	return err
}
