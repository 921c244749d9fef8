package runner

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

	"github.com/placectl/placectl/store"
	"golang.org/x/sys/unix"
)

var storm = flag.Int("storm", 500, "how many processes the kill storm kills")

// execution appends a line to the ledger, and so each of them is told from all others.
const ledgerLine = `echo "$PLACECTL_JOB.$PLACECTL_ATTEMPT" >>"$LEDGER"`

// TestKilledAtSteps: a process is killed between any two steps. Passes do what is to be
// done then: the attempt that was begun is executed once at most, and the job ends.
func TestKilledAtSteps(t *testing.T) {
	for _, c := range []struct {
		step  string
		first store.Outcome // what comes of the first attempt
		twice bool          // the supervisor is killed, too, so that it is adopted
		next  store.Outcome // what comes of the first attempt of the next job, if the supervisor goes on with that
	}{
		{step: "locked", first: store.OutcomeExited},
		{step: "journal", first: store.OutcomeUnbegun},
		{step: "claimed", first: store.OutcomeUnbegun},
		{step: "gate", first: store.OutcomeUnbegun},
		{step: "pid", first: store.OutcomeUnbegun},
		{step: "go", first: store.OutcomeExited},
		{step: "executed", first: store.OutcomeExited},
		{step: "ended", first: store.OutcomeLost},
		{step: "spooled", first: store.OutcomeExited},
		{step: "told", first: store.OutcomeExited},
		{step: "gate waits", first: store.OutcomeUnbegun},
		{step: "gate may", first: store.OutcomeSignal},
		{step: "starting", first: store.OutcomeExited},
		{step: "settling", first: store.OutcomeLost, twice: true},
		{step: "settled", first: store.OutcomeLost, twice: true},
		{step: "adopting", first: store.OutcomeExited, twice: true},
		{step: "adopted", first: store.OutcomeExited, twice: true},
		{step: "prepared", first: store.OutcomeExited, next: store.OutcomeUnbegun},
		{step: "turned", first: store.OutcomeExited, next: store.OutcomeUnbegun},
	} {
		t.Run(c.step, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			line := ledgerLine
			if slices.Contains([]string{"go", "executed", "adopting", "adopted"}, c.step) {
				line += "; sleep 2" // it is adopted while it lives
			}
			k := s.job(line)
			die := []string{"RUNNER_DIE=" + c.step, "RUNNER_DIE_ONCE=" + s.dir + "/died"}
			var after Key
			if c.next != store.OutcomeNone {
				after, die = s.job(ledgerLine), append(die, "RUNNER_TURNS=1")
				s.start(die, "supervise", k.String()).wait()
			}
			if c.twice {
				first := "executed"
				if strings.HasPrefix(c.step, "settl") {
					first = "ended"
				}
				s.start([]string{"RUNNER_DIE=" + first, "RUNNER_DIE_ONCE=" + s.dir + "/died-first"}, "supervise", k.String()).wait()
			}
			s.until("settled", func() bool {
				s.start(die, "pass").wait()
				return len(s.waiting()) == 0 && len(s.left()) == 0
			})
			if _, err := os.Stat(s.dir + "/died"); err != nil {
				t.Error("nobody came so far")
			}
			got := s.attempt(k).Result
			if ok := got.Outcome == c.first || c.step == "gate waits" && got.Outcome == store.OutcomeSignal; !ok {
				t.Errorf("the first attempt ended as %d (%s), and not as %d; notes:\n%s", got.Outcome, got.Why, c.first, s.file("notes"))
			}
			if c.next != store.OutcomeNone {
				if got := s.attempt(after).Result; got.Outcome != c.next {
					t.Errorf("the first attempt of the next job ended as %d (%s), and not as %d; notes:\n%s", got.Outcome, got.Why, c.next, s.file("notes"))
				}
			}
			s.until("quiet", func() bool { return len(s.ours()) == 0 })
			s.checkLedger()
		})
	}
}

