package payload

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/placectl/placectl/internal/engine"
	"golang.org/x/sys/unix"
)

// TestLowered: a process with a higher niceness is named, and one with the same niceness is not.
func TestLowered(t *testing.T) {
	same := []engine.ResourceLimit{{Name: "nofile", Soft: 1, Hard: 1}}
	if list := Lowered(os.Getpid(), same); len(list) > 0 {
		t.Errorf("Lowered of this process = %q, want none", list)
	}
	c := exec.Command("sleep", "60")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()         //nolint:errcheck // it is killed
	defer c.Process.Kill() //nolint:errcheck // as above
	if err := unix.Setpriority(unix.PRIO_PROCESS, c.Process.Pid, 7); err != nil {
		t.Fatal(err)
	}
	if err := unix.Prlimit(c.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 40, Max: 40}, nil); err != nil {
		t.Fatal(err)
	}
	list := strings.Join(Lowered(c.Process.Pid, []engine.ResourceLimit{{Name: "nofile", Soft: 50, Hard: 60},
		{Name: "core", Soft: 0, Hard: 0}}), "; ")
	want := "nofile 40, not 50; nice 7, not 0"
	if os.Geteuid() == 0 { // root can raise limits again
		want = "nice 7, not 0"
	}
	if own, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil && own == 20 && list != want {
		t.Errorf("Lowered = %q, want %q", list, want)
	}
}

// TestLoweredGroups: the minimum over a group and those above it counts.
func TestLoweredGroups(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"a/memory.max": "4096\n", "a/b/memory.max": "max\n",
		"a/cpu.max": "max 100000\n", "a/b/cpu.max": "50000 100000\n", "a/b/c/memory.max": "8192\n"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if is, want := (group{math.MaxInt64, math.Inf(1)}).below(root, "/a/b/c"), (group{4096, 0.5}); is != want {
		t.Errorf("group = %v, want %v", is, want)
	}
}
