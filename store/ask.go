package store

import (
	"fmt"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/priorityf"
	"github.com/placectl/placectl/store/internal/row"
)

// Ask reads a request and gives it the defaults of its queue and of the store. Its chunks
// are for reading only.
func (tx *Tx) Ask(r placer.Request) (placer.Ask, error) { return tx.asking(r).whole() }

// askOf is the request of a submitted job: it may be admitted to reservations by its number, and
// has waited since its submission.
func (tx *Tx) askOf(j *row.Job) (placer.Ask, error) {
	a, err := asking{tx: tx, r: j.Request(), who: subject(j), walltime: j.Walltime}.whole()
	a.Since, a.Excluded = j.Submit, append(a.Excluded, j.Excluded...)
	return a, err
}

// asking describes the user and job that a request comes from.
type asking struct {
	tx  *Tx
	r   placer.Request
	who placer.Subject
	// walltime is what it has already, in seconds; 0: the request's, or the default.
	walltime int64
	new      bool // it is not a job's that is there
}

func (tx *Tx) asking(r placer.Request) asking { return asking{tx, r, subjectOf(r), 0, true} }

// MaxName is how many bytes a name may have, of whatever it is.
const MaxName = index.MaxNodeName

func checkNames(r *placer.Request) error {
	for _, n := range []struct{ what, name string }{{"name", r.Name}, {"user", r.User}, {"group", r.Group}, {"account", r.Account},
		{"queue", r.Queue}, {"class", r.Class}, {"reservation", r.Reservation}} {
		if len(n.name) > MaxName {
			return fmt.Errorf("%w %s: it has %d bytes, and a name has at most %d", ErrInvalid, n.what, len(n.name), MaxName)
		}
	}
	return nil
}

// whole reads the request, with the order of the policy local.
func (q asking) whole() (placer.Ask, error) {
	a, err := q.read()
	if err != nil || a.Policy != placer.Local {
		return a, err
	}
	names, err := q.order(a)
	if err != nil {
		return a, err
	}
	a.Ranking, err = rows{q.tx}.numbers(names)
	return a, err
}

