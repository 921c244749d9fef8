package engine

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"pgregory.net/rapid"
)

// lawLimit is a rule as the oracle reads it: the jobs that it applies to, who of them count
// together, what is counted, and what replaces it.
type lawLimit struct {
	Limit
	parts map[string]string // by kind
}

func lawOf(l Limit) lawLimit {
	out := lawLimit{l, map[string]string{}}
	if l.Key != "all" {
		for part := range strings.SplitSeq(l.Key, ",") {
			kind, name, _ := strings.Cut(part, "=")
			out.parts[kind] = name
		}
	}
	return out
}

func nameIn(j *Job, kind string) string {
	return map[string]string{"user": j.User, "group": j.Group, "account": j.Account, "queue": j.Queue,
		"class": j.Class}[kind]
}

// parentsOf are the accounts of the random lives: org is part of chem.
var parentsOf = map[string]string{"org": "chem"}

func (l *lawLimit) isFor(j *Job) bool {
	for kind, name := range l.parts {
		if is := nameIn(j, kind); name != "*" && name != is && (kind != "account" || parentsOf[is] != name) {
			return false
		}
	}
	return true
}

// beats reports whether a rule of the same kinds and measure has all names of another, and more.
func (l *lawLimit) beats(o *lawLimit) bool {
	if l.Measure != o.Measure || l.Soft != o.Soft || len(l.parts) != len(o.parts) {
		return false
	}
	more := 0
	for kind, name := range o.parts {
		mine, there := l.parts[kind]
		if !there || name != "*" && mine != name {
			return false
		}
		if name == "*" && mine != "*" {
			more++
		}
	}
	return more > 0
}

// group returns the jobs that count together with a job.
func (l *lawLimit) group(j *Job) string {
	var out []string
	for _, kind := range []string{"queue", "class", "account", "group", "user"} {
		if l.parts[kind] == "*" {
			out = append(out, strconv.Quote(nameIn(j, kind)))
		}
	}
	return strings.Join(out, ",")
}

// cpusOf returns what a job of the random lives asks for: N:ncpus=M+...
func cpusOf(j *Job) (sum int64) {
	for chunk := range strings.SplitSeq(j.Select, "+") {
		count, each, _ := strings.Cut(chunk, ":ncpus=")
		n, _ := strconv.ParseInt(count, 10, 64)
		m, _ := strconv.ParseInt(each, 10, 64)
		sum += n * m
	}
	return sum
}

func (l *lawLimit) amount(j *Job) int64 {
	switch l.Measure {
	case "ncpus", "ncpus.left", "ncpus.jobs", "ncpus.queued":
		return cpusOf(j)
	case "nodes":
		count, _, _ := strings.Cut(j.Select, ":")
		n, _ := strconv.ParseInt(count, 10, 64)
		return n
	}
	return 1
}

// worst returns the highest use of a group of a rule at any start from now on: only starts raise it.
func worst(l *lawLimit, members []*Job, now int64) (most int64) {
	at := func(t int64) (sum int64) {
		for _, j := range members {
			start, end := max(j.Start.Unix(), now), j.End.Unix()
			if start > t || end <= t {
				continue
			}
			if l.Measure == "ncpus.left" {
				sum += l.amount(j) * (end - t)
			} else {
				sum += l.amount(j)
			}
		}
		return sum
	}
	for _, j := range members {
		most = max(most, at(max(j.Start.Unix(), now)))
	}
	return most
}

