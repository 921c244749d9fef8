package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/command"
	"github.com/placectl/placectl/etcd/internal/members"
)

var stormFor = flag.Duration("storm", 6*time.Second, "how long commands are tried while everything fails")

// bePlacectl is the environment variable with which the test program is the command.
const bePlacectl = "PLACECTL_TEST_BE_PLACECTL"

func TestMain(m *testing.M) {
	members.Become()
	if os.Getenv(bePlacectl) != "" {
		command.Main()
		return
	}
	os.Exit(m.Run())
}

// machines are several machines on one database, each with replicas of its own.
type machines struct {
	t    *testing.T
	self string
	dbs  []string // how each names it
	dir  string

	mu    sync.Mutex
	acked map[string]bool // keys of acknowledged placements
	tried map[string]bool
	runs  map[string]int // by how they ended
	worst time.Duration
}

func (m *machines) command(machine int, args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(m.self, args...)
	cmd.Env = append(os.Environ(), bePlacectl+"=1", "PLACECTL_DB="+m.dbs[machine],
		"PLACECTL_REPLICAS="+filepath.Join(m.dir, fmt.Sprint(machine)))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	return cmd, &said
}

func (m *machines) must(machine int, args ...string) string {
	m.t.Helper()
	cmd, said := m.command(machine, args...)
	if err := cmd.Run(); err != nil {
		m.t.Fatalf("machine %d: %s: %v: %s", machine, strings.Join(args, " "), err, said)
	}
	return said.String()
}

// place places a job under a key until that is acknowledged. It kills every third process at some moment.
func (m *machines) place(machine int, key string, random *rand.Rand) {
	m.mu.Lock()
	m.tried[key] = true
	m.mu.Unlock()
	for range 50 {
		cmd, said := m.command(machine, "place", "1:ncpus=1", "-t", "1h", "--name", key, "--key", key, "-o", "id",
			"--lock-timeout", "20s")
		began := time.Now()
		if err := cmd.Start(); err != nil {
			m.t.Error(err)
			return
		}
		if random.IntN(3) == 0 {
			time.AfterFunc(time.Duration(random.IntN(200))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		}
		err := cmd.Wait()
		m.mu.Lock()
		code := cmd.ProcessState.ExitCode()
		m.runs[fmt.Sprint(code)]++
		switch {
		case err == nil:
			m.acked[key] = true
			m.worst = max(m.worst, time.Since(began))
		case code != -1 && code != 6 && code != 9:
			m.t.Errorf("machine %d: %v: %s", machine, err, said)
		}
		m.mu.Unlock()
		if err == nil {
			return
		}
	}
	m.t.Errorf("machine %d: %s was not placed in 50 runs", machine, key)
}

// TestStorm: four machines place while their processes are killed, members are killed and stopped, one or two at a
// time, and connections are slow, blocked and torn. What was acknowledged is there once, nothing else is, and all
// replicas are equal.
func TestStorm(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	versions := members.Versions()
	if len(versions) == 1 {
		t.Log(members.Missing)
	}
	for name, binary := range versions {
		t.Run(name, func(t *testing.T) {
			c, err := members.Start(binary, t.TempDir(), 3)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			var pipes []*members.Pipe
			var ways []string
			for _, host := range c.Hosts {
				p, err := members.NewPipe(host)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(p.Close)
				pipes, ways = append(pipes, p), append(ways, p.Host)
			}
			m := &machines{t: t, self: self, dir: t.TempDir(), acked: make(map[string]bool),
				tried: make(map[string]bool), runs: make(map[string]int)}
			for i := range 4 { // every other one goes by ways that may be bad
				hosts := c.Hosts
				if i%2 == 1 {
					hosts = ways
				}
				m.dbs = append(m.dbs, "etcd://"+strings.Join(hosts, ",")+"/storm")
			}
			m.must(0, "init")
			m.must(0, "node", "add", "n[0001-1000]", "ncpus=64", "-o", "id")
			until := time.Now().Add(*stormFor)
			var all sync.WaitGroup
			for i := range m.dbs {
				all.Go(func() {
					random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), uint64(i)))
					for n := 0; time.Now().Before(until); n++ {
						m.place(i, fmt.Sprintf("k%d-%d", i, n), random)
					}
				})
			}
			disturb(t, c, pipes, until)
			all.Wait()
			m.verify()
		})
	}
}

// disturb harms members and ways until a time. In the end all of them work.
func disturb(t *testing.T, c *members.Cluster, pipes []*members.Pipe, until time.Time) {
	for time.Now().Before(until) {
		time.Sleep(time.Duration(rand.IntN(1000)) * time.Millisecond)
		hit, how := rand.Perm(len(c.Hosts))[:1+rand.IntN(2)], rand.IntN(6)
		for _, i := range hit {
			switch how {
			case 0:
				_ = c.Signal(i, syscall.SIGKILL)
			case 1:
				_ = c.Signal(i, syscall.SIGSTOP)
			default:
				pipes[i].Set(int32(how - 2 + members.Slow))
			}
		}
		time.Sleep(time.Duration(rand.IntN(1500)) * time.Millisecond)
		for _, i := range hit {
			switch how {
			case 0:
				if err := c.Start(i); err != nil {
					t.Error(err)
				}
			case 1:
				_ = c.Signal(i, syscall.SIGCONT)
			default:
				pipes[i].Set(members.Open)
			}
		}
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

func (m *machines) verify() {
	names := make(map[string]int)
	for _, name := range strings.Fields(m.must(0, "query", "SELECT name FROM jobs", "-o", "id")) {
		names[name]++
	}
	for key := range m.acked {
		if names[key] != 1 {
			m.t.Errorf("%s was acknowledged, but is there %d times", key, names[key])
		}
	}
	for name, count := range names {
		if count != 1 || !m.tried[name] {
			m.t.Errorf("%s is there %d times", name, count)
		}
	}
	m.t.Logf("%d placed, the slowest in %v; processes by exit status (-1: killed): %v", len(m.acked), m.worst, m.runs)
	for i := range m.dbs {
		m.must(i, "log", "check")
		m.must(i, "check", "-q")
	}
}
