package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/placer/recur"
)

// TestLiftedAtItsTurn: a plan that is lifted for an earlier job is made again, or put back, at
// its turn: before any later job has one.
func TestLiftedAtItsTurn(t *testing.T) {
	for _, backfill := range []string{"easy", "conservative"} {
		t.Run(backfill, func(t *testing.T) {
			s := newStory(t, backfill, "n0=1 n1=2 n2=2")
			s.place("X", "1:ncpus=2", 0, 600)
			s.place("Y", "1:ncpus=2", 0, 600)
			s.submit("HEAD", "1:ncpus=2", 600, prio(3))
			s.submit("LOW", "1:ncpus=2", 3600, prio(1))
			s.cycle()
			s.at(100).done("Y")
			s.submit("NEW", "1:ncpus=1", 600, prio(5))
			s.cycle()
			s.want("X running 0 n1, HEAD running 100 n2, NEW running 100 n0, LOW reserved 600 n1")
		})
	}
}

// TestLiftedWhateverWasLooked: a lifted plan takes the room of those behind it whether or not the file
// says that a cycle has looked since room was made; a cycle that changes nothing leaves that unsaid.
func TestLiftedWhateverWasLooked(t *testing.T) {
	for _, said := range []bool{false, true} {
		s := newStory(t, "conservative", "n0=1 n1=2 n2=2")
		s.place("X", "1:ncpus=2", 0, 600)
		s.place("Y", "1:ncpus=2", 0, 600)
		s.submit("HEAD", "1:ncpus=2", 600, prio(3))
		s.submit("LOW", "1:ncpus=2", 3600, prio(1), func(sub *Submission) {
			sub.Begin = s.clock.now().Add(600 * time.Second)
		})
		s.cycle()
		s.at(100).done("Y")
		s.cycle()
		s.want("X running 0 n1, HEAD reserved 600 n1, LOW reserved 600 n2")
		if said {
			s.submit("HELD", "1:ncpus=1", 600, func(sub *Submission) { sub.Hold = true })
			s.cycle()
		}
		s.submit("NEW", "1:ncpus=1", 600, prio(5))
		s.cycle()
		want := "X running 0 n1, HEAD running 100 n2, NEW running 100 n0, LOW reserved 600 n1"
		if said {
			want += ", HELD held"
		}
		s.want(want)
	}
}

// TestPutOffInTurn: a job whose start is postponed by an overdue one keeps its turn, whoever
// writes first, and later jobs come after it.
func TestPutOffInTurn(t *testing.T) {
	for _, first := range []string{"done", "cycle", "hold"} {
		t.Run(first, func(t *testing.T) {
			s := newStory(t, "conservative", "n1=4")
			s.place("A", "1:ncpus=4", 0, 60)
			s.submit("B", "1:ncpus=4", 60, prio(9))
			for _, name := range []string{"C", "D", "E"} {
				s.submit(name, "1:ncpus=4", 600)
			}
			s.cycle()
			s.want("A running 0 n1, B reserved 60 n1, C reserved 120 n1, D reserved 720 n1, E reserved 1320 n1")
			s.at(61)
			switch first {
			case "cycle":
				s.cycle()
			case "hold":
				s.do(func(tx *Tx) error { _, err := tx.Jobs().Hold(s.ids["E"], ""); return err })
				s.do(func(tx *Tx) error { _, err := tx.Jobs().Unhold(s.ids["E"]); return err })
			}
			s.at(70).done("A")
			s.cycle()
			s.want("B running 70 n1, C reserved 130 n1, D reserved 730 n1, E reserved 1330 n1")
		})
	}
}

