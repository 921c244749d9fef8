package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/subject"
	"pgregory.net/rapid"
)

// promise is a database in which requests that are refused for now are repeated at the start
// that the refusal names.
type promise struct {
	t     *rapid.T
	clock *clock
	db    *DB
	names int // of reservations
}

func newPromise(t *rapid.T, dir string) *promise {
	p := &promise{t: t, clock: &clock{t: 1_000_000}}
	opt := &Options{Now: p.clock.now}
	if err := Create(dir+"/promise.db", opt, p.cluster); err != nil {
		t.Fatal(err)
	}
	var err error
	if p.db, err = Open(dir+"/promise.db", opt); err != nil {
		t.Fatal(err)
	}
	return p
}

// cluster makes nodes of several kinds and two colours, some of them in a queue of their own,
// sharing hosts, or down.
func (p *promise) cluster(tx *Tx) error {
	t := p.t
	err := errors.Join(tx.Queues().Add(Queue{Name: "q"}),
		tx.Config().Set("chunk_fit", oneOf(t, "chunk fit", "first", "first", "exact")))
	err = errors.Join(err, tx.Config().AddResource(index.Def{Name: "color", Type: index.String}))
	defs, errDefs := tx.Config().Resources()
	if err = errors.Join(err, errDefs); err != nil {
		return err
	}
	color, _ := defs.Lookup("color")
	if rapid.Bool().Draw(t, "grouped") {
		err = errors.Join(err, tx.Config().Set("group_key", "color"),
			tx.Config().Set("do_not_span_sets", oneOf(t, "do not span", "false", "true")),
			tx.Config().Set("only_explicit_sets", oneOf(t, "explicit", "false", "true")))
	}
	odd := rapid.Bool().Draw(t, "odd nodes")
	for i := range rapid.IntRange(2, 7).Draw(t, "nodes") {
		n := &index.Node{Name: fmt.Sprintf("n%d", i), Priority: oneOf[int32](t, "priority", 0, 0, 0, 5)}
		n.Set(index.NCPUs, index.Value{Num: int64(oneOf(t, "ncpus", 4, 1, 2, 4))})
		n.Set(index.Mem, index.Value{Num: int64(oneOf(t, "mem", 1, 4, 8)) << 20})
		if word := oneOf(t, "color", "", "r", "g"); word != "" {
			n.Set(color.ID, index.Value{Str: word})
		}
		if rapid.IntRange(0, 7).Draw(t, "of a queue") == 0 {
			n.Queue = "q"
		}
		if rapid.IntRange(0, 7).Draw(t, "down") == 0 {
			n.State = index.Down
		}
		if odd && rapid.Bool().Draw(t, "odd") {
			n.Sharing = oneOf(t, "sharing", index.DefaultExcl, index.ForceExcl, index.IgnoreExcl, index.ForceExclHost)
			n.Access = oneOf(t, "access", index.AccessShared, index.AccessSingleUser, index.AccessSingleTask)
		}
		if odd && rapid.IntRange(0, 2).Draw(t, "host") == 0 {
			n.Set(index.Host, index.Value{Str: oneOf(t, "its host", "h", "n0")})
		}
		_, errNode := tx.Nodes().Put(n)
		err = errors.Join(err, errNode)
	}
	return err
}

func oneOf[T any](t *rapid.T, label string, list ...T) T {
	return rapid.SampledFrom(list).Draw(t, label)
}

// selection draws chunks. Half the time those for which most nodes are enough come first, so
// that first fit in their order fails.
func (p *promise) selection() string {
	t := p.t
	if rapid.Bool().Draw(t, "least first") {
		return fmt.Sprintf("%d:ncpus=1+%d:ncpus=%d", rapid.IntRange(1, 3).Draw(t, "many"),
			rapid.IntRange(1, 2).Draw(t, "few"), oneOf(t, "cpus", 2, 4))
	}
	var chunks []string
	for range rapid.IntRange(1, 3).Draw(t, "chunks") {
		chunks = append(chunks, fmt.Sprintf("%d:ncpus=%d", rapid.IntRange(1, 3).Draw(t, "count"),
			oneOf(t, "cpus", 1, 1, 2, 4))+
			oneOf(t, "and", "", "", "", ":mem=3gb", ":mem=8gb", ":color=r"))
	}
	return strings.Join(chunks, "+")
}

