// Package remote gives hosts that execute attempts access to a database on another host, over ssh: to
// look for work, claim and report.
package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/bytejson"
	"github.com/placectl/placectl/internal/dispatch"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/keeper"
	"github.com/placectl/placectl/internal/launch"
	"github.com/placectl/placectl/internal/work"
)

// A host that cannot see the file asks over ssh what other hosts ask the file directly. There, placectl
// attempts WHAT reads the question from standard input and writes the answer.

// The questions.
const (
	AskSite   = "site"
	AskLaunch = "launch" // say that jobs are launched by work
	AskLook   = "look"
	AskClaim  = "claim"
	AskReport = "report"
	AskBeat   = "beat"  // send a heartbeat
	AskLacks  = "lacks" // which devices of the database a host lacks
	AskHeld   = "held"  // the fate of a claimed attempt
	AskSent   = "sent"  // say that signals of an attempt were sent
	AskLeft   = "left"  // say why an attempt whose command has ended keeps its nodes
	AskOn     = "on"    // where to run a command for a node of a job
)

// Question is a question of a host.
type Question struct {
	Host   string
	UID    int
	ID     string // of the intended database, "" for any
	Claim  *engine.Claim
	Result *engine.Result
	User   string         // the user of the heartbeat
	Boot   string         // the boot of the host
	Found  []devices.Held // for AskLacks

	Job     uint64 // for AskOn, AskHeld, AskSent, AskLeft
	Attempt int
	Node    string
	Nonce   engine.Nonce
	Epoch   string
	Sent    int    // for AskSent
	Why     string // for AskLeft
}

// Answer is the answer to a question.
type Answer struct {
	work.Site
	View  *keeper.View
	Held  *keeper.Held
	Order *keeper.Order
	Lacks []engine.Lack
	Place *dispatch.Place
}

// Database is a database on another host, for processes that execute attempts.
type Database struct {
	Host, Path string    // where the database is
	ID         string    // of the intended database, "" if unknown
	Us         string    // this host's name
	Now        time.Time // the time to give it, zero for its clock
}

// Turn reports and then claims, with a separate question for each.
func (d *Database) Turn(ctx context.Context, q *keeper.Request) (*keeper.Answer, error) {
	a := new(keeper.Answer)
	for _, r := range q.Ended {
		a.Reported = append(a.Reported, d.Report(ctx, r))
	}
	claims := make([]engine.Claim, 0, len(q.Again))
	for _, c := range q.Again {
		claims = append(claims, c.Claim)
	}
	if q.Claim != nil {
		view, err := d.Look(ctx)
		switch {
		case err == nil && (len(view.Health) == 0 || q.Healthy):
			for _, k := range view.Unclaimed {
				if c, ok := q.Claim(k); ok {
					claims = append(claims, c)
				}
			}
		case err != nil && len(q.Ended)+len(q.Again) == 0:
			return nil, err
		}
	}
	for i := range claims {
		answer, err := d.Ask(ctx, AskClaim, Question{Claim: &claims[i]})
		switch {
		case err == nil:
			answer.Order.Nonce = claims[i].Nonce
			a.Orders = append(a.Orders, answer.Order)
		case !keeper.Settled(err) && !errors.Is(err, engine.ErrNotPermitted):
			a.Doubtful = append(a.Doubtful, claims[i].Nonce)
			a.Failed = err
		}
	}
	return a, nil
}

// Report reports how an attempt has ended.
func (d *Database) Report(ctx context.Context, r *engine.Result) error {
	_, err := d.Ask(ctx, AskReport, Question{Result: r})
	return err
}

// Held returns an attempt that was claimed under a nonce, in an epoch of the database.
func (d *Database) Held(ctx context.Context, k keeper.Key, n engine.Nonce, epoch string) (*keeper.Held, error) {
	a, err := d.Ask(ctx, AskHeld, Question{Job: k.Job, Attempt: k.Number, Nonce: n, Epoch: epoch})
	if err == nil && a.Held == nil {
		err = fmt.Errorf("%s: placectl is too old there to answer", d.Host)
	}
	if err != nil {
		return nil, err
	}
	return a.Held, nil
}

