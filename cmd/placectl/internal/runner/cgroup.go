package runner

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cgroup is the control group of an attempt: of version 2, below one that was delegated to
// us. Its methods do nothing for nil.
type cgroup struct {
	path   string
	dir    *os.File
	memory int64 // its limit, 0 for none
}

// errNoGroup is a host without a control group that could be used.
var errNoGroup = errors.New("enforce=cgroup, and no control group with memory is delegated to this process")

// confine makes the control group that the settings ask for, and that can be had.
func (e *execution) confine() (*cgroup, error) {
	o := e.order
	if o.Enforce == "none" || o.Enforce == "poll" {
		return nil, nil
	}
	g, err := makeGroup("placectl-"+e.ID+"-"+e.dir.String(), o.Memory)
	if o.Enforce != "cgroup" || err == nil {
		return g, nil
	}
	return nil, fmt.Errorf("%w: %w", errNoGroup, err)
}

// makeGroup makes a control group with that much memory, 0 for no limit, where a parent of
// ours hands memory on and belongs to us.
func makeGroup(name string, memory int64) (*cgroup, error) {
	parent, err := groupParent()
	if err != nil {
		return nil, err
	}
	return newGroup(filepath.Join(parent, name), memory)
}

// groupParent is the nearest parent of our own control group that hands memory on.
func groupParent() (string, error) {
	mount, own, err := ownGroup()
	if err != nil {
		return "", err
	}
	for at := own; ; at = filepath.Dir(at) {
		parent := filepath.Join(mount, at)
		given, failed := os.ReadFile(parent + "/cgroup.subtree_control")
		if failed == nil && strings.Contains(" "+strings.TrimSpace(string(given))+" ", " memory ") {
			return parent, nil
		}
		if at == "/" || at == "." {
			return "", errors.New("no parent of " + filepath.Join(mount, own) + " hands memory on")
		}
	}
}

func newGroup(path string, memory int64) (*cgroup, error) {
	if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	g := &cgroup{path: path, memory: memory}
	if memory > 0 {
		if err := os.WriteFile(path+"/memory.max", strconv.AppendInt(nil, memory, 10), 0); err != nil {
			os.Remove(path)
			return nil, err
		}
		os.WriteFile(path+"/memory.swap.max", []byte("0"), 0) //nolint:errcheck // not every kernel has it
	}
	dir, err := os.Open(path)
	if err != nil {
		os.Remove(path)
		return nil, err
	}
	g.dir = dir
	return g, nil
}

// ownGroup is where the groups of version 2 are mounted, and which one is ours.
func ownGroup() (mount, own string, err error) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", "", err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "0::"); ok {
			own = strings.TrimSpace(rest)
		}
	}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		where, what, _ := strings.Cut(lines.Text(), " - ")
		if fields := strings.Fields(where); strings.HasPrefix(what, "cgroup2 ") && len(fields) > 4 && own != "" {
			return fields[4], own, nil
		}
	}
	return "", "", errors.New("no control groups of version 2 are mounted")
}

// file is the directory of the group.
func (g *cgroup) file() *os.File {
	if g == nil {
		return nil
	}
	return g.dir
}

// tasks lists the processes in the group.
func (g *cgroup) tasks() (list []int) {
	if g == nil {
		return nil
	}
	text, _ := os.ReadFile(g.path + "/cgroup.procs")
	for _, word := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(word)
		if s, failed := statOf(pid); err == nil && failed == nil && s.state != 'Z' {
			list = append(list, pid)
		}
	}
	return list
}

// kill kills all in the group, and reports whether the kernel can.
func (g *cgroup) kill() bool {
	return g != nil && os.WriteFile(g.path+"/cgroup.kill", []byte("1"), 0) == nil
}

// value is the number behind a name in a file of the group, or in one that has but that.
func (g *cgroup) value(file, name string) int64 {
	if g == nil {
		return 0
	}
	text, _ := os.ReadFile(g.path + "/" + file)
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), name); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
			return n
		}
	}
	return 0
}

func (g *cgroup) cpu() (user, system time.Duration) {
	return time.Duration(g.value("cpu.stat", "user_usec ")) * time.Microsecond, time.Duration(g.value("cpu.stat", "system_usec ")) * time.Microsecond
}

// peak is the most memory that the group had at once, 0 where nobody counts.
func (g *cgroup) peak() int64 { return g.value("memory.peak", "") }

// exceeded says how the group had more memory than it may have, "" where it had not.
func (g *cgroup) exceeded() string {
	if g == nil || g.value("memory.events", "oom_kill ") == 0 {
		return ""
	}
	return exceeding(g.memory, g.peak())
}

// remove removes the group, which nobody is in any more.
func (g *cgroup) remove() {
	if g == nil {
		return
	}
	g.dir.Close()
	for range 50 {
		if err := os.Remove(g.path); err == nil || errors.Is(err, fs.ErrNotExist) {
			return
		}
		unix.Poll(nil, 10) //nolint:errcheck // a pause: the kernel is about to forget the last of them
	}
}

// openGroup is a group that a supervisor has made which was killed, nil for none.
func openGroup(path string, memory int64) *cgroup {
	dir, err := os.Open(path)
	if path == "" || err != nil {
		return nil
	}
	return &cgroup{path, dir, memory}
}