// TestPlacedIsPutOff: a job placed for an instant, and postponed by an overdue one, goes
// before those of the queue. It moves forward again, but not to before that instant.
func TestPlacedIsPutOff(t *testing.T) {
	s := newStory(t, "conservative", "n1=4")
	s.place("A", "1:ncpus=4", 0, 60)
	s.place("B", "1:ncpus=4", 60, 60)
	s.submit("C", "1:ncpus=4", 600)
	s.cycle()
	s.want("A running 0 n1, B reserved 60 n1, C reserved 120 n1")
	s.at(61).cycle()
	s.want("A running 0 n1, B reserved 361 n1, C reserved 421 n1")
	s.at(70).done("A")
	s.cycle()
	s.want("B running 70 n1, C reserved 130 n1")
}

// TestNodeTakesPlansAlong: if a node becomes unavailable, the plans on it are removed: they
// are made again in the order of the queue, or the jobs wait and say why.
func TestNodeTakesPlansAlong(t *testing.T) {
	for _, state := range []index.State{index.Down, index.Offline, index.Drained} {
		t.Run(state.String(), func(t *testing.T) {
			s := newStory(t, "conservative", "n1=4 n2=4")
			s.place("X", "1:ncpus=4", 0, 600)
			s.place("Y", "1:ncpus=4", 0, 700)
			s.submit("B", "1:ncpus=4", 300, prio(9))
			s.submit("C", "1:ncpus=4", 300)
			s.cycle()
			s.want("X running 0 n1, Y running 0 n2, B reserved 600 n1, C reserved 700 n2")
			s.at(100).node("n1", state)
			s.want("X running 0 n1, Y running 0 n2, B reserved 700 n2, C reserved 1000 n2")
			s.at(110).node("n2", state)
			s.want("X running 0 n1, Y running 0 n2, B queued, C queued")
			s.at(120).node("n1", index.Up)
			s.cycle()
			s.want("X running 0 n1, Y running 0 n2, B reserved 600 n1, C reserved 900 n1")
		})
	}
}

// TestChangeBehindATakenPlan: a job whose plan was removed, and that is changed in the same
// transaction, is planned as it then is, if it still waits.
func TestChangeBehindATakenPlan(t *testing.T) {
	for _, c := range []struct {
		name, want string
		change     func(tx *Tx, id uint64) error
	}{
		{"cancelled", "", func(tx *Tx, id uint64) error { _, err := tx.Jobs().Cancel(id, ""); return err }},
		{"extended", "B reserved 600 n2", func(tx *Tx, id uint64) error {
			_, err := tx.Jobs().Extend(id, 100*time.Second)
			return err
		}},
		{"its node changed", "B reserved 600 n2", func(tx *Tx, _ uint64) error {
			n, err := tx.Nodes().ByNumber(0)
			if err != nil {
				return err
			}
			n.Set(index.NCPUs, index.Value{Num: 2})
			_, err = tx.Nodes().Put(n)
			return err
		}},
		{"left alone", "B reserved 600 n2", func(*Tx, uint64) error { return nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStory(t, "easy", "n1=4 n2=4")
			s.place("B", "1:ncpus=4", 600, 60)
			s.want("B reserved 600 n1")
			s.do(func(tx *Tx) error {
				// A host's refusal does this, in a transaction that continues.
				if err := jobs.SetNodeState(tx.k, 0, index.Drained,
					row.Because(row.CauseHealth, "no disk")); err != nil {
					return err
				}
				return c.change(tx, s.ids["B"])
			})
			s.want(c.want)
			s.at(1000).cycle()
		})
	}
}

// night makes a standing reservation of all processors of a node, for the first 100 seconds of
// each 600, kept two times ahead.
func (s *story) night(nodes ...uint32) {
	s.t.Helper()
	s.do(func(tx *Tx) error {
		spec := ReserveSpec{Name: "night", Start: tx.Now().Add(time.Second * 600), Nodes: nodes,
			Repeat: recur.Repeat{Rule: "FREQ=MINUTELY;INTERVAL=10"}, Depth: 2,
			Request: placer.Request{Select: "1:ncpus=4", Place: "excl", Walltime: 100 * time.Second}}
		if len(nodes) > 0 {
			spec.Request, spec.End = placer.Request{}, spec.Start.Add(100*time.Second)
		}
		_, err := tx.Reservations().Add(spec)
		return err
	})
}