// LeftOver says why an attempt whose command has ended keeps its nodes.
func (d *Database) LeftOver(ctx context.Context, k keeper.Key, n engine.Nonce, why string) error {
	_, err := d.Ask(ctx, AskLeft, Question{Job: k.Job, Attempt: k.Number, Nonce: n, Why: why})
	return err
}

// Signalled records that the first sent signals of an attempt were sent.
func (d *Database) Signalled(ctx context.Context, k keeper.Key, n engine.Nonce, sent int) error {
	_, err := d.Ask(ctx, AskSent, Question{Job: k.Job, Attempt: k.Number, Nonce: n, Sent: sent})
	return err
}

// Look returns the work on this host.
func (d *Database) Look(ctx context.Context) (*keeper.View, error) {
	a, err := d.Ask(ctx, AskLook, Question{})
	if err == nil && a.View == nil {
		a.View = new(keeper.View)
	}
	if err != nil {
		return nil, err
	}
	a.View.Hooked = false // hooks are left to hosts that see the file
	return a.View, nil
}

// Ask asks a question and returns the answer.
func (d *Database) Ask(ctx context.Context, what string, q Question) (a *Answer, err error) {
	q.Host, q.UID, q.ID = d.Us, os.Getuid(), d.ID
	return d.asked(ctx, what, q)
}

// asked sends a question over ssh. Conflicts and missing rows are the same errors as from the file. After
// any other error the outcome is unknown.
func (d *Database) asked(ctx context.Context, what string, q Question) (*Answer, error) {
	ssh, err := launch.FindSSH()
	if err != nil {
		return nil, err
	}
	in, err := bytejson.Marshal(q)
	if err != nil {
		return nil, err
	}
	words := []string{"placectl", "--db", d.Path, "-o", "json", "attempts", what}
	if !d.Now.IsZero() {
		words = append(words, "--now", d.Now.Format(time.RFC3339))
	}
	var out, said bytes.Buffer
	status, err := ssh.Run(ctx, d.Host, words, bytes.NewReader(in), &out, &said)
	var lost *launch.Unreached
	if errors.As(err, &lost) {
		lost.Why = strings.TrimSpace(said.String())
	}
	if err != nil {
		return nil, err
	}
	if status != exit.OK {
		return nil, refusal(d.Host, status, said.Bytes())
	}
	a := new(Answer)
	if err := bytejson.Unmarshal(out.Bytes(), a); err != nil {
		return nil, fmt.Errorf("%s: its answer to attempts %s cannot be read: %w", d.Host, what, err)
	}
	return a, nil
}

// refusal returns the error with which a verb elsewhere has ended.
func refusal(host string, status int, said []byte) error {
	var doc struct {
		Error struct {
			Message string
			Reason  exit.Reason
		}
	}
	for line := range bytes.Lines(said) {
		bytejson.Unmarshal(line, &doc) //nolint:errcheck // other lines are not JSON
	}
	why := doc.Error.Message
	if why == "" {
		why = fmt.Sprintf("exit status %d: %s", status, bytes.TrimSpace(said))
	}
	switch doc.Error.Reason {
	case exit.ReasonConflict:
		return fmt.Errorf("%s: %w: %s", host, engine.ErrConflict, why)
	case exit.ReasonNotPermitted:
		return fmt.Errorf("%s: %w: %s", host, engine.ErrNotPermitted, why)
	case exit.ReasonNotFound:
		return fmt.Errorf("%s: %w: %s", host, engine.ErrNotFound, why)
	}
	return fmt.Errorf("%s: %s", host, why)
}

// Write writes an answer for Ask.
func (a *Answer) Write(w io.Writer) error {
	return bytejson.Write(w, a)
}
