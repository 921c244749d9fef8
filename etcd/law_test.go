package etcd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/placectl/placectl/etcd/internal/members"
	"github.com/placectl/placectl/internal/replica"
	"github.com/placectl/placectl/internal/replica/drivertest"
)

func TestMain(m *testing.M) {
	members.Become()
	os.Exit(m.Run())
}

// TestLaw: the driver keeps the law of drivers with each etcd.
func TestLaw(t *testing.T) {
	eachEtcd(t, 1, func(t *testing.T, c *members.Cluster) {
		drivertest.Run(t, func(t testing.TB, name string) replica.Driver { return connect(t, name, c.Hosts...) })
	})
}

// connect opens a log below a prefix.
func connect(t testing.TB, prefix string, hosts ...string) *driver {
	t.Helper()
	return connectWith(t, replica.Config{Scheme: "etcd", Members: hosts, Prefix: prefix}, nil)
}

func connectWith(t testing.TB, c replica.Config, env map[string]string) *driver {
	t.Helper()
	d, err := open(c, func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// eachEtcd runs a test with members of each available etcd, which soon forget what was overwritten, as those of a
// site do.
func eachEtcd(t *testing.T, count int, test func(t *testing.T, c *members.Cluster)) {
	versions := members.Versions()
	if len(versions) == 1 {
		t.Log(members.Missing)
	}
	for name, binary := range versions {
		t.Run(name, func(t *testing.T) { test(t, startEtcd(t, binary, count, "--auto-compaction-retention=1m")) })
	}
}

// startEtcd starts members for a test. Nothing of them needs to outlive the machine: the newest does not wait for a
// disk, which can take seconds beside other tests.
func startEtcd(t testing.TB, binary string, count int, more ...string) *members.Cluster {
	t.Helper()
	dir := t.TempDir()
	if self, err := os.Executable(); err == nil && binary == self {
		more = append(more, "--unsafe-no-fsync")
	}
	c, err := members.Start(binary, dir, count, more...)
	if err != nil {
		logs, _ := filepath.Glob(filepath.Join(dir, "*.log"))
		for _, path := range logs {
			text, _ := os.ReadFile(path)
			t.Logf("%s: %.2000s", path, text[max(0, len(text)-2000):])
		}
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