// TestGoesOn: one supervisor executes one attempt after the other, each in a directory of its own
// and with what it has used itself.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.env = append(s.env, "RUNNER_TURNS=1")
	busy := s.job(ledgerLine + `; echo $PPID >>"$LEDGER.parents"; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done`)
	var idle []Key
	for range 5 {
		idle = append(idle, s.job(ledgerLine+`; echo $PPID >>"$LEDGER.parents"; sleep 100 & echo left in $TMPDIR`, func(o *Order) { o.Payload.Ending.Grace = 10 * time.Millisecond }))
	}
	s.start(nil, "supervise", busy.String()).wait()
	if parents := strings.Fields(s.file("ledger.parents")); len(parents) != 6 || len(slices.Compact(parents)) != 1 {
		t.Errorf("the commands are of the processes %v", parents)
	}
	if cpu := s.attempt(busy).Result.Use.CPUUser; cpu < 5*time.Millisecond {
		t.Errorf("a command that counts used %v", cpu)
	}
	for _, k := range idle {
		if r := s.attempt(k).Result; r.Use.CPUUser >= s.attempt(busy).Result.Use.CPUUser || r.Use.Leftover != 1 {
			t.Errorf("%s: %+v", k, r)
		}
	}
	s.checkLedger()
}

// TestGoesOnWithout: a supervisor goes on with nothing that another process is at, and reports all
// the same.
func TestGoesOnWithout(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.env = append(s.env, "RUNNER_TURNS=1")
	first, taken := s.job(ledgerLine), s.job(ledgerLine)
	in, err := openState(s.dir+"/state", s.get().ID, s.get().Epoch)
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	d, err := in.lockDir(taken, true)
	if err != nil {
		t.Fatal(err)
	}
	if a := s.supervise(first); !a.Ended || a.Result.Outcome != store.OutcomeExited {
		t.Errorf("%+v", a)
	}
	if a := s.attempt(taken); a.Nonce != (store.Nonce{}) {
		t.Errorf("claimed beside the process that has the directory: %+v", a)
	}
	d.close()
	s.until("done", func() bool { s.start(nil, "pass").wait(); return len(s.waiting()) == 0 && len(s.left()) == 0 })
	s.until("quiet", func() bool { return len(s.ours()) == 0 })
	s.checkLedger()
}

// checkLedger verifies what has to hold whoever was killed.
func (s *site) checkLedger() {
	s.t.Helper()
	executed := map[string]int{}
	for line := range strings.Lines(s.file("ledger")) {
		executed[strings.TrimSpace(line)]++
	}
	outcomes := map[store.Outcome]int{}
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
			case n > 0 && (o == store.OutcomeUnbegun || o == store.OutcomeRefused):
				s.t.Errorf("%s was executed, and reported as %+v", k, a.Result)
			case n == 0 && o == store.OutcomeExited:
				s.t.Errorf("%s was not executed, and reported as %+v", k, a.Result)
			}
		}
	}
	if len(executed) > 0 {
		s.t.Error("executed, and not known:", executed)
	}
	if left, ours := s.left(), s.ours(); len(left) > 0 || len(ours) > 0 {
		s.t.Error("left:", left, ours)
	}
	s.t.Log("outcomes", outcomes)
}

// TestKillStorm kills processes of all kinds at random moments. Each 250 of them have a
// database of their own: the fake one is read as a whole each time. In every other one supervisors
// go on with the next attempt.
func TestKillStorm(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	for left, goesOn := *storm, true; left > 0; left, goesOn = left-250, !goesOn {
		t.Run("", func(t *testing.T) { killStorm(t, min(left, 250), goesOn) })
	}
}

func killStorm(t *testing.T, kills int, goesOn bool) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	s := newSite(t)
	s.change(func(st *fakeState) { st.Fail = 20 })
	if goesOn {
		s.env = append(s.env, "RUNNER_TURNS=1")
	}
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
		if len(s.waiting()) < 8 {
			jobs++
			leaves := []string{"(setsid sleep 0.0%d & )", `(setsid sh -c "sleep 10%d & (sleep 100 &) &" &)`, `(setsid sh -c 'trap "" TERM; for i in 1 2 3%d; do sleep 0.1 & sleep 0.01; done' &)`}[random.IntN(3)]
			s.job(fmt.Sprintf(ledgerLine+"; "+leaves+"; sleep 0.0%d", random.IntN(10), random.IntN(5)), func(o *Order) { o.Payload.Ending.Grace = 200 * time.Millisecond })
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

// kindOf is what a process is for.
func kindOf(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	words := strings.Split(string(text), "\x00")
	if words[0] == "runner-test" && len(words) > 2 {
		return words[1]
	}
	return words[0]
}
