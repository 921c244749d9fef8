package keeper

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"golang.org/x/sys/unix"
)

var storm = flag.Int("storm", 500, "how many processes the kill storm kills")

// ledgerLine appends a line to the ledger. So each execution is told from all others.
const ledgerLine = `echo "$PLACECTL_JOB.$PLACECTL_ATTEMPT" >>"$LEDGER"`

// TestKilledAtSteps: a process is killed between any two steps. Keepers started by passes then do what
// remains. The attempt is executed at most once, and the job ends.
func TestKilledAtSteps(t *testing.T) {
	for _, c := range []struct {
		step  string // with the process that dies: without one, the first to reach the step
		first []engine.Outcome
		lives bool   // the command lives, so it is taken over
		twice string // the step at which the keeper before has died
	}{
		{step: "starting", first: []engine.Outcome{engine.OutcomeExited}},
		{step: "locked", first: []engine.Outcome{engine.OutcomeExited}},
		// depending on whether the next keeper first reports or claims
		{step: "prepared", first: []engine.Outcome{engine.OutcomeUnbegun, engine.OutcomeExited}},
		{step: "claimed", first: []engine.Outcome{engine.OutcomeUnbegun}},
		{step: "gate", first: []engine.Outcome{engine.OutcomeUnbegun}},
		// if the gate is missing, another one is forked
		{step: "gate gate", first: []engine.Outcome{engine.OutcomeExited, engine.OutcomeUnbegun}},
		{step: "go", first: []engine.Outcome{engine.OutcomeExited}, lives: true},
		{step: "go gate", first: []engine.Outcome{engine.OutcomeExited, engine.OutcomeUnbegun}},
		{step: "warden", first: []engine.Outcome{engine.OutcomeExited}},
		{step: "warden warden", first: []engine.Outcome{engine.OutcomeExited, engine.OutcomeUnbegun,
			engine.OutcomeLost}},
		{step: "executed", first: []engine.Outcome{engine.OutcomeExited}, lives: true},
		{step: "executed gate", first: []engine.Outcome{engine.OutcomeExited}, lives: true},
		{step: "executed warden", first: []engine.Outcome{engine.OutcomeExited}, lives: true},
		{step: "executed both", first: []engine.Outcome{engine.OutcomeExited}, lives: true},
		{step: "executed command", first: []engine.Outcome{engine.OutcomeSignal}, lives: true},
		{step: "executed all", first: []engine.Outcome{engine.OutcomeLost, engine.OutcomeSignal}, lives: true},
		{step: "ended", first: []engine.Outcome{engine.OutcomeExited}}, // the warden has recorded it
		{step: "spooled", first: []engine.Outcome{engine.OutcomeExited}},
		{step: "told", first: []engine.Outcome{engine.OutcomeExited}},
		{step: "settling", first: []engine.Outcome{engine.OutcomeExited}, twice: "ended"},
		{step: "adopting", first: []engine.Outcome{engine.OutcomeExited}, lives: true, twice: "executed"},
		{step: "adopted", first: []engine.Outcome{engine.OutcomeExited}, lives: true, twice: "executed"},
		{step: "adopted warden", first: []engine.Outcome{engine.OutcomeExited}, lives: true, twice: "executed"},
	} {
		kill := func(t *testing.T, s *site) {
			line := ledgerLine
			if c.lives {
				line += "; sleep 2; exit 3" // it is adopted while it lives
			}
			k := s.job(line)
			die := []string{"RUNNER_DIE=" + c.step, "RUNNER_DIE_ONCE=" + s.dir + "/died"}
			if c.twice != "" {
				s.start([]string{"RUNNER_DIE=" + c.twice, "RUNNER_DIE_ONCE=" + s.dir + "/died-first"}, "keep").wait()
			}
			s.until("settled", func() bool {
				s.start(die, "pass").wait()
				return len(s.waiting()) == 0 && len(s.left()) == 0
			})
			if _, err := os.Stat(s.dir + "/died"); err != nil {
				t.Error("no process reached the step")
			}
			got := s.attempt(k).Result
			if !slices.Contains(c.first, got.Outcome) || got.Outcome == engine.OutcomeExited && c.lives &&
				got.Exit != 3 {
				t.Errorf("the first attempt ended with outcome %d (%s), exit %d, want one of %v; notes:\n%s",
					got.Outcome, got.Why, got.Exit, c.first, s.file("notes"))
			}
			if _, who, _ := strings.Cut(c.step, " "); got.Outcome == engine.OutcomeExited &&
				(who == "" || who == "gate") && got.Use.MaxRSS == 0 {
				t.Error("the resource use that the warden has counted is lost")
			}
			s.until("quiet", func() bool { return len(s.ours()) == 0 })
			s.checkLedger()
		}
		t.Run(c.step, func(t *testing.T) {
			t.Parallel()
			kill(t, newSite(t))
		})
		if _, who, _ := strings.Cut(c.step, " "); who == "" || who == "warden" || who == "command" {
			t.Run(c.step+", plain gate", func(t *testing.T) {
				t.Parallel()
				kill(t, newSite(t).withPlainGate())
			})
		}
	}
}

