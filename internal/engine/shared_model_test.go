package engine

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/recur"
	"github.com/placectl/placectl/placer/subject"
	"pgregory.net/rapid"
)

// life is a random life of a database with shared nodes, reservations with access lists, and
// standing ones. It has no oracle for placements, which package placer tests; it verifies from the
// rows alone what holds at every moment.
type life struct {
	metrics *Metrics // as they were last
	t       *rapid.T
	clock   *clock
	dbs     [2]*DB // opened for every transaction, and kept open
	users   []string
	plain   bool             // no node has its own rules
	local   bool             // no request has its own policy
	given   map[string]int64 // the reservations that users have asked for by name, and when they end

	collects  bool // steps are drawn that one transaction takes together
	collected []func(tx *Tx) (any, error)
	together  string // what they do
}

// errCollected is what a step gets that will be run later, together with others.
var errCollected = errors.New("the step is taken later")

// lifeNames are names for reservations; some are also used by occurrences of s.
var lifeNames = []string{"a", "b", "s", "s.1", "s.2", "s.3", "s.2.1"}

func newLife(t *rapid.T, dir string) *life { return newLifeOf(t, dir, false) }

func newLifeOf(t *rapid.T, dir string, plain bool) *life {
	l := &life{t: t, clock: &clock{t: 1_000_000}, users: []string{"ann", "bob"}, plain: plain,
		given: make(map[string]int64)}
	for i := range l.dbs {
		opt := &Options{Now: l.clock.now, Beside: i == 1}
		path := filepath.Join(dir, fmt.Sprintf("%d.db", i))
		if err := Create(path, opt, func(tx *Tx) error { return l.nodes(tx) }); err != nil {
			t.Fatal(err)
		}
		var err error
		if l.dbs[i], err = Open(path, opt); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// nodes makes the same nodes in both databases.
func (l *life) nodes(tx *Tx) error {
	for i := range 5 {
		n := &index.Node{Name: fmt.Sprintf("n%d", i)}
		n.Set(index.NCPUs, index.Value{Num: int64(2 + i%3)})
		n.Set(index.Mem, index.Value{Num: 8 << 20})
		if i == 4 && !l.plain {
			n.Access = index.AccessSingleUser
		}
		if i == 3 && !l.plain {
			n.Sharing = index.ForceExcl
		}
		if _, err := tx.Nodes().Put(n); err != nil {
			return err
		}
	}
	return nil
}

// both does the same on both databases, and the answers must be equal.
func (l *life) both(what string, fn func(tx *Tx) (any, error)) error {
	if l.collects {
		l.collected = append(l.collected, fn)
		l.together += "; " + what
		return errCollected
	}
	var answers [2]string
	var errs [2]error
	for i, db := range l.dbs {
		errs[i] = db.Update(func(tx *Tx) error {
			v, err := fn(tx)
			answers[i] = fmt.Sprintf("%+v", v)
			return err
		})
	}
	if answers[0] != answers[1] || fmt.Sprint(errs[0]) != fmt.Sprint(errs[1]) {
		l.t.Fatalf("%s\nopened anew: %s, %v\nkept open:   %s, %v", what, answers[0], errs[0], answers[1], errs[1])
	}
	var c *Conflict
	if errors.As(errs[0], &c) && c.What == "the plan" {
		l.t.Fatalf("%s: the placer's plan does not hold: %v", what, errs[0])
	}
	if err := errs[0]; err != nil && !errors.Is(err, placer.ErrNever) && !errors.Is(err, placer.ErrNotNow) &&
		!errors.Is(err, ErrConflict) && !errors.Is(err, ErrNotFound) {
		l.t.Fatalf("%s: %v", what, err)
	}
	return errs[0]
}

func (l *life) request(t *rapid.T) placer.Request {
	r := placer.Request{
		Select: rapid.SampledFrom([]string{"1:ncpus=1", "2:ncpus=1:mem=1gb", "1:ncpus=2+1:ncpus=1:mem=5gb",
			"3:ncpus=1", "1:ncpus=0:mem=1gb"}).Draw(t, "select"),
		Place: rapid.SampledFrom([]string{"free", "scatter", "pack", "excl", "scatter:excl", "shared",
			"vscatter"}).Draw(t, "place"),
		Walltime: time.Duration(rapid.IntRange(1, 1500).Draw(t, "walltime")) * time.Second,
		User:     rapid.SampledFrom(l.users).Draw(t, "user"),
		Access:   rapid.SampledFrom([]string{"", "", "", "singleuser", "singlejob", "singletask"}).Draw(t, "access"),
		Policy: rapid.SampledFrom([]string{"", "", "lastavailable", "minresource", "cpuload", "priority", "tetris",
			"fastest",
			"contiguous", "maxbalance"}).Draw(t, "policy"),
		Reservation: rapid.SampledFrom([]string{"", "", "", "a", "s", "s.2"}).Draw(t, "reservation"),
		Name:        rapid.SampledFrom([]string{"", "", "s.1", "2"}).Draw(t, "job's name"),
	}
	if l.local {
		r.Policy = ""
	}
	return r
}

func (l *life) place(t *rapid.T) {
	r := l.request(t)
	how := rapid.IntRange(0, 2).Draw(t, "how")
	at := l.clock.t + int64(rapid.IntRange(0, 1500).Draw(t, "at"))
	_ = l.both(fmt.Sprintf("place %+v %d", r, how), func(tx *Tx) (any, error) {
		switch how {
		case 0:
			return jobOrNil(tx.Jobs().Place(r))
		case 1:
			return jobOrNil(tx.Jobs().PlaceAt(r, kernel.Instant(at)))
		}
		return jobOrNil(tx.Jobs().PlaceOrReserve(r))
	})
}

func jobOrNil(j *Job, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return *j, nil
}

func (l *life) end(t *rapid.T) {
	id := uint64(rapid.IntRange(1, 20).Draw(t, "job"))
	extend := int64(rapid.IntRange(0, 3000).Draw(t, "walltime"))
	_ = l.both(fmt.Sprintf("end %d %d", id, extend), func(tx *Tx) (any, error) {
		if extend > 1500 {
			return jobOrNil(tx.Jobs().Extend(id, kernel.Lasting(extend)))
		}
		return jobOrNil(tx.Jobs().Release(id))
	})
}

func (l *life) reserve(t *rapid.T) {
	s := ReserveSpec{Name: rapid.SampledFrom(lifeNames).Draw(t, "name"),
		Start: kernel.Instant(l.clock.t + int64(rapid.IntRange(0, 1500).Draw(t, "start"))),
		Limit: kernel.Lasting(int64(rapid.SampledFrom([]int{0, 0, 300}).Draw(t, "limit")))}
	length := kernel.Lasting(int64(rapid.IntRange(1, 1500).Draw(t, "length")))
	s.End = s.Start.Add(length)
	for _, u := range l.users {
		if rapid.Bool().Draw(t, "allow "+u) {
			a := placer.Affinity(rapid.IntRange(-1, 1).Draw(t, "affinity"))
			s.Access = append(s.Access, placer.AccessEntry{Subject: subject.User.Of(u), Affinity: a})
		}
	}
	if rapid.Bool().Draw(t, "by request") {
		s.Request = l.request(t)
		s.Request.Reservation = ""
		s.Request.Walltime = length
	} else {
		s.Nodes = rapid.SliceOfNDistinct(rapid.Uint32Range(0, 4), 1, 3, rapid.ID[uint32]).Draw(t, "nodes")
	}
	if s.Name == "s" || s.Name == "s.2" && rapid.Bool().Draw(t, "stands") {
		s.Repeat, s.Depth = recur.Repeat{Rule: "FREQ=HOURLY"}, rapid.IntRange(1, 3).Draw(t, "depth")
	}
	end := s.End
	err := l.both(fmt.Sprintf("reserve %+v", s), func(tx *Tx) (any, error) {
		made, err := tx.Reservations().Add(s)
		if err == nil {
			end = made[0].End
		}
		return len(made), err
	})
	if err == nil && s.Repeat.Rule == "" {
		l.given[s.Name] = kernel.Unix(end)
	}
}

func (l *life) unreserve(t *rapid.T) {
	name := rapid.SampledFrom(lifeNames).Draw(t, "name")
	err := l.both("unreserve "+name, func(tx *Tx) (any, error) {
		gone, err := tx.Reservations().Remove(name)
		return len(gone), err
	})
	if err == nil {
		delete(l.given, name)
	}
}

// forget drops reservations that steps without a visible answer have changed.
func (l *life) forget() {
	err := l.dbs[0].View(func(tx *Tx) error {
		for name, end := range l.given {
			if r, err := tx.Reservations().Get(name); err != nil || r.Series != "" || kernel.Unix(r.End) != end {
				delete(l.given, name)
			}
		}
		return nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
}

// asGiven verifies that what users have reserved is theirs until it ends, whatever was made
// ahead by the clock and whatever repeats beside it.
func (l *life) asGiven(tx *Tx) error {
	for name, end := range l.given {
		if end <= l.clock.t {
			delete(l.given, name)
			continue
		}
		if r, err := tx.Reservations().Get(name); err != nil || r.Series != "" || kernel.Unix(r.End) != end {
			l.t.Fatalf("reservation %s, until %d, is %+v: %v", name, end, r, err)
		}
	}
	seen := make(map[string]bool)
	err := tx.Reservations().Each(func(r *Reservation) error { seen[r.Name] = true; return nil })
	if err != nil {
		return err
	}
	return tx.Reservations().EachStanding(func(s *Standing) error {
		if seen[s.Name] {
			l.t.Fatalf("%s is a reservation, and one that repeats", s.Name)
		}
		return nil
	})
}

func (l *life) down(t *rapid.T) {
	n := rapid.Uint32Range(0, 4).Draw(t, "node")
	state := index.State(rapid.IntRange(0, 1).Draw(t, "state"))
	_ = l.both(fmt.Sprintf("node %d %s", n, state), func(tx *Tx) (any, error) {
		return nil, tx.Nodes().SetState(n, state, "")
	})
}

// pass lets time pass; a writer then settles what the clock did.
func (l *life) pass(t *rapid.T) {
	l.clock.t += int64(rapid.IntRange(0, 2500).Draw(t, "seconds"))
	_ = l.both("settle", func(tx *Tx) (any, error) { return nil, tx.Config().Set("default_walltime", "3600") })
}

// holds verifies what must be true at every moment.
func (l *life) holds(t *rapid.T) {
	l.metrics = metricsAgree(t, l.dbs[0], l.metrics)
	for i, db := range l.dbs {
		if err := db.Check(func(f string) { l.t.Errorf("database %d: %s", i, f) }); err != nil {
			l.t.Fatal(err)
		}
	}
	err := l.dbs[0].View(func(tx *Tx) error {
		stretches := make(map[uint32][]kernel.Span)
		err := tx.k.EachJob(func(j *row.Job) error {
			spans, err := tx.k.Allocations().Spans(j)
			for _, s := range spans {
				stretches[s.Node] = append(stretches[s.Node], s)
			}
			return err
		}, JobReserved, JobRunning)
		if err != nil {
			return err
		}
		if err := l.asGiven(tx); err != nil {
			return err
		}
		if err := l.plannedHolds(tx); err != nil {
			return err
		}
		return tx.Nodes().Each(func(n *index.Node) error { return l.nodeHolds(tx, n, stretches[n.Number]) })
	})
	if err != nil {
		l.t.Fatal(err)
	}
}

// plannedHolds: whatever will begin on a node is listed by its time (policy lastavailable uses
// that).
func (l *life) plannedHolds(tx *Tx) error {
	type beginning struct {
		at   int64
		node uint32
	}
	listed := make(map[beginning]bool)
	for t, nodes := range tx.k.Loaded.Releases.PlannedFrom(tx.k.Now) {
		for _, node := range nodes {
			listed[beginning{t, node}] = true
		}
	}
	return tx.Nodes().Each(func(n *index.Node) error {
		for _, b := range tx.k.Calendar().At(n.Number) {
			if b.Start > tx.k.Now && !listed[beginning{b.Start, n.Number}] {
				l.t.Errorf("what begins on %s at %d is not listed by time", n.Name, b.Start)
			}
		}
		return nil
	})
}

// nodeHolds sums up, instant by instant, what jobs take of a node according to their rows.
func (l *life) nodeHolds(tx *Tx, n *index.Node, list []kernel.Span) error {
	for _, at := range list {
		taken := make(map[uint16]int64)
		whole, live := 0, 0
		for _, s := range list {
			if s.Start > at.Start || s.End <= at.Start {
				continue
			}
			live++
			if s.Use == nil {
				whole++
				continue
			}
			for _, a := range s.Use.Amounts {
				taken[a.Quantity] += a.N
			}
		}
		if whole > 1 || whole == 1 && live > 1 {
			l.t.Fatalf("node %s at %d: %d jobs, %d of them have it whole", n.Name, at.Start, live, whole)
		}
		for q, amount := range taken {
			if have, _ := n.Get(index.ResID(q)); amount > have.Num {
				l.t.Fatalf("node %s at %d: %d of %d taken", n.Name, at.Start, amount, have.Num)
			}
		}
		if err := l.allowed(tx, n, at); err != nil {
			return err
		}
	}
	return nil
}

// allowed verifies that a job is in no reservation that does not admit it. A reservation that
// begins while an overdue job is there does not count.
func (l *life) allowed(tx *Tx, n *index.Node, s kernel.Span) error {
	if s.End <= tx.k.Now {
		return nil
	}
	j, err := tx.k.Job(s.Owner >> 1)
	if err != nil {
		return err
	}
	return tx.k.Reservations().Each(func(r *row.Reservation) error {
		i := slices.Index(r.Nodes, n.Number)
		if i < 0 || r.Uses != nil || r.Start >= s.End || r.End <= s.Start || r.End <= tx.k.Now {
			return nil
		}
		_, in := r.Access.Affinity(plan.Entrant(j))
		if !in || r.Limit > 0 && min(s.End, r.End)-max(s.Start, r.Start) > r.Limit {
			l.t.Fatalf("job %d is on node %s from %d to %d, in reservation %s from %d to %d, which does not let it in",
				j.ID, n.Name, s.Start, s.End, r.Name, r.Start, r.End)
		}
		return nil
	})
}

func TestSharedLife(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		l := newLife(rt, t.TempDir())
		rt.Repeat(map[string]func(*rapid.T){
			"place": l.place, "place more": l.place, "end": l.end, "reserve": l.reserve, "unreserve": l.unreserve,
			"down": l.down, "pass": l.pass, "": l.holds,
		})
		for _, db := range l.dbs {
			db.Close()
		}
	})
}