// nights verifies when it occurs from now on, and which occurrences are reported as missed.
func (s *story) nights(want string) {
	s.t.Helper()
	var starts, missed []string
	err := s.db.View(func(tx *Tx) error {
		list, err := tx.Reservations().Occurrences("night")
		for _, r := range list {
			starts = append(starts, fmt.Sprint(r.Start.Unix()-s.began))
		}
		if err != nil {
			return err
		}
		return tx.EachEvent(0, func(ev *Event) (bool, error) {
			if ev.New == "missed" {
				at, _, _ := strings.Cut(strings.TrimPrefix(ev.Reason.String(), "night: the occurrence at "), " ")
				missed = append(missed, strings.TrimSuffix(at, ","))
			}
			return true, nil
		})
	})
	for i, at := range missed {
		if start, err := time.Parse(time.RFC3339, at); err == nil {
			missed[i] = fmt.Sprint(start.Unix() - s.began)
		}
	}
	if got := fmt.Sprint(starts, missed); err != nil || got != want {
		s.t.Errorf("at %d: %s %v, want %s", s.clock.t-s.began, got, err, want)
	}
}

// TestStandingSkipsNothing: windows of a standing reservation that are not available are tried
// until they are over; then they are events.
func TestStandingSkipsNothing(t *testing.T) {
	t.Run("back in time", func(t *testing.T) {
		s := newStory(t, "easy", "n1=4")
		s.night()
		s.nights("[600 1200] []")
		s.at(650).node("n1", index.Drained)
		s.at(700).cycle()
		s.nights("[1200] []")
		s.at(800).node("n1", index.Up)
		s.nights("[1200 1800] []")
	})
	t.Run("back within a window", func(t *testing.T) {
		s := newStory(t, "easy", "n1=4")
		s.night()
		s.at(500).node("n1", index.Drained)
		s.at(700).cycle()
		s.at(1300).cycle()
		s.nights("[] []")
		s.at(1850).node("n1", index.Up)
		s.nights("[1800 2400] []")
		s.at(1900).cycle()
		s.nights("[2400 3000] []")
	})
	t.Run("days later", func(t *testing.T) {
		s := newStory(t, "easy", "n1=4")
		s.night()
		s.at(500).node("n1", index.Down)
		for at := int64(700); at <= 3200; at += 100 {
			s.at(at).cycle()
		}
		s.nights("[] [1800 2400 3000]")
		s.at(3300).node("n1", index.Up)
		s.nights("[3600 4200] [1800 2400 3000]")
	})
	t.Run("no command for long", func(t *testing.T) {
		s := newStory(t, "easy", "n1=4 n2=4")
		s.night(0)
		s.at(600_500).cycle()
		s.nights("[600600 601200] [1800]")
	})
	t.Run("removed", func(t *testing.T) {
		s := newStory(t, "easy", "n1=4")
		s.night()
		s.do(func(tx *Tx) error { _, err := tx.Reservations().Remove("night.1"); return err })
		s.nights("[1200 1800] []")
		s.at(650).cycle()
		s.nights("[1200 1800] []")
	})
	t.Run("its node taken", func(t *testing.T) { // other nodes are not its own
		s := newStory(t, "easy", "n1=4 n2=4")
		s.night(0)
		s.place("X", "1:ncpus=4", 1750, 300)
		s.want("X reserved 1750 n1")
		s.at(701).cycle()
		s.nights("[1200 2400] []")
		s.at(1901).cycle()
		s.nights("[2400 3000] [1800]")
	})
	t.Run("taken", func(t *testing.T) {
		s := newStory(t, "easy", "n1=4")
		s.night()
		s.place("X", "1:ncpus=4", 1500, 600)
		s.at(700).cycle()
		s.nights("[1200 2400] []")
		s.at(710).do(func(tx *Tx) error { _, err := tx.Jobs().Cancel(s.ids["X"], ""); return err })
		s.nights("[1200 1800 2400] []")
	})
}

