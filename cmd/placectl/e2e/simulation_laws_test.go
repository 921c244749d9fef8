package e2e

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
)

// snapshot is what the library says about a database at an instant.
type snapshot struct {
	jobs         map[uint64]*engine.Job
	nodes        map[string]string // what each node has
	states       map[string]string // of nodes
	reservations map[string]*engine.Reservation
	standing     map[string]*engine.Standing
	queues       map[string]engine.Queue
	settings     map[string]string
	resources    string
	batches      map[string]*engine.Batch
	pools        []engine.Pool
	throttles    map[uint64]int64 // by array
}

func (s *simulation) snapshot() *snapshot {
	all := &snapshot{jobs: make(map[uint64]*engine.Job), nodes: make(map[string]string),
		states:       make(map[string]string),
		reservations: make(map[string]*engine.Reservation), standing: make(map[string]*engine.Standing),
		queues:   make(map[string]engine.Queue),
		settings: make(map[string]string), batches: make(map[string]*engine.Batch)}
	db, err := engine.Open(s.db, &engine.Options{Now: func() time.Time { return s.now }})
	if err == nil {
		err = db.View(func(tx *engine.Tx) error { return all.read(tx) })
		db.Close()
	}
	if err != nil {
		s.t.Fatalf("reading the database after %v: %v", s.last, err)
	}
	s.jobs = len(all.jobs)
	return all
}

