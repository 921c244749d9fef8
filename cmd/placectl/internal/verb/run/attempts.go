package run

import (
	"errors"
	"io"

	"github.com/placectl/placectl/cmd/placectl/internal/remote"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/bytejson"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/keeper"
	"github.com/urfave/cli/v2"
)

// Attempts declares the verb attempts.
func Attempts() *session.Verb {
	return &session.Verb{
		Name:     "attempts",
		Category: "Queue",
		Usage:    "answer a remote host that executes jobs",
		May:      engine.Anybody,
		Args: []verbs.Arg{
			{Name: remote.AskSite + "|" + remote.AskLaunch + "|" + remote.AskLook + "|" + remote.AskClaim + "|" +
				remote.AskReport + "|" + remote.AskBeat + "|" + remote.AskLacks + "|" + remote.AskHeld + "|" +
				remote.AskSent + "|" + remote.AskLeft + "|" + remote.AskOn, Kind: verbs.KindWord}},
		Access: verbs.Reads, // it also writes, but has neither --dry-run nor --key
		Alone:  true,
		Hidden: true,
		Run:    listAttempts,
	}
}

func listAttempts(r *session.Run, c *cli.Context) error {
	var q remote.Question
	text, err := io.ReadAll(r.Stdin)
	if err == nil {
		err = bytejson.Unmarshal(text, &q)
	}
	what := c.Args().First()
	if err != nil || what == remote.AskClaim && q.Claim == nil || what == remote.AskReport && q.Result == nil {
		return usage.Errorf("it is for other hosts, which send requests on standard input")
	}
	d := r.Dispatched(q.Host, q.UID)
	d.ID = q.ID
	a := new(remote.Answer)
	switch what {
	case remote.AskSite:
		a = new(remote.Answer)
		a.Site, err = r.Site()
	case remote.AskLaunch:
		err = d.Update(func(tx *engine.Tx) error { return tx.Attempts().LaunchBy(engine.LaunchWork) })
	case remote.AskLacks:
		err = d.Update(func(tx *engine.Tx) (err error) {
			a.Lacks, err = tx.Devices().Detected(q.Host, q.Found)
			return err
		})
	case remote.AskHeld:
		a.Held, err = d.Held(r.Ctx, keeper.Key{Job: q.Job, Number: q.Attempt}, q.Nonce, q.Epoch)
	case remote.AskSent:
		err = d.Signalled(r.Ctx, keeper.Key{Job: q.Job, Number: q.Attempt}, q.Nonce, q.Sent)
	case remote.AskLeft:
		err = d.LeftOver(r.Ctx, keeper.Key{Job: q.Job, Number: q.Attempt}, q.Nonce, q.Why)
	case remote.AskOn:
		a.Place, err = d.On(keeper.Key{Job: q.Job, Number: q.Attempt}, q.Node)
	case remote.AskLook:
		a.View, err = d.Look(r.Ctx)
	case remote.AskClaim:
		a.Order, err = d.Claim(r.Ctx, *q.Claim)
	case remote.AskReport:
		err = d.Report(r.Ctx, q.Result)
	case remote.AskBeat:
		err = d.Beat(q.User, q.Boot)
	}
	if errors.Is(err, engine.ErrNoDatabase) && (what == remote.AskClaim || what == remote.AskReport ||
		what == remote.AskHeld) {
		return errors.New(err.Error()) // not ErrNotFound: the job may come back
	}
	if err != nil {
		return err
	}
	if err = a.Write(r.Stdout); what == remote.AskReport {
		if left := r.Summon(r.DB); left != nil {
			r.Debugf("there is no queue runner: %v", left)
		}
	}
	return err
}
