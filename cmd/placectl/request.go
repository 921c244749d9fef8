package main

import (
	"os"
	"strings"
	"time"
	_ "time/tzdata" // standing reservations name their zone; not every machine has zone files

	"github.com/placectl/placectl/placer"
	"github.com/urfave/cli/v2"
)

// requestFlags are the flags of a request, the same in every verb that takes
// one.
func requestFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "select", Aliases: []string{"l"}, Usage: "what to place: a select `S` such as 2:ncpus=4:mem=8gb, or a PBS resource list"},
		&cli.StringFlag{Name: "place", Usage: "how: `P` is free|pack|scatter|vscatter, then :excl|:shared|:exclhost, then :group=RES"},
		&cli.StringFlag{Name: "walltime", Aliases: []string{"t"}, Usage: "for how long, `D` such as 1h30m (the setting default_walltime)"},
		&cli.StringFlag{Name: "name", Usage: "the job's `NAME`"},
		&cli.StringFlag{Name: "user", Usage: "for `USER` (you)"},
		&cli.StringFlag{Name: "group", Usage: "of `GROUP`"},
		&cli.StringFlag{Name: "account", Usage: "on `ACCOUNT`"},
		&cli.StringFlag{Name: "queue", Usage: "in `QUEUE`"},
		&cli.StringFlag{Name: "class", Usage: "in `CLASS`"},
		&cli.StringFlag{Name: "policy", Usage: "which nodes first, `POLICY`: firstavailable, lastavailable, priority, cpuload, minresource, contiguous, maxbalance, fastest, local, tetris or topology (that of the queue or the store)"},
		&cli.StringFlag{Name: "prefer", Usage: "nodes that policy priority is to like: features and conditions, `F,mem>=64gb`"},
		&cli.StringFlag{Name: "access", Usage: "whose jobs may be on its nodes besides: `A` is shared, singleuser, singlejob or singletask"},
		&cli.StringSliceFlag{Name: "pool", Usage: "so much of pools of the cluster, once for all chunks: `NAME=N`"},
		&cli.StringFlag{Name: "reservation", Usage: "inside reservation `NAME`, or not at all"},
	}
}

// overLimitsFlag is the flag of the verbs whose requests are jobs, or would be: reservations are
// under no limits.
func overLimitsFlag() cli.Flag {
	return &cli.BoolFlag{Name: "over-limits", Usage: "no limit keeps it from starting; it counts all the same"}
}

// bindFlag is the flag of the verbs whose jobs get devices.
func bindFlag() cli.Flag {
	return &cli.StringFlag{Name: "bind", Usage: "which devices of a node that names them: `HOW` is compact (evenly from few groups), tight (one group after the other) or scatter (evenly from all) (the setting bind)"}
}

// request reads the request flags; the select may be an argument as well.
func (r *runner) request(c *cli.Context, args []string) (placer.Request, error) {
	q := placer.Request{Select: c.String("select"), Place: c.String("place"), Name: c.String("name"), User: c.String("user"),
		Account: c.String("account"), Queue: c.String("queue"), Class: c.String("class"), Policy: c.String("policy"),
		Group: c.String("group"), Access: c.String("access"),
		Prefer: splitList(c.String("prefer")), Reservation: c.String("reservation"), Bind: c.String("bind"), OverLimits: c.Bool("over-limits")}
	for _, text := range c.StringSlice("pool") {
		for _, one := range splitList(text) {
			a, err := placer.ParsePoolAmount(one)
			if err != nil {
				return q, usagef("--pool: %w", err)
			}
			q.Pools = append(q.Pools, a)
		}
	}
	switch {
	case len(args) > 1, len(args) == 1 && q.Select != "":
		return q, usagef("the select is given twice: %q and %q", firstOf(q.Select, args[0]), args[len(args)-1])
	case len(args) == 1:
		q.Select = args[0]
	}
	if q.Select == "" && (c.IsSet("select") || len(args) == 1) {
		return q, usagef("the select is empty: write one such as 2:ncpus=4")
	}
	if c.IsSet("walltime") {
		d, err := r.duration(c, "walltime")
		if err != nil {
			return q, err
		}
		if d <= 0 {
			return q, usagef("--walltime must be longer than 0")
		}
		q.Walltime = d
	}
	if q.User == "" {
		q.User = r.userName()
	}
	return q, nil
}

// anyRequest refuses a command line that does not say what is to be placed: what is
// forgotten must not take a cpu.
func anyRequest(c *cli.Context, q *placer.Request) error {
	if q.Select != "" || q.Place != "" || len(q.Pools) > 0 {
		return nil
	}
	return usagef("what is asked for is missing: give a select, such as placectl %s 2:ncpus=4", c.Command.Name)
}

func firstOf(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

// zone is the name of the user's time zone, for what has to be computed by its
// clocks later and elsewhere; "" for UTC, or when it has no name here.
func (r *runner) zone() string {
	if name := r.loc.String(); name != "Local" {
		return known(name)
	}
	if tz := r.getenv("TZ"); tz != "" {
		return known(strings.TrimPrefix(tz, ":"))
	}
	link, err := os.Readlink("/etc/localtime")
	if err != nil {
		return ""
	}
	_, name, _ := strings.Cut(link, "zoneinfo/")
	return known(name)
}

// known is a name that stands for a time zone, "" for any other.
func known(name string) string {
	if _, err := time.LoadLocation(name); err != nil || name == "UTC" {
		return ""
	}
	return name
}
