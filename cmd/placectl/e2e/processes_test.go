package e2e

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/internal/engine"
	_ "pgregory.net/rapid"
)

var kills = flag.Int("kills", 150, "how many processes the kill tests kill, of mixed verbs five times as many")

// commandPath returns a path under which this test binary is placectl. Tests that start processes by the
// hundred are left out of short runs: those are for the race detector, which makes a process take half a
// second to start.
func commandPath(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts many processes")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "placectl")
	if os.Link(self, path) == nil { // so that the program finds itself under this name
		return path
	}
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// shell runs commands on one database in processes of their own.
type shell struct {
	t           *testing.T
	program, db string
}

func newShell(t *testing.T) *shell {
	s := &shell{t, commandPath(t), filepath.Join(t.TempDir(), "test.db")}
	s.must("", "init")
	return s
}

func (s *shell) command(stdin string, args ...string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
	cmd := exec.Command(s.program, args...)
	cmd.Env = append(os.Environ(), "PLACECTL_DB="+s.db)
	cmd.Stdin = strings.NewReader(stdin)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	return cmd, &out, &complaint
}

func (s *shell) must(stdin string, args ...string) string {
	s.t.Helper()
	cmd, out, complaint := s.command(stdin, args...)
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("%v: %v: %s", args, err, complaint)
	}
	return out.String()
}

// killed starts a command and kills it a random moment later. What it has printed by then is its
// acknowledgement.
func (s *shell) killed(random *rand.Rand, stdin string, args ...string) string {
	s.t.Helper()
	cmd, out, _ := s.command(stdin, args...)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	time.Sleep(time.Duration(random.IntN(12_000)) * time.Microsecond)
	_ = cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait()
	return out.String()
}

func csvOfNodes(prefix string, n int) string {
	var b strings.Builder
	b.WriteString("name,ncpus\n")
	for i := range n {
		fmt.Fprintf(&b, "%s%04d,4\n", prefix, i)
	}
	return b.String()
}

// seeded returns random numbers from the seed of all random tests: -rapid.seed, or RAPID_SEED in the
// environment, or else a fresh one.
func seeded(t testing.TB) *rand.Rand {
	seed, _ := strconv.ParseUint(flag.Lookup("rapid.seed").Value.String(), 0, 64)
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-rapid.seed=%d", seed)
	return rand.New(rand.NewPCG(seed, seed))
}

// TestKillPlace kills place at random moments. No acknowledged job is lost, and the file is sound.
func TestKillPlace(t *testing.T) {
	t.Parallel()
	s, random := newShell(t), seeded(t)
	s.must(csvOfNodes("n", 2000), "node", "import", "-")
	acknowledged := make(map[string]bool)
	for range *kills {
		if id := strings.TrimSpace(s.killed(random, "", "place", "1:ncpus=1", "--place", "excl", "-t", "10h", "-o",
			"id")); id != "" {
			acknowledged[id] = true
		}
	}
	s.must("", "check")
	for _, id := range strings.Fields(s.must("", "job", "list", "-o", "id")) {
		delete(acknowledged, id)
	}
	if len(acknowledged) > 0 {
		t.Errorf("acknowledged but lost: %v", acknowledged)
	}
}

// TestKillImport kills node import at random moments. Each import is there as a whole or not at all.
func TestKillImport(t *testing.T) {
	t.Parallel()
	s, random := newShell(t), seeded(t)
	const size = 300
	whole := 0
	for i := range *kills {
		said := s.killed(random, csvOfNodes(fmt.Sprintf("k%d-", i), size), "node", "import", "-", "-o", "json")
		if said != "" {
			whole++
		}
	}
	s.must("", "check")
	got := len(strings.Fields(s.must("", "node", "list", "-o", "id")))
	if got%size != 0 || got < whole*size {
		t.Errorf("%d nodes after %d acknowledged imports of %d", got, whole, size)
	}
}

// TestContention has 16 processes place at once, in the long form 32 a hundred times over, beside readers.
// Meanwhile a process that holds the lock is killed, and a reader, a waiting process and a check are
// stopped. Every place succeeds, and no node is taken twice.
func TestContention(t *testing.T) {
	processes, rounds := 16, 1
	if *long {
		processes, rounds = 32, 100
	}
	for range rounds {
		contend(t, processes)
	}
}

func contend(t *testing.T, processes int) {
	s := newShell(t)
	const each = 12
	s.must(csvOfNodes("n", processes*each), "node", "import", "-")
	answers := make(chan string, processes*each)
	var all sync.WaitGroup
	for range processes {
		all.Go(func() {
			for range each {
				cmd, out, complaint := s.command("", "place", "1:ncpus=4", "--place", "excl", "-o", "json")
				if err := cmd.Run(); err != nil {
					t.Errorf("place: %v: %s", err, complaint)
				}
				answers <- out.String()
			}
		})
	}
	all.Go(func() {
		for range 6 {
			holder := s.hold("write")
			holder.Process.Kill() //nolint:errcheck // it is there
			holder.Wait()         //nolint:errcheck // it was killed
			cmd, _, complaint := s.command("", "query", "SELECT count(*) FROM jobs")
			if err := cmd.Run(); err != nil {
				t.Errorf("query: %v: %s", err, complaint)
			}
		}
	})
	all.Go(func() { s.standStill() })
	all.Wait()
	close(answers)
	seen := make(map[string]bool)
	for answer := range answers {
		_, node, _ := strings.Cut(answer, `"exec_vnode":"(`)
		node, _, _ = strings.Cut(node, ":")
		if seen[node] {
			t.Errorf("node %s was given out twice", node)
		}
		seen[node] = true
	}
	if len(seen) != processes*each {
		t.Errorf("%d nodes were given out, want %d", len(seen), processes*each)
	}
	if cmd, _, _ := s.command("", "place", "1:ncpus=4", "--place", "excl"); cmd.Run() == nil {
		t.Error("more jobs were placed than there are nodes")
	}
	s.must("", "check")
}

// TestLockTimeout holds the lock until a second process times out.
func TestLockTimeout(t *testing.T) {
	s := newShell(t)
	db, err := engine.Open(s.db, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(*engine.Tx) error {
		cmd, _, complaint := s.command("", "--lock-timeout", "50ms", "queue", "add", "q")
		if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != exit.Locked {
			t.Errorf("place beside a held lock: %v, exit status %d", err, cmd.ProcessState.ExitCode())
		}
		if want := fmt.Sprintf("process %d", os.Getpid()); !strings.Contains(complaint.String(), want) {
			t.Errorf("%q does not name the holder, %s", complaint, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestArrayIsOneCommit: an array of the greatest allowed size is submitted in one commit, and cancelled in one,
// so each takes the writer's lock once.
func TestArrayIsOneCommit(t *testing.T) {
	s := newShell(t)
	s.must("", "config", "set", "start=manual")
	commits := func() uint64 {
		state, err := engine.StateOfFile(s.db)
		if err != nil {
			t.Fatal(err)
		}
		return max(state.Transactions[0], state.Transactions[1])
	}
	before := commits()
	array := s.must("", "submit", "--array", "10000", "1:ncpus=1", "-o", "id")
	if n := commits() - before; n != 1 {
		t.Errorf("submit made %d commits", n)
	}
	before = commits()
	s.must("", "cancel", strings.TrimSpace(array))
	if n := commits() - before; n != 1 {
		t.Errorf("cancel made %d commits", n)
	}
}