func (p *promise) request() placer.Request {
	t := p.t
	r := placer.Request{Select: p.selection(),
		Place: oneOf(t, "place", "free", "scatter", "scatter", "pack", "vscatter", "shared") + oneOf(t, "group", "",
			"", "", ":group=color"),
		Walltime: time.Duration(rapid.IntRange(2, 40).Draw(t, "walltime")) * time.Second,
		User:     oneOf(t, "user", "ann", "bob"), Queue: oneOf(t, "queue", "", "", "", "", "q"),
		Access: oneOf(t, "who else", "", "", "", "singleuser", "singlejob", "singletask"),
		Policy: oneOf(t, "policy", "", "", "lastavailable", "minresource", "priority", "tetris", "fastest",
			"maxbalance", "contiguous"),
	}
	if r.Place != "shared" && r.Place != "shared:group=color" {
		r.Place += oneOf(t, "sharing", "", ":excl", ":exclhost")
	}
	if p.names > 0 {
		r.Reservation = oneOf(t, "reservation", "", "", "",
			fmt.Sprintf("r%d", rapid.IntRange(1, p.names).Draw(t, "which")))
	}
	return r
}

// update runs one transaction; a refusal is no failure.
func (p *promise) update(fn func(tx *Tx) error) error {
	err := p.db.Update(fn)
	if err != nil && !kernel.IsRefusal(err) {
		p.t.Fatal(err)
	}
	return err
}

// fill places a job or makes a reservation.
func (p *promise) fill() {
	t := p.t
	r := p.request()
	if rapid.IntRange(0, 4).Draw(t, "reserve") == 0 {
		s := ReserveSpec{Name: fmt.Sprintf("r%d", p.names+1),
			Start: kernel.Instant(p.clock.t + int64(rapid.IntRange(0, 40).Draw(t, "start"))),
			Limit: kernel.Lasting(oneOf[int64](t, "limit", 0, 0, 10)), Request: r}
		s.Request.Reservation = ""
		for _, user := range []string{"ann", "bob"} {
			if rapid.Bool().Draw(t, "let in") {
				s.Access = append(s.Access, placer.AccessEntry{Subject: subject.User.Of(user),
					Affinity: placer.Affinity(rapid.IntRange(-1, 1).Draw(t, "affinity"))})
			}
		}
		p.reserve(s)
		return
	}
	_ = p.update(func(tx *Tx) error { _, err := tx.Jobs().PlaceOrReserve(r); return err })
}

// reserve reserves nodes. If they are not available then, the refusal names a later time at
// which they are.
func (p *promise) reserve(s ReserveSpec) {
	err := p.update(func(tx *Tx) error { _, err := tx.Reservations().Add(s); return err })
	var refused *placer.Refusal
	if errors.As(err, &refused) && refused.Kind == placer.ErrNotNow && !errors.Is(err, placer.ErrAbsent) {
		if !refused.HasStart || refused.Start <= kernel.Unix(s.Start) {
			p.t.Fatalf("%+v: %v: start %d (%v)", s, err, refused.Start, refused.HasStart)
		}
		s.Start = kernel.Instant(refused.Start)
		err = p.update(func(tx *Tx) error { _, err := tx.Reservations().Add(s); return err })
		if errors.As(err, &refused) {
			p.t.Fatalf("%+v: it should have been possible at %v: %v", s, s.Start, err)
		}
	}
	if err == nil {
		p.names++
	}
}

