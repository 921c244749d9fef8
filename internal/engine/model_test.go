package engine

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/placer"
	"pgregory.net/rapid"
)

// model drives two databases through the same random life, one reopened for every transaction, one
// kept open, and a simple record of which job has which node.
type model struct {
	clock   *clock
	dbs     [2]*DB
	nodes   map[string]*modelNode
	order   []string
	jobs    map[uint64][]string
	planned map[uint64]int64 // jobs that start later, and when
	resv    map[string]bool
	colours []string
	metrics *Metrics // as they were last
}

type modelNode struct {
	colour string
	up     bool
	spans  []modelSpan
}

type modelSpan struct {
	start, end int64
	owner      string
	held       bool
}

func newModel(t *rapid.T, dir string) *model {
	m := &model{clock: &clock{t: 1_000_000}, nodes: make(map[string]*modelNode), jobs: make(map[uint64][]string),
		planned: make(map[uint64]int64), resv: make(map[string]bool), colours: []string{"red", "green"}}
	for i := range m.dbs {
		opt := &Options{Now: m.clock.now, Beside: i == 1}
		path := filepath.Join(dir, fmt.Sprintf("%d.db", i))
		err := Create(path, opt, func(tx *Tx) error {
			return tx.Config().AddResource(index.Def{Name: "color", Type: index.String})
		})
		if err != nil {
			t.Fatal(err)
		}
		if m.dbs[i], err = Open(path, opt); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// both runs fn on both databases and returns the answer, which must be the same.
func (m *model) both(t *rapid.T, fn func(tx *Tx) (string, error)) (string, error) {
	var answers [2]string
	var errs [2]error
	for i, db := range m.dbs {
		errs[i] = db.Update(func(tx *Tx) (err error) {
			answers[i], err = fn(tx)
			return err
		})
	}
	if answers[0] != answers[1] || fmt.Sprint(errs[0]) != fmt.Sprint(errs[1]) {
		t.Fatalf("opened anew: %q, %v\nkept open:   %q, %v", answers[0], errs[0], answers[1], errs[1])
	}
	return answers[0], errs[0]
}

// taken reports whether the model's node has something on it in [from, to).
func (n *modelNode) taken(now, from, to int64) bool {
	return slices.ContainsFunc(n.spans, func(s modelSpan) bool {
		end := s.end
		if s.held && end <= now {
			end = now + nodes.Grace
		}
		return s.start < to && end > from
	})
}

func (m *model) addNode(t *rapid.T) {
	name := fmt.Sprintf(rapid.SampledFrom([]string{"n%d", "n[0-%d]", "a.%d"}).Draw(t, "name"), len(m.order))
	colour := rapid.SampledFrom(m.colours).Draw(t, "colour")
	priority := int32(rapid.IntRange(0, 1).Draw(t, "priority"))
	_, err := m.both(t, func(tx *Tx) (string, error) {
		n := &index.Node{Name: name, Priority: priority}
		n.Set(index.NCPUs, index.Value{Num: 2})
		defs, _ := tx.Config().Resources()
		def, _ := defs.Lookup("color")
		n.Set(def.ID, index.Value{Str: colour})
		_, err := tx.Nodes().Put(n)
		return "", err
	})
	if err != nil {
		t.Fatal(err)
	}
	m.order = append(m.order, name)
	m.nodes[name] = &modelNode{colour: colour, up: true}
}

func (m *model) setState(t *rapid.T) {
	if len(m.order) == 0 {
		t.Skip("no nodes")
	}
	name := rapid.SampledFrom(m.order).Draw(t, "node")
	state := rapid.SampledFrom([]index.State{index.Up, index.Down, index.Drained}).Draw(t, "state")
	_, err := m.both(t, func(tx *Tx) (string, error) {
		number, _, err := tx.Nodes().Number(name)
		if err != nil {
			return "", err
		}
		return "", tx.Nodes().SetState(number, state, "model")
	})
	if err != nil {
		t.Fatal(err)
	}
	if m.nodes[name].up = state == index.Up; m.nodes[name].up {
		return
	}
	m.follow(t) // plans on the node were made again in that commit, and so were later ones
}

// follow reads where planned jobs are after some plans were made again: later plans may move,
// too.
func (m *model) follow(t *rapid.T) {
	type plan struct {
		nodes []string
		start int64
	}
	was := make(map[uint64]plan)
	ids := slices.Sorted(maps.Keys(m.planned))
	for _, id := range ids {
		was[id] = plan{m.jobs[id], m.planned[id]}
		m.free(m.jobs[id], fmt.Sprint("job ", id))
		delete(m.jobs, id)
		delete(m.planned, id)
	}
	for _, id := range ids {
		var job *Job
		err := m.dbs[0].View(func(tx *Tx) (err error) {
			job, err = tx.Jobs().Get(id)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if job.State != JobRunning && job.State != JobReserved {
			continue // it no longer fits anywhere
		}
		// A job that cannot begin at its very instant keeps its plan until the next change.
		if start := kernel.Unix(job.Start); job.State == JobReserved && start < m.clock.t || job.State == JobRunning &&
			start > m.clock.t {
			t.Fatalf("job %d is %s and starts at %v, now is %d", id, job.State, job.Start, m.clock.t)
		}
		kept := kernel.Unix(job.Start) == was[id].start && slices.EqualFunc(job.NodeNumbers(), was[id].nodes,
			func(n uint32, name string) bool { return m.order[n] == name })
		// one that has no other place keeps its start on a node that is down, or that an overdue job has
		m.occupy(t, job, !kept)
		if job.State == JobReserved {
			m.planned[id] = kernel.Unix(job.Start)
		}
	}
}

func (m *model) place(t *rapid.T) {
	count := rapid.IntRange(1, 4).Draw(t, "count")
	walltime := int64(rapid.IntRange(1, 2000).Draw(t, "walltime"))
	colour := rapid.SampledFrom(append([]string{""}, m.colours...)).Draw(t, "colour")
	sel := fmt.Sprintf("%d:ncpus=1", count)
	if colour != "" {
		sel += ":color=" + colour
	}
	var job *Job
	nodes, err := m.both(t, func(tx *Tx) (string, error) {
		var err error
		if job, err = tx.Jobs().Place(placer.Request{Select: sel, Place: "scatter:excl",
			Walltime: time.Duration(walltime) * time.Second}); err != nil {
			return "", err
		}
		return tx.Jobs().ExecVNode(job)
	})
	free, could, declared := 0, 0, 0
	for _, n := range m.nodes {
		if colour == "" || n.colour == colour {
			declared++
		}
		if n.up && (colour == "" || n.colour == colour) {
			could++
			if !n.taken(m.clock.t, m.clock.t, m.clock.t+walltime) {
				free++
			}
		}
	}
	switch {
	case err == nil && free < count:
		t.Fatalf("%s ran on %s with %d nodes free", sel, nodes, free)
	case err == nil:
		m.occupy(t, job, true)
	case errors.Is(err, placer.ErrNotNow) && (free >= count || declared < count), errors.Is(err, placer.ErrNever) &&
		declared >= count,
		errors.Is(err, placer.ErrAbsent) != (could < count && count <= declared):
		t.Fatalf("%s: %v with %d nodes free, %d that could be, %d declared", sel, err, free, could, declared)
	case !errors.Is(err, placer.ErrNotNow) && !errors.Is(err, placer.ErrNever):
		t.Fatal(err)
	}
}

// occupy puts a job on its nodes, which must be available if the plan is new.
func (m *model) occupy(t *rapid.T, job *Job, made bool) {
	for _, number := range job.NodeNumbers() {
		name := m.order[number]
		n := m.nodes[name]
		if made && (!n.up || n.taken(m.clock.t, kernel.Unix(job.Start), kernel.Unix(job.End))) {
			t.Fatalf("job %d on %s, which it cannot have", job.ID, name)
		}
		n.spans = append(n.spans, modelSpan{kernel.Unix(job.Start), kernel.Unix(job.End), fmt.Sprint("job ", job.ID),
			true})
		m.jobs[job.ID] = append(m.jobs[job.ID], name)
	}
}

// placeLater plans a job ahead, or at its earliest start.
func (m *model) placeLater(t *rapid.T) {
	r := placer.Request{Select: fmt.Sprintf("%d:ncpus=1", rapid.IntRange(1, 3).Draw(t, "count")), Place: "scatter:excl",
		Walltime: time.Duration(rapid.IntRange(1, 2000).Draw(t, "walltime")) * time.Second}
	at := m.clock.t + int64(rapid.IntRange(0, 2000).Draw(t, "ahead"))
	earliest := rapid.Bool().Draw(t, "earliest")
	var job *Job
	_, err := m.both(t, func(tx *Tx) (string, error) {
		var err error
		if earliest {
			job, err = tx.Jobs().PlaceOrReserve(r)
		} else {
			job, err = tx.Jobs().PlaceAt(r, kernel.Instant(at))
		}
		if err != nil {
			return "", err
		}
		return fmt.Sprint(job.State, job.Start, job.NodeNumbers()), nil
	})
	if err != nil {
		if !errors.Is(err, placer.ErrNotNow) && !errors.Is(err, placer.ErrNever) {
			t.Fatal(err)
		}
		return
	}
	if !earliest && kernel.Unix(job.Start) != at {
		t.Fatalf("asked for a start at %d, got %v", at, job.Start)
	}
	m.occupy(t, job, true)
	if kernel.Unix(job.Start) > m.clock.t {
		m.planned[job.ID] = kernel.Unix(job.Start)
	}
}

// extend gives a job another walltime.
func (m *model) extend(t *rapid.T) {
	id := uint64(rapid.IntRange(1, len(m.jobs)+2).Draw(t, "job"))
	walltime := int64(rapid.IntRange(1, 4000).Draw(t, "walltime"))
	var job *Job
	_, err := m.both(t, func(tx *Tx) (string, error) {
		var err error
		job, err = tx.Jobs().Extend(id, kernel.Lasting(walltime))
		return "", err
	})
	if err != nil {
		return // that nothing changed is what agree finds out
	}
	m.free(m.jobs[id], fmt.Sprint("job ", id))
	for _, name := range m.jobs[id] {
		if m.nodes[name].taken(m.clock.t, kernel.Unix(job.Start), kernel.Unix(job.End)) {
			t.Fatalf("job %d got node %s until %v, which is not to be had", id, name, job.End)
		}
		m.nodes[name].spans = append(m.nodes[name].spans, modelSpan{kernel.Unix(job.Start), kernel.Unix(job.End),
			fmt.Sprint("job ", id), true})
	}
}

func (m *model) free(names []string, owner string) {
	for _, name := range names {
		n := m.nodes[name]
		n.spans = slices.DeleteFunc(n.spans, func(s modelSpan) bool { return s.owner == owner })
	}
}

func (m *model) release(t *rapid.T) {
	id := uint64(rapid.IntRange(1, len(m.jobs)+2).Draw(t, "job"))
	_, err := m.both(t, func(tx *Tx) (string, error) { _, err := tx.Jobs().Release(id); return "", err })
	if _, running := m.jobs[id]; running != (err == nil) {
		t.Fatalf("release %d, running %v: %v", id, running, err)
	}
	m.free(m.jobs[id], fmt.Sprint("job ", id))
	delete(m.jobs, id)
	delete(m.planned, id)
}

func (m *model) reserve(t *rapid.T) {
	if len(m.order) == 0 {
		t.Skip("no nodes")
	}
	name := rapid.SampledFrom([]string{"a", "b", "a.1", "n1"}).Draw(t, "name")
	list := rapid.SliceOfNDistinct(rapid.SampledFrom(m.order), 1, min(3, len(m.order)), rapid.ID[string]).Draw(t,
		"nodes")
	start := m.clock.t + int64(rapid.IntRange(0, 1500).Draw(t, "start"))
	end := start + int64(rapid.IntRange(1, 1500).Draw(t, "length"))
	_, err := m.both(t, func(tx *Tx) (string, error) {
		numbers, err := tx.Nodes().Resolve(strings.Join(list, ",")) // a name that looks like a list is a name
		if err == nil {
			_, err = tx.Reservations().ReserveNodes(name, numbers, kernel.Instant(start), kernel.Instant(end))
		}
		return "", err
	})
	blocked := m.resv[name] || slices.ContainsFunc(list, func(n string) bool {
		return m.nodes[n].taken(m.clock.t, start, end)
	})
	if blocked != errors.Is(err, ErrConflict) || !blocked && err != nil {
		t.Fatalf("reserve %s on %v [%d, %d), blocked %v: %v", name, list, start, end, blocked, err)
	}
	if err == nil {
		m.resv[name] = true
		for _, n := range list {
			m.nodes[n].spans = append(m.nodes[n].spans, modelSpan{start, end, name, false})
		}
	}
}

func (m *model) unreserve(t *rapid.T) {
	name := rapid.SampledFrom([]string{"a", "b", "a.1", "n1"}).Draw(t, "name")
	_, err := m.both(t, func(tx *Tx) (string, error) { _, err := tx.Reservations().Remove(name); return "", err })
	if m.resv[name] && err != nil {
		t.Fatal(err)
	}
	m.free(m.order, name)
	delete(m.resv, name)
}

// pass lets time pass; reservations end by the clock.
func (m *model) pass(t *rapid.T) {
	m.clock.t += int64(rapid.IntRange(0, 2500).Draw(t, "seconds"))
	for name := range m.resv {
		over := true
		for _, n := range m.nodes {
			n.spans = slices.DeleteFunc(n.spans, func(s modelSpan) bool { return !s.held && s.end <= m.clock.t })
			over = over && !slices.ContainsFunc(n.spans, func(s modelSpan) bool { return s.owner == name })
		}
		if over {
			delete(m.resv, name)
		}
	}
	m.begin(t)
}

// begin follows the planned jobs whose time has come. If an overdue job still has the node,
// the job is somewhere else, or later.
func (m *model) begin(t *rapid.T) {
	due := false
	for _, start := range m.planned {
		due = due || start <= m.clock.t
	}
	if !due {
		return
	}
	// A writer decides where late jobs go; until then, what a reader sees of them depends on
	// when it reads.
	if _, err := m.both(t, func(tx *Tx) (string, error) {
		return "", tx.Config().Set("default_walltime", "3600")
	}); err != nil {
		t.Fatal(err)
	}
	m.follow(t)
}

// agree compares what a reader sees of every node with the model.
func (m *model) agree(t *rapid.T) {
	m.metrics = metricsAgree(t, m.dbs[0], m.metrics)
	want, got := make(map[string]string), make(map[string]string)
	for name, n := range m.nodes {
		want[name] = "none"
		if n.up {
			want[name] = "free"
			if slices.ContainsFunc(n.spans, func(s modelSpan) bool { return s.start > m.clock.t }) {
				want[name] = "later"
			}
			if n.taken(m.clock.t, m.clock.t, m.clock.t+1) {
				want[name] = "busy"
			}
		}
	}
	err := m.dbs[0].View(func(tx *Tx) error {
		ix, err := tx.k.Index()
		if err != nil {
			return err
		}
		return tx.Nodes().Each(func(n *index.Node) error {
			got[n.Name] = ix.ClassOf(ix.Bucket(n.Bucket), n.Number).String()
			return nil
		})
	})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatalf("%v (-model +store)\n%s", err, diff)
	}
	for _, db := range m.dbs {
		if err := db.Check(func(f string) { t.Error(f) }); err != nil {
			t.Fatal(err)
		}
	}
}

// TestModel compares random lives of a database with a naive model in memory, whatever the
// clock does, and checks the file after each step.
func TestModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := newModel(rt, t.TempDir())
		rt.Repeat(map[string]func(*rapid.T){
			"addNode": m.addNode, "setState": m.setState, "place": m.place, "place again": m.place,
			"placeLater": m.placeLater, "extend": m.extend, "release": m.release,
			"reserve": m.reserve, "unreserve": m.unreserve, "pass": m.pass, "": m.agree,
		})
		for _, db := range m.dbs {
			db.Close()
		}
	})
}
