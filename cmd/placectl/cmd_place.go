package main

import (
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/localorder"
	"github.com/placectl/placectl/cmd/placectl/internal/request"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func placeVerb() *verb {
	return &verb{
		Name:     "place",
		Category: "Placing",
		Usage:    "place a request on nodes, as a job that runs now or is planned",
		May:      store.Anybody,
		Args:     []verbs.Arg{{Name: "SELECT", Kind: verbs.KindRequest}},
		Description: "The job holds its nodes until it is released, also past its walltime. When it does not fit now the\n" +
			"exit status is 3 and the message says when it would; 4 when it never can, and why. A planned job has its\n" +
			"nodes from its start on, and starts by the clock.",
		Flags: append(request.Flags(), request.Bind(), request.OverLimits(),
			&cli.StringFlag{Name: "at", Usage: "start at `TIME`"},
			&cli.BoolFlag{Name: "or-reserve", Usage: "else plan it for the earliest time at which it fits"},
			&cli.StringFlag{Name: "wait", Usage: "try for as long as `D` until it fits now"},
			&cli.BoolFlag{Name: "explain", Usage: "say which way it was placed, and why"}),
		Exclusive: []string{"at or-reserve wait"},
		Access:    verbs.Writes,
		Whole:     true,
		Brief:     true,
		Statuses:  []int{exit.NotNow, exit.Never},
		Example: "placectl place 2:ncpus=4 --place scatter:excl -t 1h\n" +
			"placectl place 2:ncpus=4 --place scatter:excl --or-reserve\n" +
			"job=$(placectl place -l 1:ncpus=1 --place excl --wait 10m -o id)",
		Run: (*runner).place,
		Used: func(r *runner, tx *store.Tx, c *cli.Context, jobs []*store.Job) error {
			return r.printPlacement(tx, jobs[0], c.Bool("explain"))
		},
	}
}

func (r *runner) place(c *cli.Context) error {
	q, err := r.request(c, c.Args().Slice())
	if err != nil {
		return err
	}
	if err := request.Any(c, &q); err != nil {
		return err
	}
	decide, patience, err := r.placeHow(c)
	if err != nil {
		return err
	}
	try := func() error {
		return r.ordered(&q, func() error {
			return r.update(c, func(tx *store.Tx) error {
				if err := localorder.Wanted(tx, &q); err != nil {
					return err
				}
				job, err := decide(tx, q)
				if err != nil {
					return err
				}
				return r.printPlacement(tx, job, c.Bool("explain"))
			})
		})
	}
	return r.keepTrying(patience, try)
}

// placeHow reads which way to place the flags ask for, and for how long to try.
func (r *runner) placeHow(c *cli.Context) (decide func(*store.Tx, placer.Request) (*store.Job, error), patience time.Duration, err error) {
	decide = (*store.Tx).Place
	switch {
	case c.Bool("or-reserve"):
		decide = (*store.Tx).PlaceOrReserve
	case c.IsSet("at"):
		at, err := r.time(c, "at")
		if err != nil {
			return nil, 0, err
		}
		decide = func(tx *store.Tx, q placer.Request) (*store.Job, error) { return tx.PlaceAt(q, notPast(at, tx)) }
	case c.IsSet("wait"):
		patience, err = r.duration(c, "wait")
	}
	return decide, patience, err
}

// startSlack is how far a start may lie behind the clock: "now" was a moment ago when
// the lock is had.
const startSlack = time.Minute

// notPast takes a start that lies a moment back for now.
func notPast(at time.Time, tx *store.Tx) time.Time {
	if now := tx.Now(); at.Before(now) && !at.Before(now.Add(-startSlack)) {
		return now
	}
	return at
}

// printPlacement prints the answer about a job that was placed.
func (r *runner) printPlacement(tx *store.Tx, job *store.Job, explain bool) error {
	columns := "job state start end path policy exec_vnode* nodes chunks* set why* reason* reason_code*"
	if explain {
		columns = strings.Replace(columns, "why*", "why", 1)
	}
	p := r.madeJobs(tx, true, columns)
	p.Print(job)
	return p.Close()
}
