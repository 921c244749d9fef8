package engine

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/subject"
	"pgregory.net/rapid"
)

// standing is a random life of a cluster. Every answer about node states must match the rows of
// jobs and reservations.
type standing struct {
	db    *DB
	clock *clock
}

// standingModel makes nodes with cpus, without any, with none of them, and without
// consumables. The signature may omit the cpus.
func standingModel(t *rapid.T, dir string) *standing {
	s := &standing{clock: &clock{t: 1_000_000}}
	path, opt := filepath.Join(dir, "states.db"), &Options{Now: s.clock.now}
	err := Create(path, opt, func(tx *Tx) error {
		if rapid.Bool().Draw(t, "cpus in no signature") {
			if err := tx.Config().Set("signature", "mem"); err != nil {
				return err
			}
		}
		for i, res := range [][3]int64{{4, 8, -1}, {2, 4, 1}, {-1, -1, 2}, {0, 4, 2}, {-1, -1, -1}, {2, -1, -1}} {
			n := &index.Node{Name: fmt.Sprintf("n%d", i), Priority: int32(i % 2)}
			for k, id := range []index.ResID{index.NCPUs, index.Mem, index.NGPUs} {
				if res[k] >= 0 {
					n.Set(id, index.Value{Num: res[k]})
				}
			}
			if _, err := tx.Nodes().Put(n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.db, err = Open(path, opt); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *standing) change(fn func(tx *Tx) error) { _ = s.db.Update(fn) }

func (s *standing) request(t *rapid.T) placer.Request {
	return placer.Request{
		Select: rapid.SampledFrom([]string{"1:ncpus=1", "1:ncpus=2:mem=2kb", "2:ncpus=0:ngpus=1", "1:ncpus=0:ngpus=2",
			"1:ncpus=0:mem=4kb",
			"1:ncpus=0:vnode=n4", "1:ncpus=4", "1:ncpus=0:vnode=n2"}).Draw(t, "select"),
		Place:       rapid.SampledFrom([]string{"free", "free", "free", "scatter", "excl"}).Draw(t, "place"),
		Walltime:    time.Duration(rapid.IntRange(1, 1500).Draw(t, "walltime")) * time.Second,
		Reservation: rapid.SampledFrom([]string{"", "", "a"}).Draw(t, "reservation"),
	}
}

func (s *standing) place(t *rapid.T) {
	r, wait := s.request(t), int64(rapid.IntRange(0, 900).Draw(t, "wait"))
	s.change(func(tx *Tx) (err error) {
		if wait > 600 {
			_, err = tx.Jobs().PlaceAt(r, kernel.Instant(tx.k.Now+wait))
		} else {
			_, err = tx.Jobs().PlaceOrReserve(r)
		}
		return err
	})
}

func (s *standing) reserve(t *rapid.T) {
	spec := ReserveSpec{Name: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name"),
		Start:  kernel.Instant(s.clock.t + int64(rapid.IntRange(0, 900).Draw(t, "start"))),
		Access: placer.AccessList{{Subject: subject.User.Of("")}}}
	length := kernel.Lasting(int64(rapid.IntRange(1, 900).Draw(t, "length")))
	spec.End = spec.Start.Add(length)
	if rapid.Bool().Draw(t, "by request") {
		spec.Request = s.request(t)
		spec.Request.Reservation, spec.Request.Walltime = "", length
	} else {
		spec.Nodes = []uint32{rapid.Uint32Range(0, 5).Draw(t, "node")}
	}
	s.change(func(tx *Tx) error { _, err := tx.Reservations().Add(spec); return err })
}

func (s *standing) end(t *rapid.T) {
	id := uint64(rapid.IntRange(1, 12).Draw(t, "job"))
	s.change(func(tx *Tx) error { _, err := tx.Jobs().Release(id); return err })
}

func (s *standing) say(t *rapid.T) {
	n, state := rapid.Uint32Range(0, 5).Draw(t, "node"), index.State(rapid.IntRange(0, 3).Draw(t, "state"))
	s.change(func(tx *Tx) error { return tx.Nodes().SetState(n, state, "") })
}

func (s *standing) pass(t *rapid.T) {
	s.clock.t += int64(rapid.IntRange(0, 900).Draw(t, "seconds"))
	if rapid.Bool().Draw(t, "fold in") {
		s.change(func(tx *Tx) error { return tx.Config().Set("default_walltime", "3600") })
	}
}

// spansByNode returns what has nodes and when, according to the rows.
func spansByNode(tx *Tx) (map[uint32][]kernel.Span, error) {
	out := make(map[uint32][]kernel.Span)
	err := tx.k.EachJob(func(j *row.Job) error {
		spans, err := tx.k.Allocations().Spans(j)
		for _, sp := range spans {
			if j.State == JobRunning && sp.End <= tx.k.Now {
				sp.End = tx.k.Now + nodes.Grace // it goes on
			}
			out[sp.Node] = append(out[sp.Node], sp)
		}
		return err
	}, JobReserved, JobRunning)
	if err != nil {
		return nil, err
	}
	return out, tx.k.Reservations().Each(func(r *row.Reservation) error {
		for i, n := range r.Nodes {
			out[n] = append(out[n], kernel.Span{Node: n, Busy: r.Span(i)})
		}
		return nil
	})
}

// stateAt returns a node's line of the table of states at an instant: its state, how many jobs
// are on it, until when it is free, and what is left of its cpus.
func stateAt(n *index.Node, list []kernel.Span, at int64) string {
	taken, whole, jobs, inUse, next := make(map[uint16]int64), false, 0, false, int64(math.MaxInt64)
	for _, s := range list {
		if s.Start > at {
			next = min(next, s.Start)
		}
		if s.Start > at || s.End <= at {
			continue
		}
		inUse, whole = true, whole || s.Use == nil
		if !s.Claim {
			jobs++
		}
		if s.Use == nil {
			continue
		}
		for _, a := range s.Use.Amounts {
			kept := a.N
			if s.Claim { // what its guests have is counted with them
				for _, g := range list {
					if g.Use == nil || g.Use.Within != s.Owner || g.Start > at || g.End <= at {
						continue
					}
					for _, b := range g.Use.Amounts {
						if b.Quantity == a.Quantity {
							kept -= b.N
						}
					}
				}
			}
			taken[a.Quantity] += max(kept, 0)
		}
	}
	some := func(id index.ResID) bool { v, _ := n.Get(id); return v.Num > taken[uint16(id)] }
	cpus, has := n.Get(index.NCPUs)
	left := "NULL"
	if has {
		left = fmt.Sprint(max(cpus.Num-taken[uint16(index.NCPUs)], 0))
		if whole || n.State != index.Up {
			left = "0"
		}
	}
	state, until := "free", "NULL"
	switch {
	case n.State != index.Up:
		state = n.State.String()
	case inUse && !whole && (some(index.NCPUs) || cpus.Num == 0 && (some(index.Mem) || some(index.NGPUs))):
		state = "partly"
	case inUse:
		state = "busy"
	case next != math.MaxInt64:
		until = fmt.Sprint(next)
	}
	return fmt.Sprintf("'%s'|'%s'|%d|%s|%s", n.Name, state, jobs, until, left)
}

// holds reads the states in every possible way, now and at a later instant.
func (s *standing) holds(t *rapid.T) {
	wait := rapid.SampledFrom([]int64{1, 300, 700}).Draw(t, "wait")
	err := s.db.View(func(tx *Tx) error {
		spans, err := spansByNode(tx)
		if err != nil {
			return err
		}
		for _, wait := range []int64{0, wait} {
			nodes, at := "nodes", tx.k.Now+wait
			if wait > 0 {
				nodes = fmt.Sprintf("nodes AT 'now+%ds'", wait)
			}
			var lines []string
			counts := make(map[string]int)
			err := tx.Nodes().Each(func(n *index.Node) error {
				line := stateAt(n, spans[n.Number], at)
				lines = append(lines, line)
				counts[strings.Split(line, "'")[3]]++
				return nil
			})
			if err != nil {
				return err
			}
			s.queries(t, tx, nodes, lines, counts)
			if wait == 0 {
				s.others(t, tx, lines, counts)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// queries compares the rows with queries that rows, bitmaps and counts answer.
func (s *standing) queries(t *rapid.T, tx *Tx, nodes string, lines []string, counts map[string]int) {
	if diff := cmp.Diff(strings.Join(lines, "\n"),
		askTx(t, tx, "SELECT name, state, jobs, free_until, ncpus_free FROM "+nodes+" ORDER BY number")); diff != "" {
		t.Fatalf("%s (-by the rows +by query)\n%s", nodes, diff)
	}
	var groups []string
	for state := range NodeStates {
		n := counts[state.String()]
		if n > 0 {
			groups = append(groups, fmt.Sprintf("'%s'|%d", state, n))
		}
		if found := askTx(t, tx, "SELECT count(*) FROM "+nodes+" WHERE state = '"+state.String()+
			"'"); found != fmt.Sprint(n) {
			t.Fatalf("%s: %s are %s, by the rows %d", nodes, found, state, n)
		}
	}
	slices.Sort(groups)
	if diff := cmp.Diff(strings.Join(groups, "\n"),
		askTx(t, tx, "SELECT state, count(*) FROM "+nodes+" GROUP BY state ORDER BY 1")); diff != "" {
		t.Fatalf("%s by state (-by the rows +by query)\n%s", nodes, diff)
	}
	sums := askTx(t, tx, "SELECT bucket, state, count(*) FROM "+nodes+" GROUP BY 1, 2 ORDER BY 1, 2")
	scan := askTx(t, tx, "SELECT b, s, count(*) FROM (SELECT bucket AS b, state AS s FROM "+nodes+
		" LIMIT 100) GROUP BY 1, 2 ORDER BY 1, 2")
	if sums != scan {
		t.Fatalf("%s by bucket and state: by counts\n%s\nby rows\n%s", nodes, sums, scan)
	}
}

// others compares them with what the library returns without a query.
func (s *standing) others(t *rapid.T, tx *Tx, lines []string, counts map[string]int) {
	for _, line := range lines {
		f := strings.Split(strings.ReplaceAll(line, "NULL", "0"), "|")
		n, err := tx.Nodes().Get(strings.Trim(f[0], "'"))
		if err != nil {
			t.Fatal(err)
		}
		if o, err := tx.Nodes().Occupancy(n); err != nil || fmt.Sprintf("'%s'|%d|%d", o.State, o.Jobs,
			kernel.Unix(o.FreeUntil)) != strings.Join(f[1:4], "|") {
			t.Fatalf("occupancy of %s: %+v, by the rows %s", n.Name, o, line)
		}
	}
	stats, err := tx.Ask().Stats()
	if err != nil {
		t.Fatal(err)
	}
	for state, n := range stats.ByState {
		if n != counts[NodeState(state).String()] {
			t.Fatalf("stats: %d are %s, by the rows %d", n, NodeState(state), counts[NodeState(state).String()])
		}
	}
}

func TestNodeStates(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := standingModel(rt, t.TempDir())
		rt.Repeat(map[string]func(*rapid.T){
			"place": s.place, "place more": s.place, "end": s.end, "reserve": s.reserve, "say": s.say, "pass": s.pass,
			"": s.holds,
		})
		s.db.Close()
	})
}