// pass lets time pass until an instant. Jobs release their nodes when they end, so none is
// overdue.
func (p *promise) pass(until int64) {
	for {
		var next *row.Job
		err := p.db.View(func(tx *Tx) error {
			return tx.k.EachJob(func(j *row.Job) error {
				if (j.State == JobRunning || j.State == JobReserved) && j.End <= until &&
					(next == nil || j.End < next.End) {
					next = j
				}
				return nil
			})
		})
		if err != nil {
			p.t.Fatal(err)
		}
		if next == nil {
			break
		}
		p.clock.t = max(p.clock.t, next.End-1)
		if err := p.update(func(tx *Tx) error { _, err := tx.Jobs().Release(next.ID); return err }); err != nil {
			p.t.Fatal(err)
		}
	}
	p.clock.t = until
}

var errUndo = errors.New("undo")

// ask places a request now. If it is refused for now, everything that can tell names the same
// start, and at that start it is placed.
func (p *promise) ask() {
	t := p.t
	r := p.request()
	err := p.update(func(tx *Tx) error { _, err := tx.Jobs().Place(r); return err })
	var refused *placer.Refusal
	if !errors.As(err, &refused) {
		return
	}
	if refused.Kind != placer.ErrNotNow || errors.Is(err, placer.ErrAbsent) {
		p.neverSays(r, err)
		return
	}
	if !refused.HasStart || refused.Start <= p.clock.t {
		t.Fatalf("%+v at %d: %v: start %d (%v)", r, p.clock.t, err, refused.Start, refused.HasStart)
	}
	p.othersSay(r, refused.Start)
	p.pass(refused.Start)
	err = p.update(func(tx *Tx) error {
		j, err := tx.Jobs().Place(r)
		if err == nil && kernel.Unix(j.Start) != refused.Start {
			t.Fatalf("%+v was to start at %d, it does at %v", r, refused.Start, j.Start)
		}
		return err
	})
	if err != nil {
		t.Fatalf("%+v was to start at %d (%v): %v", r, refused.Start, refused, err)
	}
}

// othersSay asks when, place --or-reserve, explain, and a cycle that plans it alone.
func (p *promise) othersSay(r placer.Request, start int64) {
	says := func(who string, fn func(tx *Tx) (int64, error)) {
		p.t.Helper()
		err := p.db.Update(func(tx *Tx) error {
			at, err := fn(tx)
			if err != nil || at != start {
				p.t.Fatalf("%+v at %d: place says %d, %s %d, %v", r, p.clock.t, start, who, at, err)
			}
			return errUndo
		})
		if !errors.Is(err, errUndo) {
			p.t.Fatal(err)
		}
	}
	says("when", func(tx *Tx) (int64, error) {
		plans, err := tx.Ask().When(r, tx.Now(), 1)
		if err != nil {
			return 0, err
		}
		return kernel.Unix(plans[0].Start), nil
	})
	says("place --or-reserve", func(tx *Tx) (int64, error) {
		j, err := tx.Jobs().PlaceOrReserve(r)
		if err != nil {
			return 0, err
		}
		return kernel.Unix(j.Start), nil
	})
	says("explain", func(tx *Tx) (int64, error) {
		x, err := tx.Ask().Explain(r, placer.Explain{})
		if err != nil || x.Verdict != placer.StartsLater || x.Plan == nil {
			return 0, err
		}
		return x.Plan.Start, nil
	})
	says("a cycle", func(tx *Tx) (int64, error) {
		list, err := tx.Jobs().Submit(Submission{Request: r})
		if err != nil {
			return 0, err
		}
		if _, err := tx.Cycle().Run(CycleSpec{Backfill: Conservative}); err != nil {
			return 0, err
		}
		j, err := tx.Jobs().Get(list[0].ID)
		if err != nil {
			return 0, err
		}
		return kernel.Unix(j.Start), nil
	})
}

