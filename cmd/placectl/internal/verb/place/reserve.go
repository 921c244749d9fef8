package place

import (
	"cmp"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/request"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
	"github.com/urfave/cli/v2"
)

// itsTimes is the help heading of the flags for a reservation's times.
const itsTimes = "its times"

// Reserve declares the verb reserve.
func Reserve() *session.Verb {
	return &session.Verb{
		Name:     "reserve",
		Category: "Placing",
		Usage:    "reserve nodes for some jobs, or from all jobs",
		May:      engine.Operators,
		Args:     []verbs.Arg{{Name: "NAME"}, {Name: "SELECT", Kind: verbs.KindRequest}},
		Description: "Reserves the nodes of --nodes, or chooses nodes once for a request, as for a job of that " +
			"--user, --group and\n" +
			"so on. The reservation begins and ends by the clock. Without --allow no job may use it.\n\n" +
			"--allow admits jobs by user=, group=, account=, class=, queue= or job= (a name, or a number: 12,\n" +
			"12[3], 12[0-4]). Separate several by commas, or repeat the flag; any match admits. A + after one (the\n" +
			"default) draws those jobs to the reserved nodes, a - keeps them off while others fit, and a = " +
			"does neither.\n" +
			"The value * admits anyone: --allow 'user=*' --timelimit 1h.\n" +
			"Reservations with --allow may overlap: all of them must then admit a job.\n\n" +
			"--repeat keeps --depth occurrences ahead, named NAME.1, NAME.2 and so on; names in use are skipped. " +
			"The\n" +
			"first occurrence is the first that the rule gives, at --start or later.",
		Flags: append(request.Flags(),
			&cli.StringFlag{Name: "nodes", Usage: "exactly these nodes, a `LIST` such as n[01-16]"},
			&cli.StringFlag{Name: "start", Usage: "start of the reservation, `TIME` (now)"},
			&cli.StringSliceFlag{Name: "allow", Usage: "admit `WHO`, such as user=ann,group=chem-"},
			&cli.StringFlag{Category: itsTimes, Name: "timelimit", Usage: "limit each job to `D` of it"},
			&cli.StringFlag{Name: "repeat",
				Usage: "repeat by `RULE`: daily, weekly or an RRULE such as FREQ=WEEKLY;BYDAY=MO,WE"},
			&cli.IntFlag{Category: itsTimes, Name: "depth", Usage: "keep `N` occurrences ahead (2)"},
			&cli.StringFlag{Category: itsTimes, Name: "zone",
				Usage: "time zone `Z` of the rule, such as Europe/Berlin (yours)"}),
		Access:   verbs.Writes,
		Statuses: map[int]string{exit.NotNow: "nodes are not free then", exit.Never: "can never fit"},
		Example: "placectl reserve maintenance --nodes n[01-16] --start 'tomorrow 08:00' -t 4h\n" +
			"placectl reserve course 4:ngpus=1 --place excl --start now+1h -t 2h --allow group=students\n" +
			"placectl reserve nightly --nodes n[01-08] --start 22:00 -t 8h --repeat daily --depth 7 --allow " +
			"class=batch",
		Run: reserve,
	}
}

func reserve(r *session.Run, c *cli.Context) error {
	spec, start, err := reserveSpec(r, c)
	if err != nil {
		return err
	}
	return r.Update(c, func(tx *engine.Tx) error {
		spec := spec
		spec.Start = notPast(start, tx)
		if list := c.String("nodes"); list != "" {
			if spec.Nodes, err = tx.Nodes().Resolve(list); err != nil {
				return err
			}
			spec.End = spec.Start.Add(spec.Request.Walltime)
		} else if spec.Repeat.Rule != "" {
			a, err := tx.Ask().Ask(spec.Request)
			if err != nil {
				return err
			}
			spec.End = spec.Start.Add(time.Duration(a.Duration) * time.Second)
		}
		made, err := tx.Reservations().Add(spec)
		if err != nil {
			return err
		}
		return printReservations(r, tx, len(made) == 1, made...)
	})
}

// reserveSpec reads a reservation, except for its nodes, and its start.
func reserveSpec(r *session.Run, c *cli.Context) (engine.ReserveSpec, time.Time, error) {
	spec := engine.ReserveSpec{Name: c.Args().First(), Depth: c.Int("depth")}
	var err error
	if spec.Request, err = r.Request(c, c.Args().Tail()); err != nil {
		return spec, time.Time{}, err
	}
	start, err := startTime(r, c)
	if err != nil {
		return spec, start, err
	}
	if err := checkReserveFlags(c, &spec); err != nil {
		return spec, start, err
	}
	if spec.Access, err = placer.ParseAccess(strings.Join(c.StringSlice("allow"), ",")); err != nil {
		return spec, start, err
	}
	if c.IsSet("timelimit") {
		limit, err := r.Duration(c, "timelimit")
		if err != nil {
			return spec, start, err
		}
		if spec.Limit = limit.Truncate(time.Second); spec.Limit == 0 {
			return spec, start, usage.Errorf("--timelimit must be a second or more")
		}
	}
	if c.IsSet("repeat") {
		spec.Repeat.Rule, spec.Repeat.Zone = c.String("repeat"), cmp.Or(c.String("zone"), r.Zone())
	}
	return spec, start, nil
}

// checkReserveFlags refuses flags that are missing, or that would have no effect beside the others.
func checkReserveFlags(c *cli.Context, spec *engine.ReserveSpec) error {
	nodes := c.String("nodes")
	switch {
	case (nodes == "") == (spec.Request.Select == ""):
		return usage.Errorf("name the nodes with --nodes, or give a select")
	case nodes != "" && spec.Request.Walltime == 0:
		return usage.Errorf("the length is missing: add -t, such as -t 4h")
	case c.IsSet("depth") && spec.Depth < 1:
		return usage.Errorf("--depth must be 1 or more")
	}
	for _, f := range request.Flags() {
		if name := f.Names()[0]; nodes != "" && name != "walltime" && name != "pool" && c.IsSet(name) {
			return usage.Errorf("%s is for automatically chosen nodes, but --nodes names them; --allow says who "+
				"may use them", verbs.Dashed(name))
		}
	}
	for _, name := range []string{"depth", "zone"} {
		if c.IsSet(name) && !c.IsSet("repeat") {
			return usage.Errorf("%s needs --repeat", verbs.Dashed(name))
		}
	}
	for _, name := range []string{"name", "reservation"} {
		if c.IsSet(name) && c.IsSet("repeat") {
			return usage.Errorf("%s excludes --repeat: later occurrences do not keep it", verbs.Dashed(name))
		}
	}
	return nil
}

func startTime(r *session.Run, c *cli.Context) (time.Time, error) {
	if !c.IsSet("start") {
		return r.Instant(), nil
	}
	return r.TimeToCome(c, "start")
}
