// Package request has the flags for what to place and what a job carries, the same in every verb, and
// reads a request from them.
package request

import (
	"cmp"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
	"github.com/urfave/cli/v2"
)

// Read reads the flags of a request. The select may also be an argument.
func Read(c *cli.Context, args []string) (placer.Request, error) {
	q := placer.Request{Select: c.String("select"), Place: c.String("place"), Name: c.String("name"),
		User:    c.String("user"),
		Account: c.String("account"), Queue: c.String("queue"), Class: c.String("class"), Policy: c.String("policy"),
		Group: c.String("group"), Access: c.String("access"),
		Prefer: preferItems(c.String("prefer")), Exclude: c.String("exclude"), Reservation: c.String("reservation"),
		Bind: c.String("bind"), OverLimits: c.Bool("over-limits")}
	for _, value := range c.StringSlice("pool") {
		for _, one := range text.SplitList(value) {
			a, err := placer.ParsePoolAmount(one)
			if err != nil {
				return q, usage.Errorf("--pool: %w", err)
			}
			q.Pools = append(q.Pools, a)
		}
	}
	switch {
	case len(args) > 1, len(args) == 1 && q.Select != "":
		return q, usage.Errorf("the select is given twice: %q and %q", cmp.Or(q.Select, args[0]), args[len(args)-1])
	case len(args) == 1:
		q.Select = args[0]
	}
	size, err := sized(c)
	switch {
	case err != nil:
		return q, err
	case size != "" && q.Select != "":
		return q, usage.Errorf("-c, -g and -m replace a select, but one is given: %q", q.Select)
	case size != "":
		q.Select = size
		return q, walltime(c, &q)
	}
	if q.Select == "" && (c.IsSet("select") || len(args) == 1) {
		return q, usage.Errorf("the select is empty: write one such as 2:ncpus=4")
	}
	return q, walltime(c, &q)
}

func walltime(c *cli.Context, q *placer.Request) error {
	if !c.IsSet("walltime") {
		return nil
	}
	d, err := text.ParseDuration(c.String("walltime"))
	if err != nil {
		return usage.Errorf("--walltime: %w", err)
	}
	if d <= 0 {
		return usage.Errorf("--walltime must be longer than 0")
	}
	q.Walltime = d
	return nil
}

// Any refuses a command line without a request: one that was forgotten must not take a cpu.
func Any(c *cli.Context, q *placer.Request) error {
	if q.Select != "" || q.Place != "" || len(q.Pools) > 0 {
		return nil
	}
	return usage.Errorf("the request is missing: give a select, such as placectl %s 2:ncpus=4", c.Command.Name)
}

// preferItems splits a preference into its items, which commas separate. Maui's own form PREF(a,b) means the same.
func preferItems(preference string) []string {
	if inside, ok := strings.CutPrefix(preference, "PREF("); ok && strings.HasSuffix(inside, ")") {
		preference = strings.TrimSuffix(inside, ")")
	}
	return text.SplitList(preference)
}
