package ask

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/priorityf"
	"github.com/placectl/placectl/timeline"
)

// Explained is an explanation of a request or a job, with facts that only the store knows.
type Explained struct {
	Request placer.Request
	Ask     placer.Ask
	// Explanation is nil for a job that runs, is planned or has ended: the job itself holds
	// the facts. For a waiting job, it explains placing the job now, as if nothing else kept
	// it from starting. It is nil if the request can no longer be parsed.
	*placer.Explanation
	Job      *kernel.Job    // nil for a request
	Queue    *Queueing      // of a job without nodes: what it waits for; nil for others
	Why      string         // for a job: why it took its path; "" if no longer known
	WaitsFor []kernel.Owner // the jobs and reservations whose end the start waits for
	Guess    uint64         // the overdue job that the start rests on, which makes it a guess; 0 if there is none
	Ahead    []Ahead        // for a planned job: who has its nodes before it

	Priority float64          // for a planned job from the queue, as in Queueing
	Terms    []priorityf.Term // the terms that Priority adds up
	// for a waiting job: the jobs that would be stopped for it, if WouldStop was called; nil from ExplainJob
	Stops []queue.MadeWay
}

// Ahead is a job or reservation that has nodes of a planned job before that job starts.
type Ahead struct {
	kernel.Owner
	Nodes   []uint32
	Until   time.Time // when the last of them is expected back
	Overdue bool
}

// Explain says why a request starts now or does not, the role of each node, and what would help. It
// also tries other queues, and no reservation.
func (ak Ask) Explain(r placer.Request, o placer.Explain) (*Explained, error) {
	a, err := plan.AskFor(ak.tx, r)
	if err != nil {
		return nil, err
	}
	out, err := explainer{ak.tx, o}.request(r, a)
	if err != nil || out.Verdict == placer.NeverStarts {
		return out, err
	}
	var refused *placer.Refusal
	if err := jobs.Admits(ak.tx, r, out.Verdict != placer.StartsNow); errors.As(err, &refused) {
		out.Verdict, out.Refusal, out.Plan, out.WaitsFor, out.Guess = placer.StartsLater, refused, nil, nil, 0
	} else if err != nil {
		return nil, err
	}
	return out, nil
}

// explainer builds an explanation.
type explainer struct {
	tx  *kernel.Tx
	how placer.Explain
}

func (e explainer) request(r placer.Request, a placer.Ask) (*Explained, error) {
	tx := e.tx
	snap, err := plan.Snapshot(tx, r.Queue)
	if err != nil {
		return nil, err
	}
	if e.how.Otherwise, err = e.otherwise(r, a, snap); err != nil {
		return nil, err
	}
	out := &Explained{Request: r, Ask: a}
	if out.Explanation, err = snap.Explain(a, e.how); err != nil {
		return nil, err
	}
	if out.Plan != nil {
		err = out.waitsFor(tx, out.Plan)
	}
	return out, err
}

// waitsFor fills in what the start of a plan waits for.
func (x *Explained) waitsFor(tx *kernel.Tx, plan *placer.Plan) (err error) {
	if x.WaitsFor, err = AskOf(tx).WaitsFor(plan); err == nil && plan.Start > tx.Now {
		x.Guess, err = AskOf(tx).Guess(plan)
	}
	return err
}

// otherwise returns variants of the request: without its reservation, and on every other queue.
// Queues with the same effect are tried once.
func (e explainer) otherwise(r placer.Request, a placer.Ask, snap *placer.Snapshot) ([]placer.Otherwise, error) {
	tx := e.tx
	var out []placer.Otherwise
	tried := map[string]bool{onQueue(a, snap): true}
	add := func(change, to string, r placer.Request) error {
		b, err := plan.AskFor(tx, r)
		if err != nil {
			return kernel.PassOver(err)
		}
		b.Duration, b.Since = a.Duration, a.Since
		other, err := plan.Snapshot(tx, r.Queue)
		if key := onQueue(b, other); err == nil && !tried[key] {
			tried[key] = true
			out = append(out, placer.Otherwise{Change: change, To: to, Ask: b, In: other})
		}
		return err
	}
	queues, err := tx.AllQueues()
	if err != nil {
		return nil, err
	}
	names := []string{""}
	for _, q := range queues {
		names = append(names, q.Name)
	}
	for _, name := range names {
		other := r
		other.Queue = name
		if err := add("queue", name, other); err != nil {
			return nil, err
		}
	}
	if r.Reservation != "" {
		other := r
		other.Reservation = ""
		err = add("reservation", "", other)
	}
	return out, err
}

// onQueue returns, as text, the part of a request that its queue decides.
func onQueue(a placer.Ask, snap *placer.Snapshot) string {
	if snap == nil {
		return ""
	}
	key := fmt.Sprintf("%q %v %s", a.Queue, snap.Rules.GroupKey, a.Policy)
	for _, g := range a.Grants {
		key += fmt.Sprintf(" %d%+d", g.Owner, g.Affinity)
	}
	return key
}

// ahead lists the owners that have a planned job's nodes before it, until its start or, if they are
// overdue, past it.
func (e explainer) ahead(j *row.Job) ([]Ahead, error) {
	tx := e.tx
	shared := make(map[uint32]bool)
	for _, c := range j.Chunks {
		for _, n := range c.Nodes {
			shared[n.Node] = n.Shared
		}
	}
	c := tx.Calendar()
	at := make(map[uint64]int)
	var out []Ahead
	for _, node := range j.AllNodes() {
		for _, b := range c.At(node) {
			end := c.End(b)
			overdue := b.Held && b.End <= tx.Now
			if b.Owner == row.JobOwner(j.ID) || b.Start >= j.Start || end <= tx.Now ||
				end > j.Start && !(overdue && blocks(b, shared[node])) {
				continue
			}
			i, known := at[b.Owner]
			if !known {
				who, err := tx.Owner(b)
				if err != nil {
					return nil, err
				}
				i = len(out)
				at[b.Owner] = i
				out = append(out, Ahead{Owner: who})
			}
			out[i].Nodes = append(out[i].Nodes, node)
			out[i].Overdue = out[i].Overdue || overdue
			if end := kernel.Instant(end); end.After(out[i].Until) {
				out[i].Until = end
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Ahead) int { return b.Until.Compare(a.Until) })
	return out, c.Err()
}

// blocks reports whether a stretch keeps a job off the node altogether, whether or not the job
// would share the node.
func blocks(b timeline.Busy, shared bool) bool { return b.Use == nil || !shared }
