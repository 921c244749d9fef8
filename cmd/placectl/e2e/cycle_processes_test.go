package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// queued makes a database with as many jobs as there is room for.
func queued(t *testing.T, jobs int) *shell {
	s := newShell(t)
	s.must(csvOfNodes("n", jobs/4), "node", "import", "-")
	s.must("", "submit", "1:ncpus=1", "--array", fmt.Sprint(jobs), "-t", "10h")
	return s
}

// told counts how often cycles have announced each job.
func (s *shell) told(counts map[string]int, answer string) {
	for line := range strings.Lines(answer) {
		if fields := strings.Split(line, ","); len(fields) > 1 && fields[0] == "start" {
			counts[fields[1]]++
		}
	}
}

// TestCyclesAtOnce runs cycles at the same time. Each job is announced once.
func TestCyclesAtOnce(t *testing.T) {
	const jobs = 200
	s, counts := queued(t, jobs), make(map[string]int)
	var lock sync.Mutex
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 5 {
				cmd, out, complaint := s.command("", "cycle", "-o", "csv")
				if err := cmd.Run(); err != nil {
					t.Errorf("cycle: %v: %s", err, complaint)
				}
				lock.Lock()
				s.told(counts, out.String())
				lock.Unlock()
			}
		})
	}
	group.Wait()
	s.must("", "check")
	if most := slices.Max(slices.Collect(maps.Values(counts))); len(counts) != jobs || most != 1 {
		t.Errorf("%d of %d jobs were announced, one of them %d times", len(counts), jobs, most)
	}
}

// TestKillCycle kills cycles at random moments. Each leaves the state before, or the state after with
// all jobs running, and no job is announced twice.
func TestKillCycle(t *testing.T) {
	const jobs = 40
	s, random, counts := queued(t, jobs), seeded(t), make(map[string]int)
	wholes := 0
	for range *kills / 5 {
		s.told(counts, s.killed(random, "", "cycle", "-o", "csv"))
		switch running := len(strings.Fields(s.must("", "job", "list", "--state", "running", "-o", "id"))); running {
		case 0:
		case jobs:
			wholes++
			s.must("", "requeue", "1[]", "-o", "id")
			counts = make(map[string]int) // they will be announced again
		default:
			t.Fatalf("after a killed cycle %d of %d jobs run, want none or all", running, jobs)
		}
		for job, n := range counts {
			if n > 1 {
				t.Fatalf("job %s was announced %d times", job, n)
			}
		}
	}
	t.Logf("%d of %d cycles came to their commit", wholes, *kills/5)
	s.must("", "check")
}

// TestKillExec kills a cycle while it launches. The jobs it has started are running and were announced,
// and requeue puts them back.
func TestKillExec(t *testing.T) {
	s := queued(t, 8)
	cmd, _, _ := s.command("", "cycle", "--exec", "sleep 5")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for len(strings.Fields(s.must("", "job", "list", "--state", "running", "-o", "id"))) == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	s.must("", "check")
	if again := s.must("", "cycle", "-o", "id"); again != "" {
		t.Errorf("the next cycle announces the job again: %s", again)
	}
	if events := s.must("", "events", "-o", "csv"); strings.Contains(events, ",launch,") {
		t.Errorf("a launch is among the events:\n%s", events)
	}
	s.must("", "requeue", "1[]", "-o", "id")
	if again := s.must("", "cycle", "-o", "id"); len(strings.Fields(again)) != 8 {
		t.Errorf("after requeue a cycle announces %q", again)
	}
}
