//go:build etcd

package etcd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/placectl/placectl/bench/members"
	"github.com/placectl/placectl/store/internal/replica"
)

// connect opens a log below a prefix.
func connect(t testing.TB, prefix string, hosts ...string) *driver {
	t.Helper()
	return connectWith(t, replica.Config{Scheme: schemePlain, Members: hosts, Prefix: prefix}, nil)
}

func connectWith(t testing.TB, c replica.Config, env map[string]string) *driver {
	t.Helper()
	c.Detail = func(s string) { t.Log(s) }
	d, err := open(c, func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d.(*driver)
}

// eachEtcd runs a test with the fake, and with every available etcd. One member is enough,
// because nothing fails.
func eachEtcd(t *testing.T, test func(t *testing.T, hosts []string)) {
	t.Run("fake", func(t *testing.T) { test(t, []string{newFake().member(t, nil)}) })
	for _, binary := range members.Find() {
		t.Run(filepath.Base(binary), func(t *testing.T) { test(t, startEtcd(t, binary, 1).Hosts) })
	}
}

// eachReal runs a test with each available etcd. Three members soon forget what was
// overwritten, as those of a site do.
func eachReal(t *testing.T, test func(t *testing.T, c *members.Cluster)) {
	list := members.Find()
	if len(list) == 0 {
		t.Skip(members.Missing)
	}
	for _, binary := range list {
		t.Run(filepath.Base(binary), func(t *testing.T) {
			test(t, startEtcd(t, binary, 3, "--auto-compaction-retention=1m"))
		})
	}
}

func startEtcd(t testing.TB, binary string, count int, more ...string) *members.Cluster {
	t.Helper()
	dir := t.TempDir()
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
