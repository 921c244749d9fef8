package plan

import (
	"cmp"
	"fmt"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/priorityf"
)

// AskFor parses a request and applies the defaults of its queue and of the store. Its chunks are
// read-only.
func AskFor(tx *kernel.Tx, r placer.Request) (placer.Ask, error) { return AskingOf(tx, r).whole() }

// AskOfJob returns the request of a submitted job.
func AskOfJob(tx *kernel.Tx, j *row.Job) (placer.Ask, error) { return AskingOfJob(tx, j).whole() }

// Asking is a request before it is parsed.
type Asking struct {
	Tx  *kernel.Tx
	R   placer.Request
	job *row.Job // whose request it is; nil for a new one
}

func AskingOf(tx *kernel.Tx, r placer.Request) Asking { return Asking{tx, r, nil} }

// AskingOfJob describes the request of a submitted job. Reservations may admit it by its number, it
// has waited since its submission, and it avoids the nodes that could not execute it.
func AskingOfJob(tx *kernel.Tx, j *row.Job) Asking { return Asking{tx, j.Request(), j} }

// CheckNames refuses a request with names that are too long to store.
func CheckNames(r *placer.Request) error {
	for _, n := range []struct{ what, name string }{{"name", r.Name}, {"user", r.User}, {"group", r.Group},
		{"account", r.Account},
		{"queue", r.Queue}, {"class", r.Class}, {"reservation", r.Reservation}} {
		if len(n.name) > index.MaxNodeName {
			return fmt.Errorf("%w %s: it has %d bytes, and a name has at most %d", row.ErrInvalid, n.what, len(n.name),
				index.MaxNodeName)
		}
	}
	return nil
}

// whole parses the request, including the order of the policy local.
func (q Asking) whole() (placer.Ask, error) {
	a, err := q.Read()
	if err != nil || a.Policy != placer.Local {
		return a, err
	}
	names, err := q.order(a)
	if err != nil {
		return a, err
	}
	a.Ranking, err = kernel.SnapshotRows(q.Tx).Numbers(names)
	return a, err
}

// Read parses the request without that order.
func (q Asking) Read() (placer.Ask, error) {
	if q.job == nil {
		if err := CheckNames(&q.R); err != nil {
			return placer.Ask{}, err
		}
	}
	tx, r := q.Tx, q.R
	defs, err := tx.Resources()
	if err != nil {
		return placer.Ask{}, err
	}
	set, err := tx.Settings()
	if err != nil {
		return placer.Ask{}, err
	}
	said, err := tx.Loaded.Sayings.Read(defs, r)
	if err != nil {
		return placer.Ask{}, err
	}
	spec := said.Spec
	a := placer.Ask{Spec: spec, Duration: spec.Walltime, User: r.User, Since: tx.Now}
	who := placer.Entrant{Names: r.Whose(), Name: r.Name}
	if j := q.job; j != nil {
		who, a.Since, a.Duration = Entrant(j), j.Submit, cmp.Or(j.Walltime, a.Duration)
	}
	if a.Duration == 0 {
		a.Duration = kernel.Seconds(set.DefaultWalltime)
	}
	if a.Duration < 1 || a.Duration > kernel.MaxWalltime {
		return placer.Ask{}, fmt.Errorf("%w walltime of %d s: it must be from 1 s to %d s", row.ErrInvalid, a.Duration,
			kernel.MaxWalltime)
	}
	if a.Access, err = index.ParseAccess(r.Access); err != nil {
		return placer.Ask{}, fmt.Errorf("%w: %w", placer.ErrRequest, err)
	}
	if a.Bind, err = devices.ParsePolicy(r.Bind); err != nil {
		return placer.Ask{}, fmt.Errorf("%w: %w", placer.ErrRequest, err)
	}
	if a.Prefer, err = placer.ParsePrefer(defs, r.Prefer); err != nil {
		return placer.Ask{}, err
	}
	if a.Excluded, err = q.excluded(); err != nil {
		return placer.Ask{}, err
	}
	if q.job != nil {
		a.Excluded = append(a.Excluded, q.job.Excluded...)
	}
	if a.Queue, err = q.queue(); err != nil {
		return placer.Ask{}, err
	}
	if err := q.policy(&a, set); err != nil {
		return placer.Ask{}, err
	}
	if a.Grants, err = tx.Reservations().Grants(who, r.Reservation, tx.Now); err != nil {
		return a, err
	}
	err = bind(tx, &a, r, who.Array)
	return a, err
}

