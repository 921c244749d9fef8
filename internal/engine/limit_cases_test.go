package engine

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/preempt"
)

// limitCase is a case of testdata/limits.
type limitCase struct {
	ID, Kind, Differs string
	Ours              []string
	Cycle             string
	Setup             struct {
		Nodes     []map[string]any
		Queues    []string
		Resources []string
		Accounts  []struct{ Name, Parent string }
		Limits    []caseLimit
		Backfill  string
		Preempt   string
		Priority  string
	}
	Steps []caseStep
}

type caseLimit struct {
	Key, Measure string
	Max          any
	Soft         bool
}

type caseStep struct {
	Do, User, Group, Account, Queue, Class, Ask, What, Reason, State string
	N, Array, Throttle, Walltime, To                                 int
	Running, Waiting                                                 *int
	Hold, OverLimits, Grows                                          bool
	Job, Start, Expect                                               any
	caseLimit
}

// TestLimitCases compares with what OpenPBS and Slurm decide, unless we say that we differ.
func TestLimitCases(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "testdata", "limits", "cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	cases := 0
	for lines := bufio.NewScanner(f); lines.Scan(); cases++ {
		var c limitCase
		text := strings.ReplaceAll(lines.Text(), "over_limits", "OverLimits")
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			t.Fatal(err)
		}
		t.Run(c.ID, func(t *testing.T) { newCaseRun(t, &c).run() })
	}
	if cases < 50 {
		t.Fatalf("%d cases", cases)
	}
}

// caseRun is a case that is being run.
type caseRun struct {
	t     *testing.T
	c     *limitCase
	db    *DB
	clock *clock
	spec  CycleSpec
	ours  []string // what is expected of the next submissions, if we differ
	last  []uint64 // what the latest submission made
}

func newCaseRun(t *testing.T, c *limitCase) *caseRun {
	r := &caseRun{t: t, c: c, ours: c.Ours}
	r.db, r.clock = newDB(t)
	if c.Differs == "" {
		r.ours = nil
	}
	backfill, err := ParseBackfill(c.Setup.Backfill)
	if err != nil {
		t.Fatal(err)
	}
	r.spec = CycleSpec{Backfill: backfill}
	r.do(func(tx *Tx) error {
		defs, err := tx.Config().Resources()
		if err != nil {
			return err
		}
		for _, text := range c.Setup.Resources {
			name, _, _ := strings.Cut(text, "=")
			if err := tx.Config().AddResource(index.Def{Name: name, Type: index.Long, Consumable: true}); err != nil {
				return err
			}
		}
		for _, q := range c.Setup.Queues {
			if err := tx.Queues().Add(Queue{Name: q}); err != nil {
				return err
			}
		}
		for _, a := range c.Setup.Accounts {
			if err := tx.Accounts().Set(Account{Name: a.Name, Parent: a.Parent, Shares: 1}); err != nil {
				return err
			}
		}
		for _, n := range c.Setup.Nodes {
			node := &index.Node{Name: n["name"].(string)}
			for name, value := range n {
				if def, ok := defs.Lookup(name); ok {
					v, err := def.ParseValue(fmt.Sprint(value))
					if err != nil {
						return err
					}
					node.Res = append(node.Res, index.Amount{Res: def.ID, Value: v})
				}
			}
			slices.SortFunc(node.Res, func(a, b index.Amount) int { return int(a.Res) - int(b.Res) })
			if _, err := tx.Nodes().Put(node); err != nil {
				return err
			}
		}
		return nil
	})
	for _, l := range c.Setup.Limits {
		r.limit(l)
	}
	r.do(func(tx *Tx) error {
		if c.Setup.Preempt != "" {
			rule, err := preempt.Parse(c.Setup.Preempt)
			if err == nil {
				rule.Grace, rule.MinRun = 0, 0
				err = tx.Preemption().Set(rule)
			}
			if err != nil {
				return err
			}
		}
		return tx.Config().Set("job_priority", c.Setup.Priority)
	})
	return r
}

func (r *caseRun) do(fn func(*Tx) error) {
	r.t.Helper()
	if err := r.db.Update(fn); err != nil {
		r.t.Fatal(err)
	}
}

