package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/internal/engine"
)

var soakVerbs = flag.Int("soak", 1000, "how many verbs the soak runs")

// TestSoak runs verb after verb on one database for weeks of its time. Ended jobs are forgotten, so from
// then on the file does not grow. -soak 100000 is the long form. The time of each tenth is logged.
func TestSoak(t *testing.T) {
	t.Parallel()
	verbs := *soakVerbs
	s := &soak{t: t, db: filepath.Join(t.TempDir(), "soak.db"), now: testNow,
		rand: rand.New(rand.NewPCG(1, uint64(verbs)))}
	s.must("init", "--any-time", "--set", "keep_ended=1d", "--set", "keep_keys=1h", "--set", "overdue=finish")
	s.must("node", "add", "n[1-40]", "ncpus=8", "mem=32gb")
	s.must("node", "add", "g[1-8]", "ncpus=16", "ngpus=4")
	var sizes []int64
	for tenth := range 10 {
		var took []time.Duration
		for range verbs / 10 {
			began := time.Now()
			s.verb()
			took = append(took, time.Since(began))
		}
		s.check()
		info, err := os.Stat(s.db)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, info.Size())
		slices.Sort(took)
		t.Logf("verbs to %d: the file has %d KiB, a verb took %v (median), %v (99 of 100)", (tenth+1)*verbs/10,
			info.Size()>>10,
			took[len(took)/2].Round(time.Microsecond), took[len(took)*99/100].Round(time.Microsecond))
	}
	// bbolt doubles a file that is too small, so one more step may be chance.
	if first, last := sizes[4], sizes[9]; last > 2*first {
		t.Errorf("the file has grown from %d to %d bytes in the second half", first, last)
	}
}

// soak is a database in use.
type soak struct {
	t    *testing.T
	db   string
	now  time.Time
	rand *rand.Rand
	jobs int // the number of jobs so far
}

// verb runs a random verb. It may be refused, but nothing else may go wrong.
func (s *soak) verb() {
	s.now = s.now.Add(time.Duration(s.rand.IntN(240)) * time.Second)
	job := fmt.Sprint(max(1, s.jobs-s.rand.IntN(60)))
	node := fmt.Sprintf("n%d", 1+s.rand.IntN(40))
	request := []string{"1:ncpus=2", "2:ncpus=4:mem=4gb", "1:ngpus=1", "4:ncpus=8", "12:ncpus=8"}[s.rand.IntN(5)]
	wall := fmt.Sprint(60 * (1 + s.rand.IntN(60)))
	switch k := s.rand.IntN(100); {
	case k < 30:
		s.job("submit", request, "-t", wall, "--priority", fmt.Sprint(s.rand.IntN(5)), "--key", fmt.Sprint("k", s.jobs))
	case k < 40:
		s.job("place", request, "-t", wall, "--or-reserve")
	case k < 60:
		s.run("cycle", "--backfill", []string{"easy", "conservative", "fcfs"}[s.rand.IntN(3)])
	case k < 72:
		s.run("done", job)
	case k < 76:
		s.run("release", job)
	case k < 80:
		s.run("cancel", job)
	case k < 83:
		s.run("hold", job)
	case k < 86:
		s.run("unhold", job)
	case k < 88:
		s.run("requeue", job)
	case k < 90:
		s.run("extend", job, "--walltime", wall)
	case k < 92:
		s.run("reserve", "r"+node, "--nodes", node, "--start", "now+2h", "-t", "1h")
	case k < 94:
		s.run("unreserve", "r"+node)
	case k < 96:
		s.run("node", "drain", node)
	case k < 98:
		s.run("node", "resume", node)
	default:
		s.run("query", "SELECT state, count(*) FROM jobs GROUP BY state")
	}
}

// job runs a verb that makes a job.
func (s *soak) job(args ...string) {
	if s.run(args...) == exit.OK {
		s.jobs++
	}
}

func (s *soak) run(args ...string) int {
	c := newCapture(args...)
	c.vars["PLACECTL_DB"] = s.db
	now := s.now
	c.Clock = func() time.Time { return now }
	status := c.run()
	if !slices.Contains([]int{exit.OK, exit.NotNow, exit.Never, exit.NotFound, exit.Conflict}, status) {
		s.t.Fatalf("%q: status %d: %s%s", args, status, c.out.String(), c.err.String())
	}
	return status
}

// check looks for damage.
func (s *soak) check() {
	now := s.now
	db, err := engine.Open(s.db, &engine.Options{Now: func() time.Time { return now }})
	if err == nil {
		err = db.Check(func(finding string) { s.t.Error(finding) })
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *soak) must(args ...string) {
	if status := s.run(args...); status != exit.OK {
		s.t.Fatalf("%q: status %d", args, status)
	}
}