// excluded returns the numbers of the nodes that the request excludes. A new request must name
// existing nodes; a node may be removed later.
func (q Asking) excluded() (numbers []uint32, err error) {
	if q.R.Exclude == "" {
		return nil, nil
	}
	names, err := index.ExpandNodeList(q.R.Exclude)
	if err != nil {
		return nil, fmt.Errorf("%w: nodes to exclude: %w", placer.ErrRequest, err)
	}
	for _, name := range names {
		number, exists, err := q.Tx.NodeNumber(name)
		switch {
		case err != nil:
			return nil, err
		case exists:
			numbers = append(numbers, number)
		case q.job == nil:
			return nil, row.Missing("node", name)
		}
	}
	return numbers, nil
}

// queue returns the queue whose nodes the request is for: its own, if that owns nodes.
func (q Asking) queue() (string, error) {
	tx, r := q.Tx, q.R
	if r.Queue == "" {
		return "", nil
	}
	if _, err := tx.Queue(r.Queue); err != nil {
		return "", err
	}
	owns, err := tx.Queues().OwnsNodes(r.Queue)
	if !owns {
		return "", err
	}
	return r.Queue, err
}

// PolicyOf returns the policy of a request: its own, that of its queue, or the store's, in
// this order.
func PolicyOf(tx *kernel.Tx, r placer.Request) (placer.Policy, error) {
	p, err := placer.ParsePolicy(r.Policy)
	if err != nil || p != placer.NoPolicy {
		return p, err
	}
	if r.Queue != "" {
		q, err := tx.Queue(r.Queue)
		if err != nil || q.Placing() != placer.NoPolicy {
			return q.Placing(), err
		}
	}
	set, err := tx.Settings()
	if err != nil {
		return p, err
	}
	return set.Policy, nil
}

// policy sets the request's policy, and the data that the policy needs.
func (q Asking) policy(a *placer.Ask, set *kernel.Settings) (err error) {
	tx, r := q.Tx, q.R
	if a.Policy, err = PolicyOf(tx, r); err != nil {
		return err
	}
	switch {
	case a.Policy == placer.Priority && set.PriorityF != "":
		a.PriorityF, err = priorityf.Parse(tx.Loaded.Defs, set.PriorityF)
	case a.Policy == placer.Topology && len(set.Topology) == 0:
		return fmt.Errorf("%w: policy topology needs the setting topology: the resources that name a node's "+
			"switches, e.g. row,rack,switch", row.ErrInvalid)
	}
	return err
}

// Entrant returns the job as access lists of reservations see it.
func Entrant(j *row.Job) placer.Entrant {
	return placer.Entrant{Names: j.Whose(), Name: j.Name, Job: j.ID, Array: j.Array, Index: j.Index}
}

// Snapshot returns the state for decisions of the placer about a queue's requests.
func Snapshot(tx *kernel.Tx, queue string) (*placer.Snapshot, error) {
	ix, err := tx.Index()
	if err != nil {
		return nil, err
	}
	set, err := tx.Settings()
	if err != nil {
		return nil, err
	}
	key := set.GroupKey
	if queue != "" {
		q, err := tx.Queue(queue)
		if err != nil {
			return nil, err
		}
		if len(q.GroupKey) > 0 {
			key = q.GroupKey
		}
	}
	return &placer.Snapshot{Index: ix, Calendar: tx.Calendar(), Now: tx.Now, Releases: tx.Loaded.Releases.After,
		Planned: tx.Loaded.Releases.PlannedFrom, Rows: kernel.SnapshotRows(tx), Absent: tx.Absent, Used: tx.Used,
		Rules: placer.Rules{GroupKey: kernel.ResIDs(ix.Defs(), key), ExplicitSets: set.ExplicitSets,
			DoNotSpan: set.DoNotSpan,
			ExactFit:  set.ExactFit, Access: set.Access, Topology: kernel.ResIDs(ix.Defs(), set.Topology),
			SetOrder: set.SetOrder, SetDelay: kernel.Seconds(set.SetDelay)}}, nil
}

func (q Asking) Candidates(a placer.Ask) ([]kernel.Candidate, error) {
	tx := q.Tx
	snap, err := Snapshot(tx, q.R.Queue)
	if err != nil {
		return nil, err
	}
	numbers, err := snap.Candidates(a, tx.Now)
	if err != nil {
		return nil, err
	}
	out := make([]kernel.Candidate, len(numbers))
	for i, number := range numbers {
		n, err := tx.NodeByNumber(number)
		if err != nil {
			return nil, err
		}
		on, err := tx.Occupancy(n)
		if err != nil {
			return nil, err
		}
		out[i] = kernel.Candidate{Node: n, Left: tx.Left(n), Jobs: on.Jobs}
	}
	return out, nil
}

// order asks the site's own policy for its order of nodes, by name.
func (q Asking) order(a placer.Ask) ([]string, error) {
	local := q.Tx.Opt.Local
	if q.R.Ranking != nil || local == nil {
		return q.R.Ranking, nil
	}
	list, err := q.Candidates(a)
	if err != nil {
		return nil, err
	}
	return local(list), nil
}