// neverSays: a request that can never run does not run either after everything is released,
// unless it needed a reservation; and under fcfs it blocks no other. Only one that waits for
// nodes out of service runs once they are back.
func (p *promise) neverSays(r placer.Request, refused error) {
	absent := errors.Is(refused, placer.ErrAbsent)
	err := p.db.Update(func(tx *Tx) error {
		list, err := tx.Jobs().Submit(Submission{Request: r})
		if err != nil {
			return err
		}
		if _, err := tx.Cycle().Run(CycleSpec{Backfill: FCFS}); err != nil {
			return err
		}
		j, err := tx.Jobs().Get(list[0].ID)
		if err != nil || j.Never == absent || j.State != JobQueued {
			p.t.Fatalf("%+v: %v; in a cycle %s, said to be so %t, %v", r, refused, j.State, j.Never, err)
		}
		if r.Reservation != "" {
			return errUndo
		}
		var jobs []uint64
		if err := tx.k.EachJob(func(j *row.Job) error { jobs = append(jobs, j.ID); return nil }, JobRunning,
			JobReserved); err != nil {
			return err
		}
		slices.Reverse(jobs) // guests before those who reserved
		for _, id := range jobs {
			if _, err := tx.Jobs().Release(id); err != nil {
				return err
			}
		}
		for i := range p.names {
			if _, err := tx.Reservations().Remove(fmt.Sprintf("r%d", i+1)); err != nil && !errors.Is(err, ErrNotFound) {
				return err
			}
		}
		same := placer.ErrNever
		if absent {
			same = placer.ErrAbsent
		}
		if _, err := tx.Jobs().Place(r); !errors.Is(err, same) {
			p.t.Fatalf("%+v: %v; on the empty cluster %v", r, refused, err)
		}
		err = tx.k.EachNode(func(n *index.Node) error { return tx.Nodes().SetState(n.Number, index.Up, "") })
		if err != nil {
			return err
		}
		if _, err := tx.Jobs().Place(r); absent && err != nil || !absent && !errors.Is(err, placer.ErrNever) {
			p.t.Fatalf("%+v: %v; with all nodes in service %v", r, refused, err)
		}
		return errUndo
	})
	if !errors.Is(err, errUndo) {
		p.t.Fatal(err)
	}
}

// TestRefusedStarts: a request refused for now has a start, the same one everywhere, and is
// placed then; one refused for good is not placed on the empty cluster.
func TestRefusedStarts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := newPromise(rt, t.TempDir())
		defer p.db.Close()
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			for range rapid.IntRange(0, 4).Draw(rt, "others") {
				p.fill()
			}
			p.ask()
			if rapid.IntRange(0, 2).Draw(rt, "time passes") == 0 {
				p.pass(p.clock.t + int64(rapid.IntRange(1, 20).Draw(rt, "so long")))
			}
		}
	})
}

// TestDownMate: a plan that takes a whole host begins at its time though a node of the host,
// which it does not run on, is down.
func TestDownMate(t *testing.T) {
	t.Parallel()
	db, clock := newDB(t)
	defer db.Close()
	var id uint64
	err := db.Update(func(tx *Tx) error {
		for i, state := range []index.State{index.Up, index.Down} {
			n := &index.Node{Name: fmt.Sprintf("n%d", i), State: state}
			n.Set(index.NCPUs, index.Value{Num: 4})
			n.Set(index.Host, index.Value{Str: "h"})
			if _, err := tx.Nodes().Put(n); err != nil {
				return err
			}
		}
		j, err := tx.Jobs().PlaceAt(placer.Request{Select: "1:ncpus=4", Place: "exclhost"}, kernel.Instant(clock.t+100))
		if err == nil && len(j.Along) != 1 {
			t.Errorf("taken along: %v", j.Along)
		}
		id = j.ID
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	clock.t += 110
	err = db.Update(func(tx *Tx) error {
		j, err := tx.Jobs().Get(id)
		if err == nil && (j.State != JobRunning || kernel.Unix(j.Start) != clock.t-10) {
			t.Errorf("%s since %v, want since %d (%s)", j.State, j.Start, clock.t-10, j.Reason)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
