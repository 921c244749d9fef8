package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// story is a small cluster on which a test tells a story: jobs have names, and instants are
// seconds from its beginning.
type story struct {
	t     *testing.T
	db    *DB
	clock *clock
	began int64
	ids   map[string]uint64
}

// newStory begins a story with nodes such as "n1=4 n2=2", with that many processors.
func newStory(t *testing.T, backfill, nodes string) *story {
	db, clock := newDB(t)
	s := &story{t, db, clock, clock.t, make(map[string]uint64)}
	s.do(func(tx *Tx) error {
		for _, word := range strings.Fields(nodes) {
			name, cpus, _ := strings.Cut(word, "=")
			var n int64
			fmt.Sscan(cpus, &n)
			if _, err := tx.Nodes().Put(node(name, n)); err != nil {
				return err
			}
		}
		return tx.Config().Set("backfill", backfill)
	})
	return s
}

func node(name string, cpus int64) *index.Node {
	n := &index.Node{Name: name}
	n.Set(index.NCPUs, index.Value{Num: cpus})
	return n
}

func (s *story) do(fn func(*Tx) error) {
	s.t.Helper()
	if err := s.db.Update(fn); err != nil {
		s.t.Fatal(err)
	}
	sound(s.t, s.db)
}

// at lets time pass until an instant.
func (s *story) at(seconds int64) *story {
	s.clock.t = s.began + seconds
	return s
}

func (s *story) cycle() (r *CycleReport) {
	s.t.Helper()
	s.do(func(tx *Tx) (err error) { r, err = tx.Cycle().Run(CycleSpec{}); return err })
	return r
}

// submit submits a job with a select and a walltime in seconds.
func (s *story) submit(name, sel string, walltime int, with ...func(*Submission)) {
	s.t.Helper()
	sub := Submission{Request: placer.Request{Name: name, User: "ann", Select: sel,
		Walltime: time.Duration(walltime) * time.Second}}
	for _, w := range with {
		w(&sub)
	}
	s.do(func(tx *Tx) error {
		list, err := tx.Jobs().Submit(sub)
		if err == nil {
			s.ids[name] = list[0].ID
		}
		return err
	})
}

// place places a job that starts a number of seconds from now.
func (s *story) place(name, sel string, in, walltime int) {
	s.t.Helper()
	s.do(func(tx *Tx) error {
		j, err := tx.Jobs().PlaceAt(placer.Request{Name: name, User: "bob", Select: sel,
			Walltime: time.Duration(walltime) * time.Second}, tx.Now().Add(time.Duration(in)*time.Second))
		if err == nil {
			s.ids[name] = j.ID
		}
		return err
	})
}

func prio(n int64) func(*Submission)       { return func(s *Submission) { s.Priority = n } }
func byUser(name string) func(*Submission) { return func(s *Submission) { s.Request.User = name } }

func (s *story) done(name string) {
	s.t.Helper()
	s.do(func(tx *Tx) error { _, err := tx.Jobs().Finish(s.ids[name], 0, ""); return err })
}

func (s *story) node(name string, state index.State) {
	s.t.Helper()
	s.do(func(tx *Tx) error {
		n, err := tx.Nodes().Get(name)
		if err != nil {
			return err
		}
		return tx.Nodes().SetState(n.Number, state, "test")
	})
}

// want verifies the jobs that have not ended, by start: "A running 0 n1, B reserved 60 n1",
// those without a start last.
func (s *story) want(want string) {
	s.t.Helper()
	var list []*Job
	got := ""
	err := s.db.View(func(tx *Tx) error {
		err := tx.Jobs().Each(func(j *Job) error {
			if j.State.Live() {
				list = append(list, j)
			}
			return nil
		})
		slices.SortStableFunc(list, func(a, b *Job) int {
			if a.Start.IsZero() != b.Start.IsZero() {
				return map[bool]int{true: 1, false: -1}[a.Start.IsZero()]
			}
			return a.Start.Compare(b.Start)
		})
		for _, j := range list {
			got += ", " + j.Name + " " + j.State.String()
			if !j.Start.IsZero() {
				got += fmt.Sprintf(" %d", j.Start.Unix()-s.began)
				for _, number := range j.AllNodes() {
					n, err := tx.Nodes().ByNumber(number)
					if err != nil {
						return err
					}
					got += " " + n.Name
				}
			}
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if got = strings.TrimPrefix(got, ", "); got != want {
		s.t.Errorf("at %d:\n got %s\nwant %s", s.clock.t-s.began, got, want)
	}
}