// limit sets a limit such as "user=ann running=1".
func (s *story) limit(key, measure string, most int64) {
	s.t.Helper()
	s.do(func(tx *Tx) error { return tx.Limits().Set(Limit{Key: key, Measure: measure, Max: most}) })
}

func pool(name string) func(*Submission) {
	return func(s *Submission) { s.Request.Pools = []placer.PoolAmount{{Pool: name, Amount: 1}} }
}

// TestClaims: a job that a limit holds back has a claim on room in that limit, so that later jobs
// do not pass it for ever, and other jobs are not held up.
func TestClaims(t *testing.T) {
	t.Run("others want a pool besides", func(t *testing.T) {
		s := newStory(t, "easy", "n1=8")
		s.do(func(tx *Tx) error {
			return errors.Join(tx.Config().Set("overdue", "finish"), tx.Pools().Set(Pool{Name: "lic", Amount: 1}, true))
		})
		s.limit("user=ann", "running", 1)
		s.submit("X", "1:ncpus=1", 300, pool("lic"))
		s.cycle()
		s.submit("TOP", "1:ncpus=1", 300, prio(1000))
		s.submit("B", "1:ncpus=1", 300, pool("lic"))
		s.submit("C", "1:ncpus=1", 300, pool("lic"))
		s.cycle()
		s.at(60).cycle()
		s.at(300).cycle()
		s.want("TOP running 300 n1, B queued, C queued")
		s.at(600).cycle()
		s.want("B running 600 n1, C reserved 900 n1")
	})
	for _, backfill := range []string{"easy", "fcfs"} {
		t.Run("wide among narrow, "+backfill, func(t *testing.T) {
			s := newStory(t, backfill, "n1=8")
			s.limit("user=ann", "ncpus", 4)
			s.submit("A", "1:ncpus=2", 100)
			s.cycle()
			s.at(50).submit("B", "1:ncpus=2", 100)
			s.cycle()
			s.submit("WIDE", "1:ncpus=4", 100, prio(10))
			s.at(100).done("A")
			s.submit("C", "1:ncpus=2", 100)
			s.submit("D", "1:ncpus=4", 1000, byUser("bob"))
			s.submit("E", "1:ncpus=1", 50)
			s.cycle()
			want := "B running 50 n1, D running 100 n1, E running 100 n1, WIDE queued, C queued"
			if backfill == "fcfs" {
				want = "B running 50 n1, D running 100 n1, WIDE queued, C queued, E queued"
			}
			s.want(want)
			err := s.db.DryRun(func(tx *Tx) error {
				_, err := tx.Jobs().Place(placer.Request{User: "ann", Select: "1:ncpus=1", Walltime: 100 * time.Second})
				return err
			})
			if !errors.Is(err, placer.ErrNotNow) {
				t.Errorf("ann has one placed past the claim: %v", err)
			}
			s.at(150).done("B")
			if backfill == "easy" {
				s.done("E")
			}
			s.cycle()
			s.want(map[string]string{"easy": "D running 100 n1, WIDE running 150 n1, C reserved 250 n1",
				"fcfs": "D running 100 n1, WIDE running 150 n1, C queued, E queued"}[backfill])
		})
	}
	t.Run("short of room and of a limit", func(t *testing.T) {
		s := newStory(t, "easy", "n1=4")
		s.limit("user=ann", "ncpus", 4)
		s.submit("A", "1:ncpus=2", 600)
		s.submit("B", "1:ncpus=2", 600, byUser("bob"))
		s.cycle()
		s.submit("C", "1:ncpus=4", 600, prio(9))
		s.submit("D", "1:ncpus=2", 3600, byUser("cyd"))
		s.cycle()
		s.want("A running 0 n1, B running 0 n1, C reserved 600 n1, D queued")
	})
	t.Run("a claim goes with its job", func(t *testing.T) {
		for _, how := range []func(*Tx, uint64) error{
			func(tx *Tx, id uint64) error { _, err := tx.Jobs().Cancel(id, ""); return err },
			func(tx *Tx, id uint64) error { _, err := tx.Jobs().Hold(id, ""); return err },
			func(tx *Tx, id uint64) error { _, err := tx.Jobs().Extend(id, 10*time.Second); return err },
		} {
			s := newStory(t, "easy", "n1=8")
			s.limit("user=ann", "running", 1)
			s.submit("A", "1:ncpus=1", 100)
			s.cycle()
			s.submit("TOP", "1:ncpus=1", 100)
			s.cycle()
			s.claims("TOP 100")
			s.do(func(tx *Tx) error { return how(tx, s.ids["TOP"]) })
			s.claims("")
		}
	})
	t.Run("put off three times", func(t *testing.T) {
		s := newStory(t, "easy", "n1=8")
		s.limit("user=ann", "running", 1)
		s.limit("all", "ncpus", 8)
		s.submit("A", "1:ncpus=1", 100)
		s.cycle()
		s.submit("TOP", "1:ncpus=1", 100)
		s.cycle()
		for _, at := range []int64{101, 201, 301} {
			s.at(at).cycle()
		}
		s.claims("TOP 601")
		s.do(func(tx *Tx) error {
			claims, err := tx.k.Counters().Rules.Claims()
			if held := claims[s.ids["TOP"]].Held; len(held) != 1 || !strings.Contains(held[0].Counter, "user=ann") {
				t.Errorf("it keeps room in %v", held)
			}
			return err
		})
	})
}

