package keeper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/internal/bytejson"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/launch"
)

// The site's own program can say whether this host is healthy. Passes run it before they start
// anything.

// healthFile records that the host was healthy.
const healthFile = "health"

const (
	healthGood  = 60 * time.Second // how long a good result counts
	healthLimit = 10 * time.Second // the program's time limit
)

// health is the content of healthFile.
type health struct {
	Program []string
	At      time.Time
}

// unfit finds out whether attempts may be executed here. If not, it returns a result to report for
// each of them.
func (r *Runner) unfit(ctx context.Context, s *state, v *View) *engine.Result {
	if err := Executes(); err != nil {
		return &engine.Result{Outcome: engine.OutcomeRefused, Blame: engine.BlameNode, Why: err.Error()}
	}
	if len(v.Health) == 0 {
		return nil
	}
	if v.Distrusted != "" && !r.Trust {
		r.notef("the health check is not run because %s: PLACECTL_TRUST=1 allows it", v.Distrusted)
		return nil
	}
	if r.wasHealthy(s, v.Health) {
		return nil
	}
	program := launch.Program{Words: v.Health, Timeout: healthLimit, Whole: true}
	well, said, err := program.Check(ctx, r.Database)
	switch {
	case ctx.Err() != nil:
		return &engine.Result{Outcome: engine.OutcomeNone} // unknown: do nothing
	case err != nil:
		return &engine.Result{Outcome: engine.OutcomeRefused, Blame: engine.BlameNode,
			Why: fmt.Sprintf("the health check %s: %v", v.Health[0], err)}
	case !well:
		return &engine.Result{Outcome: engine.OutcomeRefused, Blame: engine.BlameHealth, Why: said}
	}
	text, err := bytejson.Marshal(health{v.Health, time.Now()})
	if err == nil {
		err = s.epoch.WriteFile(healthFile, text, 0o600)
	}
	if err != nil { // then the program is asked again
		r.notef("%v", err)
	}
	return nil
}

// wasHealthy reports whether the program has recently found the host healthy.
func (r *Runner) wasHealthy(s *state, program []string) bool {
	text, err := s.epoch.ReadFile(healthFile)
	var was health
	if err != nil || bytejson.Unmarshal(text, &was) != nil || !slices.Equal(was.Program, program) {
		return false
	}
	age := time.Since(was.At)
	return age >= 0 && age < healthGood
}

// startFit makes a keeper take the waiting attempts. If this host is not healthy, it reports each of
// them as refused instead.
func (p *Passes) startFit(ctx context.Context, s *state, v *View) error {
	if len(v.Unclaimed) > 0 {
		switch why := p.unfit(ctx, s, v); {
		case why != nil && why.Outcome == engine.OutcomeNone:
			return ctx.Err()
		case why != nil:
			failed := []error{fmt.Errorf("nothing is executed here: %s", why.Why)}
			for _, k := range v.Unclaimed {
				failed = append(failed, p.refuseUnclaimed(ctx, k, *why))
			}
			return errors.Join(failed...)
		}
	}
	return p.haveKept(s, v)
}

// RefuseAll reports for unclaimed attempts that this host cannot execute them, and that the host is to
// blame.
func (r *Runner) RefuseAll(ctx context.Context, attempts []Key, why string) error {
	var failed []error
	for _, k := range attempts {
		failed = append(failed,
			r.refuseUnclaimed(ctx, k, engine.Result{Outcome: engine.OutcomeRefused, Blame: engine.BlameNode, Why: why}))
	}
	return errors.Join(failed...)
}

// refuseUnclaimed reports such a result for an attempt, unless it has been claimed meanwhile.
func (r *Runner) refuseUnclaimed(ctx context.Context, k Key, why engine.Result) error {
	why.Job, why.Attempt, why.Nonce = k.Job, k.Number, drawNonce()
	if err := r.DB.Report(ctx, &why); !Settled(err) {
		return err
	}
	return nil
}

// refusedFor returns the result of an unclaimed attempt that this host cannot execute. Its nonce only
// serves the report.
func refusedFor(key Key, why error) *engine.Result {
	r := key.result(drawNonce(), engine.OutcomeRefused)
	r.Why, r.Blame = why.Error(), engine.BlameNode
	var state *errState
	if errors.As(why, &state) && state.others || usersOwn(why) {
		r.Blame = engine.BlameNobody
	}
	return r
}
