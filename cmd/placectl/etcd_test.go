//go:build etcd

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

	"github.com/placectl/placectl/bench/members"
)

var etcdChaos = flag.Duration("etcd-chaos", 8*time.Second, "how long the command is tried on members of etcd that fail")

// eachEtcd runs a test with three members of each installed etcd.
func eachEtcd(t *testing.T, test func(t *testing.T, c *members.Cluster)) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	list := members.Find()
	if len(list) == 0 {
		t.Skip(members.Missing)
	}
	for _, binary := range list {
		t.Run(filepath.Base(binary), func(t *testing.T) {
			c, err := members.Start(binary, t.TempDir(), 3)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			test(t, c)
		})
	}
}

// TestScriptsInEtcd runs the scripts on databases in etcd: the results are the same.
func TestScriptsInEtcd(t *testing.T) {
	eachEtcd(t, func(t *testing.T, c *members.Cluster) {
		files, err := filepath.Glob("../../testdata/script/*.txtar")
		if err != nil {
			t.Fatal(err)
		}
		runInLogs(t, files, "etcd://"+strings.Join(c.Hosts, ","))
	})
}

// machines are several machines on one database, each with replicas of its own.
type machines struct {
	t       *testing.T
	program string
	db, dir string

	mu    sync.Mutex
	acked map[string]bool // keys of acknowledged placements
	tried map[string]bool
	kills int
}

func (m *machines) command(machine int, args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(m.program, args...)
	cmd.Env = append(os.Environ(), "PLACECTL_DB="+m.db, "PLACECTL_REPLICAS="+filepath.Join(m.dir, fmt.Sprint(machine)))
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
		if err := cmd.Start(); err != nil {
			m.t.Error(err)
			return
		}
		if random.IntN(3) == 0 {
			time.AfterFunc(time.Duration(random.IntN(60))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		}
		err := cmd.Wait()
		m.mu.Lock()
		switch code := cmd.ProcessState.ExitCode(); {
		case err == nil:
			m.acked[key] = true
		case code == -1:
			m.kills++
		case code != 6 && code != 9:
			m.t.Errorf("machine %d: %v: %s", machine, err, said)
		}
		m.mu.Unlock()
		if err == nil {
			return
		}
	}
	m.t.Errorf("machine %d: %s was not placed in 50 runs", machine, key)
}

// TestEtcdChaos: four machines place while their processes are killed, and members are killed and
// stopped, one or two at a time. What was acknowledged is there once, and all replicas are equal.
func TestEtcdChaos(t *testing.T) {
	program := commandPath(t)
	eachEtcd(t, func(t *testing.T, c *members.Cluster) {
		m := &machines{t: t, program: program, db: "etcd://" + strings.Join(c.Hosts, ",") + "/chaos", dir: t.TempDir(),
			acked: make(map[string]bool), tried: make(map[string]bool)}
		m.must(0, "init")
		m.must(0, "node", "add", "n[0001-1000]", "ncpus=64", "-o", "id")
		until := time.Now().Add(*etcdChaos)
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), uint64(i)))
				for n := 0; time.Now().Before(until); n++ {
					m.place(i, fmt.Sprintf("k%d-%d", i, n), random)
				}
			})
		}
		disturb(t, c, until)
		all.Wait()
		m.verify()
	})
}

// disturb kills and stops members until a time. In the end all of them run.
func disturb(t *testing.T, c *members.Cluster, until time.Time) {
	for time.Now().Before(until) {
		time.Sleep(time.Duration(rand.IntN(1000)) * time.Millisecond)
		for _, i := range rand.Perm(len(c.Hosts))[:1+rand.IntN(2)] {
			if rand.IntN(2) == 0 {
				_ = c.Signal(i, syscall.SIGSTOP)
				time.AfterFunc(time.Duration(rand.IntN(1500))*time.Millisecond, func() {
					_ = c.Signal(i, syscall.SIGCONT)
				})
				continue
			}
			_ = c.Signal(i, syscall.SIGKILL)
			if err := c.Start(i); err != nil {
				t.Error(err)
			}
		}
	}
	time.Sleep(1500 * time.Millisecond)
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
	handed := strings.Count(m.must(0, "log", "-o", "csv"), ",place +")
	m.t.Logf("%d placed, %d processes killed; %d entries of several processes are in the log still", len(m.acked),
		m.kills, handed)
	for i := range 4 {
		m.must(i, "log", "check")
		m.must(i, "check", "-q")
	}
}