// read reads the request without that order.
func (q asking) read() (placer.Ask, error) {
	if q.new {
		if err := checkNames(&q.r); err != nil {
			return placer.Ask{}, err
		}
	}
	tx, r := q.tx, q.r
	defs, err := tx.Resources()
	if err != nil {
		return placer.Ask{}, err
	}
	set, err := tx.settings()
	if err != nil {
		return placer.Ask{}, err
	}
	said, err := tx.loaded.sayings.read(defs, r)
	if err != nil {
		return placer.Ask{}, err
	}
	spec := said.spec
	a := placer.Ask{Spec: spec, Duration: spec.Walltime, User: r.User, Since: tx.now}
	if q.walltime != 0 {
		a.Duration = q.walltime
	}
	if a.Duration == 0 {
		a.Duration = seconds(set.DefaultWalltime)
	}
	if a.Duration < 1 || a.Duration > maxWalltime {
		return placer.Ask{}, fmt.Errorf("%w walltime of %d s: it must be from 1 s to %d s", ErrInvalid, a.Duration, maxWalltime)
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
	if a.Queue, err = q.queue(); err != nil {
		return placer.Ask{}, err
	}
	if err := q.policy(&a, set); err != nil {
		return placer.Ask{}, err
	}
	if a.Grants, err = tx.reservations().grants(q.who, r.Reservation, tx.now); err != nil {
		return a, err
	}
	err = tx.counters().bind(&a, r, q.who.Array)
	return a, err
}

// excluded are the numbers of the nodes that it does not want. A new request names none that is
// not there; a node may go later.
func (q asking) excluded() (numbers []uint32, err error) {
	if q.r.Exclude == "" {
		return nil, nil
	}
	names, err := index.ExpandNodeList(q.r.Exclude)
	if err != nil {
		return nil, fmt.Errorf("%w: nodes to exclude: %w", placer.ErrRequest, err)
	}
	for _, name := range names {
		number, exists, err := q.tx.NodeNumber(name)
		switch {
		case err != nil:
			return nil, err
		case exists:
			numbers = append(numbers, number)
		case q.new:
			return nil, row.Missing("node", name)
		}
	}
	return numbers, nil
}

// requestCache caches the texts of requests that a transaction has read, because callers that place many
// jobs repeat them. Their meaning changes when a resource or a pool comes or goes.
type requestCache struct {
	known map[requestText]*parsedRequest
}

type requestText struct {
	sel, place string
	walltime   time.Duration
	pools      string // besides those in a resource list
}

// parsedRequest is the meaning of a text, for reading only, and its normal form.
type parsedRequest struct {
	spec       placer.Spec
	sel, place string // "" until the first request
}

// maxSayings bounds how many texts are known.
const maxSayings = 1024

// read reads the texts of a request.
func (s *requestCache) read(defs *index.Defs, r placer.Request) (*parsedRequest, error) {
	text := requestText{r.Select, r.Place, r.Walltime, placer.FormatPools(r.Pools)}
	if again := s.known[text]; again != nil {
		return again, nil
	}
	spec, err := placer.Parse(defs, r)
	if err != nil {
		return nil, err
	}
	if s.known == nil || len(s.known) == maxSayings {
		s.known = make(map[requestText]*parsedRequest)
	}
	s.known[text] = &parsedRequest{spec: spec}
	return s.known[text], nil
}

// normal writes a parsed request in normal form.
func (s *requestCache) normal(defs *index.Defs, r placer.Request, spec placer.Spec) (sel, place string) {
	known := s.known[requestText{r.Select, r.Place, r.Walltime, placer.FormatPools(r.Pools)}]
	if known == nil || len(spec.Chunks) == 0 || &known.spec.Chunks[0] != &spec.Chunks[0] {
		return spec.Text(defs), spec.Place.Format(defs) // it was read elsewhere
	}
	if known.sel == "" {
		known.sel, known.place = spec.Text(defs), spec.Place.Format(defs)
	}
	return known.sel, known.place
}

// queue is the queue whose nodes the request is for: its own, if that owns nodes.
func (q asking) queue() (string, error) {
	tx, r := q.tx, q.r
	if r.Queue == "" {
		return "", nil
	}
	if _, err := tx.Queue(r.Queue); err != nil {
		return "", err
	}
	owns, err := tx.queues().ownsNodes(r.Queue)
	if !owns {
		return "", err
	}
	return r.Queue, err
}

// Policy is the policy of a request: its own, else that of its queue, else the
// store's.
func (tx *Tx) Policy(r placer.Request) (placer.Policy, error) {
	p, err := placer.ParsePolicy(r.Policy)
	if err != nil || p != placer.NoPolicy {
		return p, err
	}
	if r.Queue != "" {
		q, err := tx.Queue(r.Queue)
		if err != nil || q.policy() != placer.NoPolicy {
			return q.policy(), err
		}
	}
	set, err := tx.settings()
	if err != nil {
		return p, err
	}
	return set.Policy, nil
}

// policy finds the request's policy, and what that needs besides.
func (q asking) policy(a *placer.Ask, set *Settings) (err error) {
	tx, r := q.tx, q.r
	if a.Policy, err = tx.Policy(r); err != nil {
		return err
	}
	switch {
	case a.Policy == placer.Priority && set.PriorityF != "":
		a.PriorityF, err = priorityf.Parse(tx.loaded.defs, set.PriorityF)
	case a.Policy == placer.Topology && len(set.Topology) == 0:
		return fmt.Errorf("%w: policy topology needs the setting topology: the resources that name a node's switches, e.g. row,rack,switch", ErrInvalid)
	}
	return err
}

// numbers is nodes by number. Names that are no nodes are passed over: the site's program
// may know more than we do.
func (r rows) numbers(names []string) ([]uint32, error) {
	var out []uint32
	for _, name := range names {
		number, ok, err := r.NodeNumber(name)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, number)
		}
	}
	return out, nil
}

