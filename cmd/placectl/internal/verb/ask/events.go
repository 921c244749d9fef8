package ask

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/placectl/placectl/cmd/placectl/internal/daily"
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/jobref"
	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Events declares the verb events.
func Events() *session.Verb {
	return &session.Verb{
		Name:     "events",
		Category: "Queue",
		Usage:    "list events of jobs, nodes and reservations",
		May:      engine.Anybody,
		Description: "Prints changes of state, oldest first. In a table alike ones of one command share a line, with " +
			"the number of\n" +
			"the last. Give --since the number of the last event you have seen. If later events have been dropped " +
			"(the\n" +
			"setting keep_ended), the exit status is 7.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "since", Usage: "only events after `ID`"},
			&cli.StringFlag{Name: "job", Usage: "only events of `JOB`"},
			&cli.IntFlag{Name: "last", Usage: "only the last `N` events"},
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "wait for more events, until interrupted"},
		},
		Access: verbs.Reads, Waits: true,
		Statuses: map[int]string{exit.Conflict: "events after --since were dropped"},
		Example:  "placectl events --last 20\nplacectl events --since 1200 --follow -o jsonl",
		Run:      events,
	}
}

func events(r *session.Run, c *cli.Context) error {
	since, err := eventSince(c)
	if err != nil {
		return err
	}
	if c.Bool("follow") && r.Tx != nil {
		return usage.Of("tx", "--follow cannot be part of a transaction")
	}
	if c.Bool("follow") && r.Output == output.JSON {
		return usage.Errorf("--follow never ends, but -o json is one document: use -o jsonl")
	}
	last := c.Int("last")
	if c.IsSet("last") && last < 1 {
		return usage.Errorf("--last must be 1 or more")
	}
	which := eventQuery{names: r.Names, job: c.String("job"), since: since, asked: c.IsSet("since"), last: last}
	res := output.Result{Columns: listing.EventColumns()}
	if r.Audience().Table { // in words
		res.Columns = daily.HappeningFields.Columns()
	}
	if !c.Bool("follow") {
		return r.View(func(tx *engine.Tx) error {
			p := r.Printer(res)
			if err := printEvents(r, p, tx, which.each); err != nil {
				return err
			}
			return p.Close()
		})
	}
	return followEvents(r, res, which)
}

// printEvents prints the events of each as rows.
func printEvents(r *session.Run, p *output.Printer, tx *engine.Tx, each func(*engine.Tx,
	func(*engine.Event) error) error,
) error {
	if !r.Audience().Table {
		return each(tx, listing.EventPrinter(p, tx))
	}
	lines := &daily.Happenings{Tx: tx, Each: func(h *daily.Happening) error {
		return daily.HappeningFields.Print(p, h)
	}}
	return errors.Join(each(tx, lines.Add), lines.End())
}

// followEvents prints events as they come. It first gathers those that are already there, so that
// a slow reader holds no lock.
func followEvents(r *session.Run, res output.Result, which eventQuery) error {
	p := r.Printer(res)
	for {
		seen, next := r.FileStamp(), which
		rec := new(output.Recording)
		err := r.View(func(tx *engine.Tx) error {
			return printEvents(r, output.RecordTo(rec, r.OutputOptions(), res), tx,
				func(tx *engine.Tx, print func(*engine.Event) error) error {
					return which.each(tx, func(ev *engine.Event) error {
						next.since, next.asked = ev.ID, true
						return print(ev)
					})
				})
		})
		if err != nil {
			return err
		}
		if err := errors.Join(rec.PrintRows(p), p.Flush()); err != nil {
			return err
		}
		which = next
		which.last = 0
		if err := r.WaitForFile(seen); err != nil {
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
		return 0, usage.Errorf("--since: %s is not the number of an event", text.Quoted(c.String("since")))
	}
	return since, nil
}

// eventQuery selects events.
type eventQuery struct {
	names func(*engine.Tx) jobref.Names
	job   string // only events of this job or array, "" for all
	since uint64 // only events after this one
	asked bool   // a job was named
	last  int    // only the last few, 0 for all
}

// each calls fn for the selected events. Events due by the clock since the last write have no
// number yet, and are told once a writer records them.
func (q eventQuery) each(tx *engine.Tx, fn func(*engine.Event) error) error {
	var only map[uint64]bool
	since, last := q.since, q.last
	if err := q.kept(tx); err != nil {
		return err
	}
	if q.job != "" {
		only = make(map[uint64]bool)
		err := q.names(tx).Each([]string{q.job}, func(j *engine.Job, _ bool) error { only[j.ID] = true; return nil })
		if err != nil {
			return err
		}
	} else if recorded := tx.RecordedEvents(); last > 0 && recorded > uint64(last) {
		since = max(since, recorded-uint64(last))
	}
	var held []*engine.Event // the last few
	err := tx.EachEvent(since, func(ev *engine.Event) (bool, error) {
		switch {
		case ev.ID > tx.RecordedEvents() || only != nil && !only[ev.Job]:
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

// kept fails if events after the named one have been dropped: a program that continues from there
// would miss them.
func (q eventQuery) kept(tx *engine.Tx) error {
	if !q.asked {
		return nil
	}
	oldest := tx.RecordedEvents() + 1
	err := tx.EachEvent(0, func(ev *engine.Event) (bool, error) {
		oldest = min(oldest, ev.ID)
		return false, nil
	})
	if err != nil || q.since+1 >= oldest {
		return err
	}
	err = fmt.Errorf("%w: events after %d and up to %d were dropped; start again with --since %d", exit.ErrGone,
		q.since, oldest-1, oldest-1)
	return &exit.Detailed{Err: err, Key: "oldest", Value: strconv.AppendUint(nil, oldest, 10)}
}