func (all *snapshot) read(tx *engine.Tx) error {
	defs, err := tx.Config().Resources()
	if err != nil {
		return err
	}
	all.resources = fmt.Sprint(defs.Names())
	queues, err := tx.Queues().All()
	if err != nil {
		return err
	}
	for _, q := range queues {
		all.queues[q.Name] = q
	}
	pools, err := tx.Pools().At(tx.Now())
	if err != nil {
		return err
	}
	for _, u := range pools {
		all.pools = append(all.pools, u.Pool)
	}
	if all.throttles, err = tx.Pools().Throttles(); err != nil {
		return err
	}
	settings, err := tx.Config().AllSettings()
	if err != nil {
		return err
	}
	for _, v := range settings {
		all.settings[v.Name] = v.Value
	}
	for _, err := range []error{
		tx.Jobs().Each(func(j *engine.Job) error { all.jobs[j.ID] = j; return nil }),
		tx.Nodes().Each(func(n *index.Node) error {
			all.nodes[n.Name] = fmt.Sprint(n.Number, n.Queue, n.Priority, n.Res, n.Features, n.Speed)
			all.states[n.Name] = n.State.String()
			return nil
		}),
		tx.Reservations().Each(func(r *engine.Reservation) error { all.reservations[r.Name] = r; return nil }),
		tx.Reservations().EachStanding(func(r *engine.Standing) error { all.standing[r.Name] = r; return nil }),
		tx.Batches().Each(func(b *engine.Batch) error { all.batches[b.Name] = b; return nil }),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func mapKeys[K comparable, V any](m map[K]V) iter.Seq[K] { return maps.Keys(m) }

// lawful fails if something has changed that the command does not mention.
func (s *simulation) lawful(c verbRun, before, after *snapshot) {
	if why := s.broken(c, before, after); why != "" {
		s.t.Fatalf("%v: status %d: %s\n%s%s", c, c.status, why, c.out, c.err)
	}
}

// broken says which law a change breaks, "" for none.
func (s *simulation) broken(c verbRun, before, after *snapshot) string {
	room, _, _ := strings.Cut(c.verb, " ")
	if c.verb == "tx" {
		room = "" // its files place, submit, reserve and set
	}
	if c.verb == "cycle" || c.verb == "work" { // the first launch sets how jobs are launched
		before.settings["launch"] = after.settings["launch"]
	}
	only := func(what string, same bool, rooms ...string) string {
		if same || slices.Contains(rooms, room) {
			return ""
		}
		return what
	}
	for _, why := range []string{
		only("nodes have changed", maps.Equal(before.nodes, after.nodes), "node", "resource", ""),
		only("states of nodes have changed", maps.Equal(before.states, after.states), "node"),
		// node import makes queues that its nodes name
		only("queues have changed", len(before.queues) == len(after.queues), "queue", "node"),
		only("settings have changed", maps.Equal(before.settings, after.settings), "config"),
		only("resources have changed", before.resources == after.resources, "resource"),
		only("batches have come or gone", slices.Equal(keysOf(before.batches), keysOf(after.batches)), "batch"),
		only("standing reservations have come or gone", slices.Equal(keysOf(before.standing), keysOf(after.standing)),
			"reserve", "unreserve"),
		s.jobsBroken(c, before, after), s.countersBroken(c, before, after), s.reservationsBroken(c, before, after),
	} {
		if why != "" {
			return why
		}
	}
	return ""
}

// jobsBroken compares jobs with what they were.
func (s *simulation) jobsBroken(c verbRun, before, after *snapshot) string {
	for id, was := range before.jobs {
		j := after.jobs[id]
		switch {
		case j == nil:
			return fmt.Sprintf("job %d is lost", id)
		case j.Submit != was.Submit || !slices.Equal(j.Command, was.Command),
			c.verb != "alter" && (j.User != was.User || j.Name != was.Name || j.Select != was.Select ||
				j.Place != was.Place):
			return fmt.Sprintf("job %d has become another: %+v was %+v", id, j, was)
		case !ended(j) && ended(was) && c.verb != "requeue":
			return fmt.Sprintf("job %d was %s and is %s", id, was.State, j.State)
		case was.State == engine.JobRunning && j.State == engine.JobRunning && told(was) && j.Attempt == was.Attempt &&
			!slices.Equal(j.AllNodes(), was.AllNodes()):
			return fmt.Sprintf("job %d runs, and is on %v instead of %v", id, j.AllNodes(), was.AllNodes())
		case j.State == engine.JobFinished && j.Queued && !j.Launched && was.State != j.State && c.verb != "done" &&
			c.verb != "release" && c.verb != "run":
			return fmt.Sprintf("job %d is finished, though its launch was not announced", id)
		}
	}
	added := len(after.jobs) - len(before.jobs)
	if added > 0 && !slices.Contains([]string{"place", "submit", "run", "retry", "tx"}, c.verb) {
		return fmt.Sprintf("there are %d jobs more", added)
	}
	if c.verb == "place" && c.status == exit.OK && added != 1 && !slices.Contains(c.args, "--key") &&
		!slices.Contains(c.args, "--dry-run") {
		return fmt.Sprintf("there are %d jobs more", added)
	}
	return ""
}

// countersBroken compares newly started or planned jobs with pools and throttles. At every instant of a
// job's time there must be room for all jobs. Overdue jobs count for five minutes more.
func (s *simulation) countersBroken(c verbRun, before, after *snapshot) string {
	end := func(j *engine.Job) time.Time {
		if j.State == engine.JobRunning && !j.End.After(s.now) {
			return s.now.Add(5 * time.Minute)
		}
		return j.End
	}
	has := func(j *engine.Job) bool { return j.State == engine.JobRunning || j.State == engine.JobReserved }
	at := func(t, from, to time.Time) bool { return !t.Before(from) && t.Before(to) }
	of := func(list []placer.PoolAmount, pool string) (n int64) {
		for _, a := range list {
			if a.Pool == pool {
				n += a.Amount
			}
		}
		return n
	}
	kept := make(map[uint64]*engine.Reservation)
	for _, r := range after.reservations {
		kept[r.ID] = r
	}
	used := func(t time.Time, p engine.Pool) (n int64) {
		if p.Until.IsZero() || t.Before(p.Until) {
			n = p.Outside
		}
		for _, r := range kept {
			if at(t, r.Start, r.End) {
				n += of(r.Pools, p.Name)
			}
		}
		for _, j := range after.jobs {
			r := kept[j.PoolsWithin]
			if has(j) && at(t, j.Start, end(j)) && (r == nil || of(r.Pools, p.Name) == 0 || !at(t, r.Start, r.End)) {
				n += of(j.Pools, p.Name)
			}
		}
		return n
	}
	for id, j := range after.jobs {
		was := before.jobs[id]
		fresh := was == nil || !has(was) || !was.Start.Equal(j.Start)
		if !has(j) || !fresh || s.slow > 0 {
			continue
		}
		instants := []time.Time{j.Start}
		for _, o := range after.jobs {
			if has(o) && at(o.Start, j.Start, j.End) {
				instants = append(instants, o.Start)
			}
		}
		for _, r := range kept {
			if at(r.Start, j.Start, j.End) {
				instants = append(instants, r.Start)
			}
		}
		for _, t := range instants {
			if t.Before(s.now) {
				t = s.now
			}
			for _, p := range after.pools {
				// A job that has started as time passed goes on even if the same verb lowers the pool.
				if n := used(t, p); of(j.Pools, p.Name) > 0 && kept[j.PoolsWithin] == nil && n > p.Amount &&
					c.verb != "pool set" {
					return fmt.Sprintf("job %d should have %v, and at %v %d of %d %s are held", id, j.Pools, t, n,
						p.Amount, p.Name)
				}
			}
			n := int64(0)
			for _, o := range after.jobs {
				if o.Array == j.Array && has(o) && at(t, o.Start, end(o)) {
					n++
				}
			}
			if most, ok := after.throttles[j.Array]; j.Array != 0 && ok && n > most {
				return fmt.Sprintf("job %d is one of %d of array %d at %v, and %d may run at once", id, n, j.Array, t,
					most)
			}
		}
	}
	return ""
}

// told reports whether the job's start was announced. Until then a planned job that has begun by the
// clock may be planned again.
func told(j *engine.Job) bool { return j.Launched || j.Attended || !j.Queued }

func ended(j *engine.Job) bool {
	return j.State == engine.JobFinished || j.State == engine.JobFailed || j.State == engine.JobCancelled
}

// reservationsBroken compares reservations with what they were. A reservation goes when it is over or
// removed, comes when it is made or when a standing one is due, and never moves. The future of a standing
// one was read as of the present, while a command whose clock is behind makes occurrences of past days.
func (s *simulation) reservationsBroken(c verbRun, before, after *snapshot) string {
	for name, was := range before.reservations {
		r := after.reservations[name]
		switch {
		case s.slow > 0 && was.Series != "":
		case r != nil && r.ID != was.ID && was.End.After(s.now) && c.verb != "unreserve":
			return fmt.Sprintf("reservation %s is another", name)
		case r != nil && r.ID == was.ID && (r.Start != was.Start || r.End != was.End):
			return fmt.Sprintf("reservation %s has moved: %+v was %+v", name, r, was)
		case r == nil && was.End.After(s.now) && c.verb != "unreserve":
			return fmt.Sprintf("reservation %s is lost", name)
		}
	}
	for name, r := range after.reservations {
		if before.reservations[name] == nil && r.Series == "" && c.verb != "reserve" && c.verb != "tx" {
			return fmt.Sprintf("reservation %s has come from nowhere", name)
		}
	}
	return ""
}
