// Package ask answers questions about jobs and the cluster, and changes nothing.
package ask

import (
	"time"

	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/placer"
)

// Ask answers questions in a transaction: when something starts, why it waits, how the cluster is
// used.
type Ask struct{ tx *kernel.Tx }

// AskOf returns the questions of a transaction.
func AskOf(tx *kernel.Tx) Ask { return Ask{tx} }

// Ask parses a request and applies the defaults of its queue and of the store. Its chunks are
// read-only.
func (ak Ask) Ask(r placer.Request) (placer.Ask, error) { return plan.AskFor(ak.tx, r) }

// Policy returns the policy of a request: its own, that of its queue, or the store's, in this
// order.
func (ak Ask) Policy(r placer.Request) (placer.Policy, error) { return plan.PolicyOf(ak.tx, r) }

// Route returns the placer's path that serves a request, and the reason.
func (ak Ask) Route(r placer.Request) (placer.Path, string, error) {
	a, err := plan.AskFor(ak.tx, r)
	if err != nil {
		return "", "", err
	}
	snap, err := plan.Snapshot(ak.tx, r.Queue)
	if err != nil {
		return "", "", err
	}
	path, why := snap.Route(a)
	return path, why, snap.Index.Err()
}

// Candidates returns the nodes that could serve a request, or some chunk of it, now, in node order.
// The policy local orders them. The error is a *placer.Refusal if the request can never run.
func (ak Ask) Candidates(r placer.Request) ([]kernel.Candidate, error) {
	q := plan.AskingOf(ak.tx, r)
	a, err := q.Read()
	if err != nil {
		return nil, err
	}
	return q.Candidates(a)
}

// When finds the first count starts of a request from an instant on, and changes nothing.
// These are the earliest start, then each later instant at which nodes are given back and the
// request fits. If a limit would refuse the job, the error is its *placer.Refusal.
func (ak Ask) When(r placer.Request, after time.Time, count int) ([]plan.Opening, error) {
	plans, err := plan.PlansOf(ak.tx).Starts(r, kernel.Unix(after), count)
	if err == nil {
		err = jobs.Admits(ak.tx, r, plans[0].Start > ak.tx.Now)
	}
	if err != nil {
		return nil, err
	}
	return kernel.Converted(plans, plan.OpeningAt), nil
}