// claims verifies which claims exist, and from when on.
func (s *story) claims(want string) {
	s.t.Helper()
	got := ""
	err := s.db.View(func(tx *Tx) error {
		claims, err := tx.k.Counters().Rules.Claims()
		for name, id := range s.ids {
			if c := claims[id]; c != nil {
				got += fmt.Sprintf("%s %d", name, c.Start-s.began)
			}
		}
		return err
	})
	if err != nil || got != want {
		s.t.Errorf("claims: %s %v, want %s", got, err, want)
	}
}

// TestClassPlans: across classes, shares decide which jobs start and which are planned,
// whenever nodes are released. A job that cannot start does not block others.
func TestClassPlans(t *testing.T) {
	classes := func(t *testing.T, backfill string) *story {
		s := newStory(t, backfill, "n1=1 n2=1 n3=1 n4=1 n5=1")
		setShares(t, s.db,
			&fairshare.Settings{Loads: []fairshare.ClassLoad{{Class: "phys", Load: 60}, {Class: "bio", Load: 40}},
				Map: []fairshare.Mapping{{Class: "bio", Requestor: "^eva$"}}, Default: "phys"})
		return s
	}
	starts := func(s *story, states ...JobState) string {
		got := make(map[int64]map[string]int)
		err := s.db.View(func(tx *Tx) error {
			return tx.Jobs().Each(func(j *Job) error {
				at := j.Start.Unix() - s.began
				if got[at] == nil {
					got[at] = make(map[string]int)
				}
				got[at][j.User]++
				return nil
			}, states...)
		})
		if err != nil {
			s.t.Fatal(err)
		}
		return fmt.Sprint(got)
	}
	t.Run("conservative", func(t *testing.T) {
		s := classes(t, "conservative")
		s.submit("bio", "1:ncpus=1", 1800, byUser("eva"), func(s *Submission) { s.Array = 12 })
		s.submit("phys", "1:ncpus=1", 1800, byUser("max"), func(s *Submission) { s.Array = 12 })
		s.cycle()
		if got, want := starts(s, JobRunning, JobReserved), "map[0:map[eva:2 max:3] 1800:map[eva:2 max:3] "+
			"3600:map[eva:2 max:3] 5400:map[eva:2 max:3] 7200:map[eva:4]]"; got != want {
			t.Errorf("planned: %s, want %s", got, want)
		}
		s.at(300).do(func(tx *Tx) error {
			return tx.Jobs().Each(func(j *Job) error { _, err := tx.Jobs().Finish(j.ID, 0, ""); return err },
				JobRunning)
		})
		s.cycle()
		if got, want := starts(s, JobRunning), "map[300:map[eva:2 max:3]]"; got != want {
			t.Errorf("running: %s, want %s", got, want)
		}
	})
	for _, backfill := range []string{"easy", "conservative", "fcfs"} {
		t.Run("a limit of 0, "+backfill, func(t *testing.T) {
			s := classes(t, backfill)
			s.limit("user=max", "running", 0)
			s.submit("phys", "1:ncpus=1", 1800, byUser("max"), func(s *Submission) { s.Array = 5 })
			s.submit("bio", "1:ncpus=1", 1800, byUser("eva"), func(s *Submission) { s.Array = 6 })
			s.cycle()
			if got, want := starts(s, JobRunning), "map[0:map[eva:5]]"; got != want {
				t.Errorf("running: %s, want %s", got, want)
			}
		})
		if backfill == "fcfs" {
			continue
		}
		t.Run("what does not fit lends, "+backfill, func(t *testing.T) {
			s := classes(t, backfill)
			s.submit("wide", "1:ncpus=1", 600, byUser("max"), func(s *Submission) { s.Array = 3 })
			s.cycle()
			s.submit("never", "1:ncpus=2", 1800, byUser("max"))
			s.submit("bio", "1:ncpus=1", 1800, byUser("eva"), func(s *Submission) { s.Array = 6 })
			s.cycle()
			if got, want := starts(s, JobRunning), "map[0:map[eva:2 max:3]]"; got != want {
				t.Errorf("running: %s, want %s", got, want)
			}
			s.at(10).done("wide")
			s.cycle()
			if got, want := starts(s, JobRunning), "map[0:map[eva:2 max:2] 10:map[eva:1]]"; got != want {
				t.Errorf("running: %s, want %s", got, want)
			}
		})
	}
}

