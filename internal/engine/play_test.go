package engine

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/recur"
	"pgregory.net/rapid"
)

// TestPlayRemembers: what a play passes from one instant to the next changes no start.
func TestPlayRemembers(t *testing.T) {
	t.Parallel()
	waited := 0
	rapid.Check(t, func(rt *rapid.T) { waited += playRemembers(rt, filepath.Join(t.TempDir(), "a.db")) })
	if waited < 100 {
		t.Errorf("%d jobs have waited", waited)
	}
}

func playRemembers(t *rapid.T, path string) (waited int) {
	now := &clock{1_700_000_000}
	pick := func(label string, list ...string) string { return rapid.SampledFrom(list).Draw(t, label) }
	nodes := rapid.IntRange(2, 8).Draw(t, "nodes")
	err := Create(path, &Options{Now: now.now, AnyTime: true}, func(tx *Tx) error {
		if err := tx.Config().AddResource(index.Def{Name: "color", Type: index.String}); err != nil {
			return err
		}
		defs, err := tx.Config().Resources()
		if err != nil {
			return err
		}
		color, _ := defs.Lookup("color")
		for i := range nodes {
			n := &index.Node{Name: fmt.Sprintf("n%d", i)}
			n.Set(index.NCPUs, index.Value{Num: 4})
			n.Set(color.ID, index.Value{Str: fmt.Sprintf("c%d", i%3)})
			if _, err := tx.Nodes().Put(n); err != nil {
				return err
			}
		}
		return tx.Config().Set("backfill", pick("backfill", "easy", "easy", "fcfs", "conservative", "relaxed"))
	})
	if err != nil {
		t.Fatal(err)
	}
	db, err := Open(path, &Options{Now: now.now})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Update(func(tx *Tx) error {
		last := uint64(0)
		if rapid.IntRange(0, 2).Draw(t, "limit") == 0 {
			if err := tx.Limits().Set(Limit{Key: "user=ann", Measure: "running", Max: 2}); err != nil {
				return err
			}
		}
		for i := range rapid.IntRange(5, 40).Draw(t, "jobs") {
			s := Submission{Request: placer.Request{Select: pick("chunks", "1", "1", "1", "2", "3", "6", "12") +
				":ncpus=" + pick("cpus", "1", "2", "4") + pick("color", "", "", ":color=c0", ":color=c1"),
				Place:    pick("place", "free", "free", "scatter", "excl", "scatter:excl", "pack"),
				User:     pick("user", "ann", "bob"),
				Walltime: time.Duration(rapid.IntRange(1, 40).Draw(t, "walltime")) * time.Minute},
				Priority: int64(rapid.IntRange(0, 1).Draw(t, "priority"))}
			if rapid.IntRange(0, 5).Draw(t, "later") == 0 {
				s.Begin = kernel.Instant(now.t + int64(rapid.IntRange(1, 3000).Draw(t, "begin")))
			}
			switch rapid.IntRange(0, 8).Draw(t, "special") {
			case 0:
				s.Array = rapid.IntRange(1, 4).Draw(t, "array")
			case 1:
				s.Deadline = kernel.Instant(now.t + int64(s.Walltime/time.Second) +
					int64(rapid.IntRange(0, 3000).Draw(t, "deadline")))
			case 2:
				if last > 0 {
					s.After = []Dependency{{Job: rapid.Uint64Range(1, last).Draw(t, "after"),
						When: rapid.SampledFrom([]When{After, AfterAny}).Draw(t, "when")}}
				}
			}
			switch jobs, err := tx.Jobs().Submit(s); {
			case err == nil:
				last = jobs[len(jobs)-1].ID
			case !errors.Is(err, ErrConflict) && !errors.Is(err, ErrInvalid):
				return err
			}
			if i%8 == 7 {
				if _, err := tx.Cycle().Run(CycleSpec{}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(func(tx *Tx) error {
		for _, runs := range []func(*row.Job, int64) (int64, error){nil, func(j *row.Job, ran int64) (int64, error) {
			return max(ran, 1+j.Walltime/int64(2+j.ID%3)), nil
		}} {
			is, err := queue.PlayInMemory(tx.k, PlaySpec{Runs: runs})
			if err != nil {
				return err
			}
			want, err := queue.PlayInMemory(tx.k, PlaySpec{Runs: runs, Forgets: true})
			if err != nil {
				return err
			}
			if is.Memory == nil || want.Memory != nil {
				t.Fatal("nothing is remembered, or what should not be")
			}
			if !maps.Equal(is.Started, want.Started) {
				t.Fatalf("jobs start at %v, and at %v where nothing is remembered", is.Started, want.Started)
			}
			waited = len(is.Started)
		}
		asked, err := queue.PlayInMemory(tx.k, PlaySpec{Forgets: true})
		if err != nil {
			return err
		}
		fs, err := tx.Cycle().FreshForecasts()
		if err != nil {
			return err
		}
		for _, j := range asked.Waiting { // nothing has ended, so nothing is learned
			f, known := fs.Of(j.ID)
			if at := asked.Started[j.ID]; known != (at != 0) ||
				known && (kernel.Unix(f.Asked) != at || kernel.Unix(f.Likely) > at || kernel.Unix(f.Safe) > at ||
					j.State != JobReserved && kernel.Unix(f.Safe) != at) {
				t.Fatalf("job %d (%s) is expected at %v, and starts at %d when played", j.ID, j.State, f, at)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return waited
}

// TestPlayEnds: a play of jobs that cannot start soon ends, although a reservation repeats
// every day. One of jobs that must wait for many ends continues.
func TestPlayEnds(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t)
	addNodes(t, db, "n", 3, 4)
	mustUpdate(t, db, func(tx *Tx) error {
		_, err := tx.Reservations().Add(
			ReserveSpec{Name: "night", Request: placer.Request{Select: "1:ncpus=4", Place: "excl",
				Walltime: 8 * time.Hour},
				Start: tx.Now().Add(12 * time.Hour), Repeat: recur.Repeat{Rule: "daily"}, Depth: 2})
		if err != nil {
			return err
		}
		if err := tx.Limits().Set(Limit{Key: "user=bob", Measure: "running", Max: 0}); err != nil {
			return err
		}
		_, err = tx.Jobs().Submit(
			Submission{Request: placer.Request{Select: "4:ncpus=4", Place: "scatter", User: "ann",
				Walltime: time.Hour}})
		return err
	})
	instants := func() (n int, starts map[uint64]int64) {
		err := db.View(func(tx *Tx) error {
			p, err := queue.PlayInMemory(tx.k, PlaySpec{Done: func() bool { n++; return false }})
			if err == nil {
				starts = p.Started
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n, starts
	}
	if n, _ := instants(); n > 5 {
		t.Errorf("a job that can never run is played for %d instants", n)
	}
	mustUpdate(t, db, func(tx *Tx) error {
		_, err := tx.Jobs().Submit(
			Submission{Request: placer.Request{Select: "1:ncpus=4", User: "bob", Walltime: time.Hour}})
		return err
	})
	if n, _ := instants(); n > 1100 {
		t.Errorf("a job that its limit keeps is played for %d instants", n)
	}
}

// TestPlayForgetsMarks: a job that could never run in the last cycle starts in a play once
// there are nodes for it, although a reservation begins and ends meanwhile.
func TestPlayForgetsMarks(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t)
	addNodes(t, db, "n", 3, 4)
	var start time.Time
	mustUpdate(t, db, func(tx *Tx) error {
		start = tx.Now()
		if _, err := tx.Jobs().Place(placer.Request{Select: "3:ncpus=2", Place: "scatter", User: "ann",
			Walltime: 72 * time.Hour}); err != nil {
			return err
		}
		_, err := tx.Reservations().Add(
			ReserveSpec{Name: "night", Request: placer.Request{Select: "1:ncpus=1", Walltime: 8 * time.Hour},
				Start: start.Add(12 * time.Hour), Repeat: recur.Repeat{Rule: "daily"}, Depth: 2})
		if err != nil {
			return err
		}
		if _, err := tx.Jobs().Submit(
			Submission{Request: placer.Request{Select: "4:ncpus=3", Place: "scatter", User: "bob",
				Walltime: time.Hour}}); err != nil {
			return err
		}
		_, err = tx.Cycle().Run(CycleSpec{})
		return err
	})
	mustUpdate(t, db, func(tx *Tx) error {
		if j, err := tx.k.Job(2); err != nil || !j.Never {
			t.Fatal("it is not marked: ", err)
		}
		n := &index.Node{Name: "more"}
		n.Set(index.NCPUs, index.Value{Num: 4})
		_, err := tx.Nodes().Put(n)
		return err
	})
	err := db.View(func(tx *Tx) error {
		p, err := queue.PlayInMemory(tx.k, PlaySpec{})
		if err == nil && p.Started[2] != kernel.Unix(start.Add(72*time.Hour)) {
			t.Errorf("it starts at %v", p.Started)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestForecastsChangeNoStart: jobs run on the same nodes from the same instants on, whether
// expected starts are learned and kept or not.
func TestForecastsChangeNoStart(t *testing.T) {
	t.Parallel()
	kept := 0
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		now := &clock{1_700_000_000}
		flavour := rapid.SampledFrom([]string{"easy", "fcfs", "conservative", "relaxed"}).Draw(rt, "backfill")
		var dbs [2]*DB
		for i := range dbs {
			path := filepath.Join(dir, fmt.Sprintf("%d.db", i))
			err := Create(path, &Options{Now: now.now, AnyTime: true}, func(tx *Tx) error {
				for i := range 3 {
					n := &index.Node{Name: fmt.Sprintf("n%d", i)}
					n.Set(index.NCPUs, index.Value{Num: 4})
					if _, err := tx.Nodes().Put(n); err != nil {
						return err
					}
				}
				return tx.Config().Set("backfill", flavour)
			})
			if err != nil {
				rt.Fatal(err)
			}
			if dbs[i], err = Open(path, &Options{Now: now.now}); err != nil {
				rt.Fatal(err)
			}
			defer dbs[i].Close()
		}
		for range rapid.IntRange(5, 30).Draw(rt, "steps") {
			now.t += int64(rapid.IntRange(0, 200).Draw(rt, "later"))
			submitted := rapid.IntRange(0, 3).Draw(rt, "jobs")
			s := Submission{
				Request: placer.Request{
					Select: rapid.SampledFrom([]string{"1:ncpus=1", "1:ncpus=4", "2:ncpus=4", "5:ncpus=2"}).Draw(rt,
						"select"),
					User:     rapid.SampledFrom([]string{"ann", "bob"}).Draw(rt, "user"),
					Walltime: time.Duration(rapid.IntRange(1, 20).Draw(rt, "walltime")) * time.Minute}}
			ends := rapid.Uint64Range(1, 20).Draw(rt, "ends")
			for _, db := range dbs {
				err := db.Update(func(tx *Tx) error {
					for range submitted {
						if _, err := tx.Jobs().Submit(s); err != nil {
							return err
						}
					}
					if j, err := tx.k.Job(ends); err == nil && j.State == JobRunning {
						if _, err := tx.Jobs().Release(ends); err != nil {
							return err
						}
					}
					_, err := tx.Cycle().Run(CycleSpec{})
					return err
				})
				if err != nil {
					rt.Fatal(err)
				}
			}
			if err := dbs[1].Forecast(ForecastSpec{}); err != nil {
				rt.Fatal(err)
			}
		}
		var jobs [2]map[uint64]string
		for i, db := range dbs {
			jobs[i] = make(map[uint64]string)
			err := db.View(func(tx *Tx) error {
				fs, err := queue.KeptForecasts(tx.k)
				if err != nil || (fs != nil) != (i == 1) {
					return fmt.Errorf("database %d keeps %v: %w", i, fs, err)
				}
				if fs != nil {
					for _, f := range fs.Jobs {
						if f.Likely != 0 && f.Likely < f.Asked {
							kept++
						}
					}
				}
				return tx.Jobs().Each(func(j *Job) error {
					jobs[i][j.ID] = fmt.Sprint(j.State, j.Start, j.End, j.AllNodes())
					return nil
				})
			})
			if err != nil {
				rt.Fatal(err)
			}
		}
		if !maps.Equal(jobs[0], jobs[1]) {
			rt.Fatalf("jobs are %v, and %v where expected starts are kept", jobs[0], jobs[1])
		}
	})
	if kept < 20 {
		t.Errorf("%d jobs were expected sooner than by what is asked for", kept)
	}
}

// TestForecastOfPlan: a job with a plan has a safe start that is no later than its plan.
func TestForecastOfPlan(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	l.submit(2, 100*time.Second)
	l.do(func(tx *Tx) error { // the plan stands, whatever comes before it
		_, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: "1:ncpus=2", Walltime: time.Minute,
			User: "ann"}, Priority: 5})
		return err
	})
	err := l.db.View(func(tx *Tx) error {
		p, err := queue.PlayInMemory(tx.k, PlaySpec{})
		if err == nil && (len(p.Waiting) != 2 || p.Waiting[1].State != JobReserved ||
			p.Started[2] <= p.Waiting[1].Start) {
			t.Errorf("job 2 was %s for %d, and is played for %d", p.Waiting[1].State, p.Waiting[1].Start, p.Started[2])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	l.is(2, 100, 100, 160)
}

// TestPlayLooksWhenCyclesDo: a play has no cycle at the begin time of a job that waits for another,
// because none comes then. Here such a cycle would plan the job that a limit holds back, 6, before
// the one that comes first when the limit lets it start.
func TestPlayLooksWhenCyclesDo(t *testing.T) {
	t.Parallel()
	path, now := filepath.Join(t.TempDir(), "a.db"), &clock{1_000_000}
	job := func(user, chunks string, walltime time.Duration) Submission {
		return Submission{Request: placer.Request{Select: chunks, Place: "free", User: user,
			Walltime: walltime * time.Second}}
	}
	err := Create(path, &Options{Now: now.now}, func(tx *Tx) error {
		for _, name := range []string{"n1", "n2"} {
			n := &index.Node{Name: name}
			n.Set(index.NCPUs, index.Value{Num: 4})
			if _, err := tx.Nodes().Put(n); err != nil {
				return err
			}
		}
		if err := tx.Limits().Set(Limit{Key: "user=*", Measure: "running", Max: 1}); err != nil {
			return err
		}
		if _, err := tx.Jobs().Place(job("ann", "1:ncpus=4:host=n1", 900).Request); err != nil {
			return err
		}
		if _, err := tx.Jobs().PlaceAt(job("bob", "1:ncpus=3:host=n1", 420).Request,
			kernel.Instant(now.t).Add(900*time.Second)); err != nil {
			return err
		}
		if _, err := tx.Jobs().PlaceAt(job("dan", "1:ncpus=3:host=n1+1:ncpus=3:host=n2", 180).Request,
			kernel.Instant(now.t).Add(1320*time.Second)); err != nil {
			return err
		}
		first := job("eve", "1:ncpus=4", 180)
		first.After = []Dependency{{Job: 2, When: After}}
		waits := job("fay", "1:ncpus=1", 60)
		waits.After, waits.Begin = []Dependency{{Job: 4, When: After}}, kernel.Instant(now.t).Add(871*time.Second)
		for _, s := range []Submission{first, waits, job("ann", "2:ncpus=1", 900)} {
			if _, err := tx.Jobs().Submit(s); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	db, err := Open(path, &Options{Now: now.now})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var played []Played
	err = db.View(func(tx *Tx) error {
		return tx.Suppose(func(tx *Tx) (err error) { played, err = tx.Cycle().Play(PlaySpec{}); return err })
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(func(tx *Tx) error {
		return (&queue.Playing{Tx: tx.k, Started: make(map[uint64]int64)}).Prepare()
	}); err != nil {
		t.Fatal(err)
	}
	starts := make(map[uint64]time.Time)
	for len(starts) < len(played) {
		err := db.Update(func(tx *Tx) error {
			r, err := tx.Cycle().Run(CycleSpec{})
			if err != nil {
				return err
			}
			for _, j := range r.Launch {
				if j.ID > 3 {
					starts[j.ID] = j.Start
				}
			}
			if r.Next.IsZero() {
				return fmt.Errorf("nothing is left to come, and %v have started", starts)
			}
			now.t = kernel.Unix(r.Next)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range played {
		t.Logf("job %d: %v, %v", p.Job, p.Start, starts[p.Job])
		if !p.Start.Equal(starts[p.Job]) {
			t.Errorf("job %d starts at %v in a play, and at %v when it comes to it", p.Job, p.Start, starts[p.Job])
		}
	}
}