func (r *caseRun) limit(l caseLimit) {
	r.do(func(tx *Tx) error {
		defs, err := tx.Config().Resources()
		if err != nil {
			return err
		}
		most := fmt.Sprint(l.Max)
		n, err := strconv.ParseInt(most, 10, 64)
		if def, ok := defs.Lookup(l.Measure); err != nil && ok {
			var v index.Value
			v, err = def.ParseValue(most)
			n = v.Num
		}
		if err != nil {
			return err
		}
		return tx.Limits().Set(Limit{Key: l.Key, Measure: l.Measure, Soft: l.Soft, Max: n})
	})
}

func (r *caseRun) cycle() { r.do(func(tx *Tx) error { _, err := tx.Cycle().Run(r.spec); return err }) }

func (r *caseRun) run() {
	for i, s := range r.c.Steps {
		at := fmt.Sprintf("step %d, %+v", i+1, s)
		switch s.Do {
		case "submit":
			r.submit(at, &s)
		case "cycle":
			r.cycle()
		case "count":
			r.count(at, s.Running, s.Waiting, s.Reason)
		case "cancel":
			r.cancel(s.What)
		case "limit":
			r.limit(s.caseLimit)
		case "throttle":
			r.do(func(tx *Tx) error { return tx.Limits().Throttle(r.job(s.Job), int64(s.To)) })
		case "requeue":
			r.do(func(tx *Tx) error {
				if _, err := tx.Jobs().Requeue(r.job(s.Job), ""); err != nil || !s.Hold {
					return err
				}
				_, err := tx.Jobs().Hold(r.job(s.Job), "")
				return err
			})
		case "expect":
			list, several := s.Job.([]any)
			if !several {
				list = []any{s.Job}
			}
			for _, job := range list {
				if got := r.state(r.job(job)); got != s.State &&
					!(s.State == "waiting" && (got == "queued" || got == "preempted")) {
					r.t.Fatalf("%s: %v is %s", at, job, got)
				}
			}
		case "end":
			r.do(func(tx *Tx) error { _, err := tx.Jobs().Finish(r.job(s.Job), 0, ""); return err })
		case "hold":
			r.do(func(tx *Tx) error { _, err := tx.Jobs().Hold(r.job(s.Job), ""); return err })
		case "release":
			r.do(func(tx *Tx) error { _, err := tx.Jobs().Unhold(r.job(s.Job)); return err })
		case "age":
			if was, is := r.age(s.Job), r.age(s.Job); (is > was) != s.Grows || is < was {
				r.t.Fatalf("%s: it was %v, and is %v later", at, was, is)
			}
		case "plan":
			r.planned(at, &s)
		case "start":
			r.over(&s)
		case "reopen":
			r.reopen()
		default:
			r.t.Fatalf("%s: no such step", at)
		}
	}
	if list := findings(r.t, r.db); len(list) > 0 {
		r.t.Fatalf("%q", list)
	}
}

// job returns the number of a job: 2, "1[4]" or "1[]". Jobs of an array have consecutive
// numbers.
func (r *caseRun) job(text any) uint64 {
	head, index, _ := strings.Cut(strings.TrimSuffix(fmt.Sprint(text), "]"), "[")
	n, err := strconv.ParseUint(head, 10, 64)
	at, _ := strconv.ParseUint(index, 10, 64)
	if err != nil {
		r.t.Fatal(err)
	}
	return n + at
}

func (r *caseRun) submission(s *caseStep) Submission {
	walltime := s.Walltime
	if walltime == 0 {
		walltime = 3600
	}
	return Submission{Request: placer.Request{Select: s.Ask, User: s.User, Group: s.Group, Account: s.Account,
		Queue: s.Queue, Class: s.Class,
		Walltime: time.Duration(walltime) * time.Second}, Array: s.Array, Throttle: s.Throttle, Hold: s.Hold}
}

func (r *caseRun) submit(at string, s *caseStep) {
	expect := fmt.Sprint(s.Expect)
	if len(r.ours) > 0 {
		expect, r.ours = r.ours[0], r.ours[1:]
	}
	r.last = nil
	for range max(1, s.N) {
		err := r.db.Update(func(tx *Tx) error {
			jobs, err := tx.Jobs().Submit(r.submission(s))
			for _, j := range jobs {
				r.last = append(r.last, j.ID)
			}
			return err
		})
		if refused := err != nil; refused != (expect == "refused") {
			r.t.Fatalf("%s: %v", at, err)
		}
		var why *placer.Refusal
		if err != nil && (!errors.As(err, &why) || !why.Rule) {
			r.t.Fatalf("%s: %v", at, err)
		}
	}
	counts, counted := s.Expect.(map[string]any)
	if expect != "run" && expect != "wait" && !counted {
		return
	}
	r.cycle()
	if counted {
		running, waiting := int(counts["running"].(float64)), int(counts["waiting"].(float64))
		r.count(at, &running, &waiting, s.Reason)
		return
	}
	for _, id := range r.last {
		state := r.state(id)
		if (state == "running") != (expect == "run") {
			r.t.Fatalf("%s: job %d is %s", at, id, state)
		}
		if expect == "wait" && s.Reason != "" {
			r.reason(at, id, s.Reason)
		}
	}
}