// TestManyAtOnce: one keeper executes many attempts at once and one after the other. Each has its own
// resource use, and none sees what another has left.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	busy := s.job(ledgerLine + `; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done`)
	var idle []Key
	for range 30 {
		idle = append(idle,
			s.job(
				ledgerLine+
					`; ls $TMPDIR >>"$LEDGER.seen"; mkdir -p $TMPDIR/locked/in; chmod 500 $TMPDIR/locked; echo >$TMPDIR/left; sleep 100 & echo`, func(o *Order) { o.Payload.Ending.Grace = 10 * time.Millisecond }))
	}
	s.start([]string{"RUNNER_MOST=12"}, "keep").wait()
	if cpu := s.attempt(busy).Result.Use.CPUUser; cpu < 5*time.Millisecond {
		t.Errorf("the busy command used %v of processor time", cpu)
	}
	for _, k := range idle {
		if r := s.attempt(k).Result; r.Use.CPUUser >= s.attempt(busy).Result.Use.CPUUser || r.Use.Leftover != 1 {
			t.Errorf("%s: result %+v, want less processor time than the busy one, and one process left over", k, r)
		}
	}
	if seen := s.file("ledger.seen"); seen != "" {
		t.Errorf("commands have seen what others have left: %q", seen)
	}
	s.checkLedger()
}

// TestReportFails: a report that the database does not accept in a turn is repeated.
func TestReportFails(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	k, other := s.job(ledgerLine+"; exit 3"), s.job(ledgerLine+"; exit 4")
	s.change(func(st *fakeState) { st.FailReports = 2 })
	s.start(nil, "keep").wait()
	for k, exit := range map[Key]int{k: 3, other: 4} {
		if r := s.attempt(k).Result; r.Outcome != engine.OutcomeExited || r.Exit != exit {
			t.Errorf("%s: result %+v, want exit %d", k, r, exit)
		}
	}
	s.checkLedger()
}

// TestOneKeeper: of several keepers only one executes.
func TestOneKeeper(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for range 20 {
		s.job(ledgerLine)
	}
	var all []*process
	for range 5 {
		all = append(all, s.start(nil, "keep"), s.start(nil, "pass"))
	}
	for _, p := range all {
		p.wait()
	}
	s.until("done", func() bool { return len(s.waiting()) == 0 && len(s.left()) == 0 })
	s.until("quiet", func() bool { return len(s.ours()) == 0 })
	s.checkLedger()
}

