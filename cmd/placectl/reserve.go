package main

import (
	"slices"
	"time"

	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func reserveCommand(r *runner) *cli.Command {
	return r.verb(&cli.Command{
		Name:      "reserve",
		Category:  "Placing",
		Usage:     "keep whole nodes from jobs for a stretch of time",
		ArgsUsage: "NAME",
		Description: "Either exactly these nodes (--nodes), or as many as a request asks for, chosen once. It begins and ends\n" +
			"by the clock.",
		Flags: append(requestFlags(),
			&cli.StringFlag{Name: "nodes", Usage: "exactly these, a node `LIST` such as n[01-16]"},
			&cli.StringFlag{Name: "start", Usage: "from `TIME` on (now)"},
			dryRunFlag()),
		Action: r.reserve,
	}, about{
		Example: "placectl reserve maintenance --nodes n[01-16] --start 'tomorrow 08:00' -t 4h\nplacectl reserve demo -l 4:ngpus=1 --place excl --start now+1h -t 2h",
		Exits:   append([]int{exitNotNow, exitNever}, writeExits...),
	})
}

func (r *runner) reserve(c *cli.Context) error {
	if err := wantArgs(c, 1, 1); err != nil {
		return err
	}
	q, err := r.request(c, nil)
	if err != nil {
		return err
	}
	start, err := r.startTime(c)
	if err != nil {
		return err
	}
	nodes := c.String("nodes")
	if (nodes == "") == (q.Select == "") {
		return usagef(verbName(c), "name the nodes with --nodes, or say with --select how many of what kind")
	}
	if nodes != "" && q.Walltime == 0 {
		return usagef(verbName(c), "for how long? add -t, e.g. -t 4h")
	}
	var res *store.Reservation
	var names []string
	err = r.update(c, func(tx *store.Tx) error {
		at := notPast(start, tx)
		if nodes == "" {
			res, err = tx.Reserve(c.Args().First(), q, at)
		} else {
			res, err = reserveList(tx, c.Args().First(), nodes, at, q.Walltime)
		}
		if err != nil {
			return err
		}
		names, err = tx.NodeNames(res.Nodes)
		return err
	})
	if err != nil {
		return err
	}
	return r.printReservation(res, names)
}

func reserveList(tx *store.Tx, name, list string, at int64, d time.Duration) (*store.Reservation, error) {
	numbers, err := tx.ResolveNodes(list)
	if err != nil {
		return nil, err
	}
	return tx.ReserveNodes(name, numbers, at, at+int64(d/time.Second))
}

func (r *runner) startTime(c *cli.Context) (time.Time, error) {
	if !c.IsSet("start") {
		return r.now(), nil
	}
	return r.time(c, "start")
}

func reservationColumns() []column {
	return []column{{Name: "name"}, {Name: "state"}, {Name: "start", Kind: when}, {Name: "end", Kind: when},
		{Name: "nodes", Kind: list, Nodes: true}}
}

func (r *runner) printReservation(res *store.Reservation, names []string) error {
	p := r.printer(result{Record: true, Columns: reservationColumns()})
	p.row(res.Name, res.State(r.now().Unix()), res.Start, res.End, names)
	return p.close()
}

func unreserveCommand(r *runner) *cli.Command {
	return r.verb(&cli.Command{
		Name:      "unreserve",
		Category:  "Placing",
		Usage:     "give a reservation's nodes back and forget it",
		ArgsUsage: "NAME",
		Flags:     []cli.Flag{dryRunFlag()},
		Action:    r.unreserve,
	}, about{Example: "placectl unreserve maintenance", Exits: writeExits})
}

func (r *runner) unreserve(c *cli.Context) error {
	if err := wantArgs(c, 1, 1); err != nil {
		return err
	}
	var res *store.Reservation
	var names []string
	err := r.update(c, func(tx *store.Tx) (err error) {
		if res, err = tx.Unreserve(c.Args().First()); err != nil {
			return err
		}
		names, err = tx.NodeNames(res.Nodes)
		return err
	})
	if err != nil {
		return err
	}
	return r.printReservation(res, names)
}

func reservationCommand(r *runner) *cli.Command {
	return r.verb(&cli.Command{
		Name:     "reservation",
		Category: "Placing",
		Usage:    "what is reserved",
		Subcommands: []*cli.Command{
			r.verb(&cli.Command{Name: "list", Usage: "reservations that have not ended", Action: r.reservationList,
				Flags: []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "those that have ended, too"}}},
				about{Example: "placectl reservation list", Exits: readExits}),
			r.verb(&cli.Command{Name: "show", Usage: "one reservation", ArgsUsage: "NAME", Action: r.reservationShow},
				about{Example: "placectl reservation show maintenance", Exits: readExits}),
		},
	}, about{Example: "placectl reservation list", Exits: readExits})
}

func (r *runner) reservationList(c *cli.Context) error {
	if err := wantArgs(c, 0, 0); err != nil {
		return err
	}
	return r.view(func(tx *store.Tx) error {
		var all []*store.Reservation
		err := tx.EachReservation(func(res *store.Reservation) error {
			if c.Bool("all") || res.State(tx.Now()) != "ended" {
				all = append(all, res)
			}
			return nil
		})
		if err != nil {
			return err
		}
		slices.SortStableFunc(all, func(a, b *store.Reservation) int { return int(a.Start - b.Start) })
		p := r.printer(result{Columns: reservationColumns()})
		for _, res := range all {
			names, err := tx.NodeNames(res.Nodes)
			if err != nil {
				return err
			}
			p.row(res.Name, res.State(tx.Now()), res.Start, res.End, names)
		}
		return p.close()
	})
}

func (r *runner) reservationShow(c *cli.Context) error {
	if err := wantArgs(c, 1, 1); err != nil {
		return err
	}
	return r.view(func(tx *store.Tx) error {
		res, err := tx.Reservation(c.Args().First())
		if err != nil {
			return err
		}
		names, err := tx.NodeNames(res.Nodes)
		if err != nil {
			return err
		}
		return r.printReservation(res, names)
	})
}