// TestLimitLaws: in random lives no start and no plan breaks a rule that existed and was as
// strict before. No submission breaks a rule on waiting jobs, and counts are what counting
// again gives.
func TestLimitLaws(tt *testing.T) {
	tt.Parallel()
	rapid.Check(tt, func(t *rapid.T) {
		db, clock := newDB(tt)
		pick := func(name string, from ...string) string { return rapid.SampledFrom(from).Draw(t, name) }
		must := func(fn func(*Tx) error) {
			if err := db.Update(fn); err != nil {
				t.Fatal(err)
			}
		}
		must(func(tx *Tx) error {
			for i := range 3 {
				n := &index.Node{Name: fmt.Sprint("n", i),
					Res: []index.Amount{{Res: index.NCPUs, Value: index.Value{Num: 4}}}}
				if _, err := tx.Nodes().Put(n); err != nil {
					return err
				}
			}
			for _, a := range []Account{{Name: "chem", Shares: 1}, {Name: "org", Parent: "chem", Shares: 1}} {
				if err := tx.Accounts().Set(a); err != nil {
					return err
				}
			}
			return nil
		})
		var rules []lawLimit
		for range rapid.IntRange(1, 4).Draw(t, "rules") {
			l := Limit{Key: pick("key", "all", "user=*", "user=ann", "account=chem", "account=*", "account=*,user=*",
				"account=org,user=*", "user=bob"),
				Measure: pick("measure", "running", "ncpus", "nodes", "jobs", "queued", "ncpus.left", "ncpus.jobs",
					"ncpus.queued"), Max: rapid.Int64Range(0, 8).Draw(t, "max")}
			if l.Measure == "ncpus.left" {
				l.Max *= 700
			}
			for i := range rules {
				if rules[i].Key == l.Key && rules[i].Measure == l.Measure {
					rules[i].Max = l.Max
					l.Key = ""
				}
			}
			if l.Key != "" {
				rules = append(rules, lawOf(l))
			}
		}
		must(func(tx *Tx) error {
			for _, l := range rules {
				if err := tx.Limits().Set(l.Limit); err != nil {
					return err
				}
			}
			return nil
		})
		over := map[uint64]bool{}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			request := placer.Request{Select: pick("select", "1:ncpus=1", "2:ncpus=1", "1:ncpus=3", "3:ncpus=2"),
				User:       pick("user", "ann", "bob"),
				Account:    pick("account", "", "chem", "org"),
				Walltime:   time.Duration(rapid.IntRange(1, 9).Draw(t, "walltime")) * 100 * time.Second,
				OverLimits: rapid.IntRange(0, 9).Draw(t, "over") == 0}
			job := rapid.Uint64Range(1, 12).Draw(t, "job")
			var made []*Job
			what := pick("what", "submit", "submit", "submit", "place", "reserve", "cycle", "cycle", "done", "cancel",
				"requeue", "hold", "unhold", "time", "extend", "alter", "alter")
			err := db.Update(func(tx *Tx) error {
				var err error
				var one *Job
				switch what {
				case "submit":
					made, err = tx.Jobs().Submit(
						Submission{Request: request, Array: rapid.IntRange(0, 3).Draw(t, "array")})
				case "place":
					one, err = tx.Jobs().Place(request)
				case "reserve":
					one, err = tx.Jobs().PlaceOrReserve(request)
				case "cycle":
					_, err = tx.Cycle().Run(CycleSpec{Backfill: Backfill(rapid.IntRange(1, 4).Draw(t, "backfill"))})
				case "done":
					_, err = tx.Jobs().Finish(job, 0, "")
				case "cancel":
					_, err = tx.Jobs().Cancel(job, "")
				case "requeue":
					_, err = tx.Jobs().Requeue(job, "")
				case "hold":
					_, err = tx.Jobs().Hold(job, "")
				case "unhold":
					_, err = tx.Jobs().Unhold(job)
				case "alter": // refused, it leaves the job and what is counted as they were
					_, err = tx.Jobs().Alter(job, Alteration{User: &request.User, Account: &request.Account,
						Select: &request.Select, Walltime: &request.Walltime})
					if (errors.Is(err, placer.ErrNotNow) || errors.Is(err, placer.ErrNever)) && rapid.Bool().Draw(t,
						"goes on") {
						err = nil
					}
				case "extend":
					_, err = tx.Jobs().Extend(job, request.Walltime)
				}
				if one != nil {
					made = []*Job{one}
				}
				return err
			})
			if what == "time" {
				clock.t += int64(rapid.IntRange(1, 600).Draw(t, "passes"))
			}
			for _, j := range made {
				over[j.ID] = err == nil && request.OverLimits
			}
			if list := findings(tt, db); len(list) > 0 {
				t.Fatalf("after %s: %q", what, list)
			}
			lawful(t, db, rules, over, what)
		}
	})
}