// checkLedger verifies what must hold whatever was killed.
func (s *site) checkLedger() {
	s.t.Helper()
	executed := map[string]int{}
	for line := range strings.Lines(s.file("ledger")) {
		executed[strings.TrimSpace(line)]++
	}
	outcomes := map[engine.Outcome]int{}
	for id, j := range s.get().Jobs {
		if j.Done != 1 {
			s.t.Errorf("job %d was completed %d times", id, j.Done)
		}
		for i, a := range j.Attempts {
			k := Key{id, i + 1}
			n := executed[k.String()]
			delete(executed, k.String())
			outcomes[a.Result.Outcome]++
			switch o := a.Result.Outcome; {
			case n > 1:
				s.t.Errorf("%s was executed %d times", k, n)
			case a.Ended && a.Taken != 1:
				s.t.Errorf("%s has ended %d times", k, a.Taken)
			case n > 0 && (o == engine.OutcomeUnbegun || o == engine.OutcomeRefused):
				s.t.Errorf("%s was executed, but reported as %+v", k, a.Result)
			case n == 0 && o == engine.OutcomeExited:
				s.t.Errorf("%s was not executed, but reported as %+v", k, a.Result)
			}
		}
	}
	if len(executed) > 0 {
		s.t.Errorf("executed, but unknown to the database: %v", executed)
	}
	if left, ours := s.left(), s.ours(); len(left) > 0 || len(ours) > 0 {
		s.t.Errorf("left: slots %v, processes %v", left, ours)
	}
	s.t.Log("outcomes", outcomes)
}

// TestKillStorm kills processes of all kinds at random moments. Each 250 kills have a database of their own,
// because the fake one is read as a whole each time.
func TestKillStorm(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	for left, slots := *storm, 8; left > 0; left, slots = left-250, 72-slots {
		t.Run("", func(t *testing.T) { killStorm(t, newSite(t), min(left, 250), slots) })
	}
	t.Run("plain gate", func(t *testing.T) { killStorm(t, newSite(t).withPlainGate(), *storm/5, 8) })
}

func killStorm(t *testing.T, s *site, kills, slots int) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	s.change(func(st *fakeState) { st.Fail = 20 })
	killed := map[string]int{}
	total, jobs := 0, 0
	passes := map[*process]chan struct{}{}
	pass := func() {
		for p, done := range passes {
			select {
			case <-done:
				delete(passes, p)
			default:
			}
		}
		if len(passes) >= 3 {
			return
		}
		p := s.start(nil, "pass")
		done := make(chan struct{})
		passes[p] = done
		go func() { p.Wait(); close(done) }()
	}
	for total < kills {
		if len(s.waiting()) < slots {
			jobs++
			leaves := []string{"(setsid sleep 0.0%d & )", `(setsid sh -c "sleep 10%d & (sleep 100 &) &" &)`,
				`(setsid sh -c 'trap "" TERM; for i in 1 2 3%d; do sleep 0.1 & sleep 0.01; done' &)`}[random.IntN(3)]
			s.job(fmt.Sprintf(ledgerLine+"; "+leaves+"; sleep 0.0%d", random.IntN(10), random.IntN(5)),
				func(o *Order) { o.Payload.Ending.Grace = 200 * time.Millisecond })
		}
		pass()
		for _, pid := range s.ours() {
			if random.IntN(6) > 0 {
				continue
			}
			what := kindOf(pid)
			if unix.Kill(pid, unix.SIGKILL) == nil {
				killed[what]++
				total++
			}
		}
		time.Sleep(time.Duration(random.IntN(8)) * time.Millisecond)
	}
	t.Log("killed", killed, "jobs", jobs)
	s.until("all done", func() bool {
		pass()
		time.Sleep(20 * time.Millisecond)
		return len(s.waiting()) == 0 && len(s.left()) == 0
	})
	for _, done := range passes {
		<-done
	}
	s.until("quiet", func() bool { return len(s.ours()) == 0 })
	s.checkLedger()
}

// waiting lists the jobs that have not ended.
func (s *site) waiting() []uint64 {
	st := s.get()
	return slices.DeleteFunc(slices.Collect(maps.Keys(st.Jobs)), func(id uint64) bool { return st.Jobs[id].Done > 0 })
}

// kindOf returns the role of a process. Gates and wardens are copies of keepers.
func kindOf(pid int) string {
	if name := nameOf(pid); strings.HasPrefix(name, "placectl-") {
		return name
	}
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	words := strings.Split(string(text), "\x00")
	if words[0] == "runner-test" && len(words) > 2 {
		return words[1]
	}
	return words[0]
}