// TestCycleAgain: a cycle with nothing new commits nothing, though it lifts plans and puts
// them back.
func TestCycleAgain(t *testing.T) {
	for _, backfill := range []string{"fcfs", "easy", "conservative"} {
		s := newStory(t, backfill, "n1=4 n2=4")
		s.limit("user=ann", "ncpus", 6)
		s.place("X", "1:ncpus=4", 0, 600)
		for i := range 4 {
			s.submit(fmt.Sprint("A", i), "2:ncpus=2", 300+i, prio(int64(i)))
			s.submit(fmt.Sprint("B", i), "1:ncpus=1", 200+i, byUser("bob"), prio(int64(i%2)))
		}
		again := func() {
			s.cycle()
			s.db.changed.Store(false)
			if s.cycle(); s.db.Changed() {
				t.Errorf("%s: a second cycle commits something", backfill)
			}
		}
		again()
		s.at(100).done("X")
		again()
	}
}

// TestPlacedKeepsItsReason: the plan of a job placed at an instant, which could not run now,
// stays, and further cycles add nothing to its reason.
func TestPlacedKeepsItsReason(t *testing.T) {
	s := newStory(t, "fcfs", "n1=4 n2=4")
	s.place("Y", "1:ncpus=1", 0, 60)
	s.place("X", "2:ncpus=4", 310, 300)
	s.at(10).node("n2", index.Down)
	reason := func() (why string) {
		s.cycle()
		s.do(func(tx *Tx) error { j, err := tx.Jobs().Get(s.ids["X"]); why = j.Reason.String(); return err })
		return why
	}
	s.at(100)
	if was, is := reason(), reason(); was != is {
		t.Errorf("it waits as %q, and then as %q", was, is)
	}
}