// Route tells which of the placer's paths serves a request, and why.
func (tx *Tx) Route(r placer.Request) (placer.Path, string, error) {
	a, err := tx.Ask(r)
	if err != nil {
		return "", "", err
	}
	snap, err := tx.snapshot(r.Queue)
	if err != nil {
		return "", "", err
	}
	path, why := snap.Route(a)
	return path, why, snap.Index.Err()
}

// subjectOf is the subject of a request without a job number, for access lists.
func subjectOf(r placer.Request) placer.Subject {
	return placer.Subject{User: r.User, Group: r.Group, Account: r.Account, Class: r.Class, Queue: r.Queue, JobName: r.Name}
}

// subject is the job as reservations see it.
func subject(j *row.Job) placer.Subject {
	s := subjectOf(j.Request())
	s.Job, s.Array, s.Index = j.ID, j.Array, j.Index
	return s
}

// snapshot is the state on which the placer decides a request of a queue.
func (tx *Tx) snapshot(queue string) (*placer.Snapshot, error) {
	ix, err := tx.index()
	if err != nil {
		return nil, err
	}
	set, err := tx.settings()
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
	return &placer.Snapshot{Index: ix, Calendar: tx.calendar(), Now: tx.now, Releases: tx.loaded.releases.After, Planned: tx.loaded.releases.PlannedFrom, Rows: rows{tx}, Used: tx.Used,
		Rules: placer.Rules{GroupKey: resIDs(ix.Defs(), key), ExplicitSets: set.ExplicitSets, DoNotSpan: set.DoNotSpan,
			ExactFit: set.ExactFit, Access: set.Access, Topology: resIDs(ix.Defs(), set.Topology),
			SetOrder: set.SetOrder, SetDelay: seconds(set.SetDelay)}}, nil
}

// rows lends rows to the placer.
type rows struct{ tx *Tx }

func (r rows) Node(number uint32) (*index.Node, error) {
	k, err := r.tx.loaded.nodes.Kept(number)
	if err != nil {
		return nil, err
	}
	return k.Node, nil
}

func (r rows) Traits(number uint32, n *index.Node) error { return r.tx.loaded.nodes.Traits(number, n) }

func (r rows) NodeNumber(name string) (uint32, bool, error) { return r.tx.NodeNumber(name) }

func (r rows) User(owner uint64) (string, error) {
	if row.IsReservation(owner) {
		return "", nil
	}
	j, err := r.tx.job(owner >> 1)
	if err != nil {
		return "", err
	}
	return j.User, nil
}

// Candidate is a node that a site's own policy may choose.
type Candidate struct {
	*index.Node
	Left []index.Amount // of its consumables, now
	Jobs int            // on it now
}

// Candidates are the nodes that could serve a request, or some chunk of it, now, in node order: the
// policy local orders them. The error is a *placer.Refusal if it can never run.
func (tx *Tx) Candidates(r placer.Request) ([]Candidate, error) {
	q := tx.asking(r)
	a, err := q.read()
	if err != nil {
		return nil, err
	}
	return q.candidates(a)
}

func (q asking) candidates(a placer.Ask) ([]Candidate, error) {
	tx := q.tx
	snap, err := tx.snapshot(q.r.Queue)
	if err != nil {
		return nil, err
	}
	numbers, err := snap.Candidates(a, tx.now)
	if err != nil {
		return nil, err
	}
	out := make([]Candidate, len(numbers))
	for i, number := range numbers {
		n, err := tx.NodeByNumber(number)
		if err != nil {
			return nil, err
		}
		on, err := tx.Occupancy(n)
		if err != nil {
			return nil, err
		}
		out[i] = Candidate{n, tx.Left(n), on.Jobs}
	}
	return out, nil
}

// order asks the site's own policy for its order of nodes, by name.
func (q asking) order(a placer.Ask) ([]string, error) {
	local := q.tx.opt.Local
	if q.r.Ranking != nil || local == nil {
		return q.r.Ranking, nil
	}
	list, err := q.candidates(a)
	if err != nil {
		return nil, err
	}
	return local(list), nil
}