// lawful fails if a rule is broken.
func lawful(t *rapid.T, db *DB, rules []lawLimit, over map[uint64]bool, what string) {
	var live []*Job
	var now int64
	err := db.View(func(tx *Tx) error {
		now = tx.k.Now
		return tx.Jobs().Each(func(j *Job) error { live = append(live, j); return nil }, JobRunning, JobReserved,
			JobQueued, JobHeld)
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range rules {
		l := &rules[i]
		groups := map[string][]*Job{}
		free := map[string]bool{} // a job in it is exempt
		for _, j := range live {
			beaten := false
			for k := range rules {
				beaten = beaten || rules[k].isFor(j) && rules[k].beats(l)
			}
			if !l.isFor(j) || beaten {
				continue
			}
			waits := j.State != JobRunning
			switch l.Measure {
			case "running", "ncpus", "nodes", "ncpus.left":
				if j.Start.IsZero() || j.State == JobQueued || j.State == JobHeld {
					continue
				}
			case "queued", "ncpus.queued":
				if !waits {
					continue
				}
			}
			g := l.group(j)
			groups[g] = append(groups[g], j)
			free[g] = free[g] || over[j.ID] || j.State == JobRunning && j.End.Unix() <= now
		}
		for g, members := range groups {
			if free[g] || strings.HasSuffix(l.Measure, "queued") && (what == "requeue" || what == "cycle" ||
				what == "time") {
				continue
			}
			got := int64(0)
			if timed := l.Measure == "running" || l.Measure == "ncpus" || l.Measure == "nodes" ||
				l.Measure == "ncpus.left"; timed {
				got = worst(l, members, now)
			} else {
				for _, j := range members {
					got += l.amount(j)
				}
			}
			if got > l.Max && !strings.HasSuffix(l.Measure, "queued") {
				t.Fatalf("after %s: limit %s %s of %s: %d of %d", what, l.Key, l.Measure, g, got, l.Max)
			}
		}
	}
}

// TestAlterCounts: an altered job counts for its new owner and request from then on, and does
// not block itself.
func TestAlterCounts(t *testing.T) {
	db, _ := newDB(t)
	addNodes(t, db, "n", 1, 8)
	must := func(fn func(tx *Tx) error) {
		t.Helper()
		if err := db.Update(fn); err != nil {
			t.Fatal(err)
		}
	}
	must(func(tx *Tx) error {
		return errors.Join(tx.Limits().Set(Limit{Key: "account=*", Measure: "queued", Max: 1}),
			tx.Limits().Set(Limit{Key: "user=*", Measure: "ncpus.queued", Max: 9}))
	})
	submit := func(account, sel string) error {
		return db.Update(func(tx *Tx) error {
			_, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: sel, User: "ann", Account: account,
				Walltime: time.Hour}})
			return err
		})
	}
	alter := func(a Alteration) error {
		return db.Update(func(tx *Tx) error { _, err := tx.Jobs().Alter(1, a); return err })
	}
	b, eight, ten := "b", "1:ncpus=8", "10:ncpus=1"
	if err := submit("a", "1:ncpus=1"); err != nil {
		t.Fatal(err)
	}
	if err := alter(Alteration{Account: &b, Select: &eight}); err != nil {
		t.Fatal(err)
	}
	if err := alter(Alteration{Account: &b}); err != nil { // b is full, of this job alone
		t.Error(err)
	}
	if err := alter(Alteration{Select: &ten}); !errors.Is(err, placer.ErrNever) && !errors.Is(err, placer.ErrNotNow) {
		t.Errorf("altered beyond a limit: %v", err)
	}
	if err := submit("a", "1:ncpus=2"); !errors.Is(err, placer.ErrNotNow) { // 8 of 9 cpus wait
		t.Errorf("submitted beyond a limit: %v", err)
	}
	if err := submit("a", "1:ncpus=1"); err != nil { // account a is free again
		t.Error(err)
	}
	seven := "1:ncpus=7"
	if err := alter(Alteration{Select: &seven}); err != nil { // what it asks for alone
		t.Error(err)
	}
	if list := findings(t, db); len(list) > 0 {
		t.Error(list)
	}
	must(func(tx *Tx) error { _, err := tx.Jobs().Cancel(1, ""); return err })
	if err := submit("b", "1:ncpus=8"); err != nil {
		t.Error(err)
	}
	if list := findings(t, db); len(list) > 0 {
		t.Error(list)
	}
}