// TestFollowers: jobs that depend on the start of a job, or on the end of one that a cycle
// cancels, have their turn in that cycle, before later jobs.
func TestFollowers(t *testing.T) {
	s := newStory(t, "easy", "n1=2")
	s.submit("A", "1:ncpus=1", 100, prio(9))
	s.submit("B", "1:ncpus=1", 100, prio(5), func(x *Submission) {
		x.After = []Dependency{{When: After, Job: s.ids["A"]}}
	})
	s.submit("C", "1:ncpus=1", 100)
	s.cycle()
	s.want("A running 0 n1, B running 0 n1, C reserved 100 n1")
	s = newStory(t, "easy", "n1=1")
	s.submit("X", "1:ncpus=1", 100, func(x *Submission) { x.Deadline = time.Unix(s.began+120, 0) })
	s.submit("Y", "1:ncpus=1", 100, prio(5), func(x *Submission) {
		x.After = []Dependency{{When: AfterAny, Job: s.ids["X"]}}
	})
	s.submit("Z", "1:ncpus=1", 100)
	s.at(50).cycle()
	s.want("Y running 50 n1, Z reserved 150 n1")
}

// TestFollowerOvertaken: a job that depends on the start of another starts in that cycle even if a plan
// of a job after it, made before that start, is in its way.
func TestFollowerOvertaken(t *testing.T) {
	s := newStory(t, "easy", "n1=1 n2=1 n3=1")
	for node, from := range []int64{60, 0} {
		s.do(func(tx *Tx) error {
			_, err := tx.Reservations().ReserveNodes(fmt.Sprint("r", node), []uint32{uint32(node)},
				time.Unix(s.began+from, 0), time.Unix(s.began+from+1, 0))
			return err
		})
	}
	s.submit("A", "1:ncpus=1", 60)
	s.submit("B", "1:ncpus=1", 60, prio(5), func(x *Submission) {
		x.After = []Dependency{{When: After, Job: s.ids["A"]}}
	})
	s.submit("C", "2:ncpus=1", 100, prio(1))
	r := s.cycle()
	s.want("A running 0 n1, B running 0 n3, C reserved 60 n2 n3")
	if len(r.Planned) != 1 || r.Planned[0].Start.Unix() != s.began+60 {
		t.Errorf("the report has plans %+v", r.Planned)
	}
}

// TestFollowerBehindItsBetters: if an expression or shares order the queue, a job that depends
// on the start of another comes after those of its class that precede it.
func TestFollowerBehindItsBetters(t *testing.T) {
	follows := func(s *story) func(*Submission) {
		return func(x *Submission) { x.After = []Dependency{{When: After, Job: s.ids["A"]}} }
	}
	s := newStory(t, "fcfs", "n1=4")
	s.do(func(tx *Tx) error { return tx.Config().Set("job_priority", "PRIORITY") })
	s.submit("A", "1:ncpus=1", 100, prio(9))
	s.submit("B", "1:ncpus=4", 100, prio(5))
	s.submit("C", "1:ncpus=1", 100, follows(s))
	s.cycle()
	s.want("A running 0 n1, B queued, C queued")
	s = newStory(t, "easy", "n1=2")
	setShares(t, s.db, &fairshare.Settings{Loads: []fairshare.ClassLoad{{Class: "a", Load: 1}}, Default: "a"})
	s.submit("A", "1:ncpus=1", 100, prio(9))
	s.submit("B", "1:ncpus=1", 100, prio(5))
	s.submit("C", "1:ncpus=1", 100, follows(s))
	s.cycle()
	s.want("A running 0 n1, B running 0 n1, C reserved 100 n1")
}