// reason verifies the reason that a waiting job has.
func (r *caseRun) reason(at string, id uint64, want string) {
	r.t.Helper()
	err := r.db.View(func(tx *Tx) error {
		j, err := tx.Jobs().Get(id)
		if err != nil || j.State != JobQueued {
			return err
		}
		look, err := tx.Ask().Outlook()
		if err != nil {
			return err
		}
		p, err := look.Prospect(j)
		limited := strings.HasPrefix(want, "limit")
		if limited != (p.Wait == WaitsLimit) || limited && !strings.HasPrefix(p.Reason, want) {
			r.t.Fatalf("%s: job %d waits for %q: %s", at, id, p.Wait, p.Reason)
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// age returns the AGE of a job, some time from now.
func (r *caseRun) age(text any) (age float64) {
	r.clock.t += 600
	err := r.db.View(func(tx *Tx) error {
		j, err := tx.Jobs().Get(r.job(text))
		if err == nil {
			age, _, err = tx.Priorities().Of(j)
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return age
}

func (r *caseRun) state(id uint64) (state string) {
	err := r.db.View(func(tx *Tx) error {
		j, err := tx.Jobs().Get(id)
		if err == nil {
			if state = j.State.String(); j.State == JobQueued && len(j.YieldedTo) > 0 {
				state = "preempted"
			}
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return state
}

func (r *caseRun) count(at string, running, waiting *int, reason string) {
	r.t.Helper()
	var runs, waits int
	var some uint64
	err := r.db.View(func(tx *Tx) error {
		return tx.Jobs().Each(func(j *Job) error {
			if j.State == JobRunning {
				runs++
			} else {
				waits++
				some = j.ID
			}
			return nil
		}, JobRunning, JobReserved, JobQueued, JobHeld)
	})
	if err != nil {
		r.t.Fatal(err)
	}
	if running != nil && runs != *running || waiting != nil && waits != *waiting {
		r.t.Fatalf("%s: %d run, %d wait", at, runs, waits)
	}
	if reason != "" {
		r.reason(at, some, reason)
	}
}

func (r *caseRun) cancel(what string) {
	var all []uint64
	err := r.db.View(func(tx *Tx) error {
		return tx.Jobs().Each(func(j *Job) error { all = append(all, j.ID); return nil }, JobRunning, JobReserved,
			JobQueued, JobHeld)
	})
	if err != nil {
		r.t.Fatal(err)
	}
	if what != "all" {
		all = all[:1] // those that run come first
	}
	for _, id := range all {
		r.do(func(tx *Tx) error { _, err := tx.Jobs().Cancel(id, ""); return err })
	}
}

func (r *caseRun) planned(at string, s *caseStep) {
	after, err := strconv.ParseInt(strings.Fields(fmt.Sprint(s.Start))[0], 10, 64)
	if err != nil {
		r.t.Fatal(err)
	}
	err = r.db.View(func(tx *Tx) error {
		j, err := tx.Jobs().Get(r.job(s.Job))
		if err == nil && (j.State != JobReserved || j.Start.Unix() != tx.k.Now+after) {
			r.t.Fatalf("%s: it is %s for %s", at, j.State, j.Start)
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// over starts a job beyond its limits by hand, by placing it again.
func (r *caseRun) over(s *caseStep) {
	r.do(func(tx *Tx) error {
		j, err := tx.Jobs().Cancel(r.job(s.Job), "")
		if err != nil {
			return err
		}
		_, err = tx.Jobs().Place(placer.Request{Select: j.Select, User: j.User, OverLimits: s.OverLimits})
		return err
	})
}

func (r *caseRun) reopen() {
	path, opt := r.db.Path(), r.db.opt
	db, err := Open(path, &opt)
	if err != nil {
		r.t.Fatal(err)
	}
	r.db = db
}
