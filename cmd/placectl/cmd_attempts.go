package main

import (
	"encoding/json"
	"io"

	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func attemptsVerb() *verb {
	return &verb{
		Name:     "attempts",
		Category: "Queue",
		Usage:    "answer a host that executes jobs and reaches the database over ssh",
		Args:     []verbs.Arg{{Name: askSite + "|" + askLaunch + "|" + askLook + "|" + askClaim + "|" + askReport, Kind: verbs.KindWord}},
		Access:   verbs.Reads, // it writes, too, and has neither --dry-run nor --key
		Alone:    true,
		Hidden:   true,
		Run:      (*runner).attempts,
	}
}

func (r *runner) attempts(c *cli.Context) error {
	var q attemptsQuestion
	text, err := io.ReadAll(r.stdin)
	if err == nil {
		err = json.Unmarshal(text, &q)
	}
	what := c.Args().First()
	if err != nil || what == askClaim && q.Claim == nil || what == askReport && q.Result == nil {
		return usage.Errorf("it is for other hosts, which ask on standard input")
	}
	d := &attemptsDB{r, q.Host, q.UID}
	a := new(attemptsAnswer)
	switch what {
	case askSite:
		a, err = d.site()
	case askLaunch:
		err = d.update(func(tx *store.Tx) error { return tx.LaunchBy(store.LaunchWork) })
	case askLook:
		a.View, err = d.Look(r.ctx)
	case askClaim:
		a.Order, err = d.Claim(r.ctx, *q.Claim)
	case askReport:
		err = d.Report(r.ctx, q.Result)
	}
	if err != nil {
		return err
	}
	if a.Order != nil {
		eachText(a.Order, toLatin1)
	}
	return json.NewEncoder(r.stdout).Encode(a)
}
