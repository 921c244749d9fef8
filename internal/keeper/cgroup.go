package keeper

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"golang.org/x/sys/unix"
)

// cgroup is the control group of an attempt, of version 2, below a group delegated to us. Its methods
// do nothing if it is nil.
type cgroup struct {
	path   string
	dir    *os.File
	memory int64 // its limit, 0 for none
}

// errNoGroup says that this host has no usable control group.
var errNoGroup = errors.New("enforce=cgroup, and no control group with memory is delegated to this process")

// gateMemory is the memory in bytes that a gate, which runs our program, may use before it becomes
// the command.
const gateMemory = 64 << 20

// confine makes the control group that the settings ask for, if possible.
func (a *attendance) confine(o *Order) (*cgroup, error) {
	if o.Enforce == "none" || o.Enforce == "poll" {
		return nil, nil
	}
	s := o.share()
	if s.Memory > 0 {
		s.Memory = max(s.Memory, gateMemory)
	}
	g, err := a.makeGroup("placectl-" + a.ID + "-" + a.slot.Key.String())
	if err == nil {
		if err = g.limit(&s); err != nil {
			g.remove()
			g = nil
		}
	}
	if o.Enforce != "cgroup" || err == nil {
		return g, nil
	}
	return nil, fmt.Errorf("%w: %w", errNoGroup, err)
}

// makeGroup makes a control group below a parent of ours that delegates memory and belongs to us.
func (k *keeper) makeGroup(name string) (*cgroup, error) {
	parent, err := k.parent()
	if err != nil {
		return nil, err
	}
	return newGroup(filepath.Join(parent, name))
}

func newGroup(path string) (*cgroup, error) {
	if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	dir, err := os.Open(path)
	if err != nil {
		os.Remove(path)
		return nil, err
	}
	return &cgroup{path: path, dir: dir}, nil
}

// share is the part of its host that an attempt may use.
type share struct {
	Memory  int64 `json:"memory,omitempty"`  // in bytes; here and below, 0 or empty means no limit
	Cores   int   `json:"cores,omitempty"`   // the time of so many cores
	Threads []int `json:"threads,omitempty"` // hardware threads, by number
	Groups  []int `json:"groups,omitempty"`  // NUMA nodes for its memory
}

// limit limits the group to a share. It must be able to limit memory. Cores are limited only if the
// kernel's controllers are delegated to us, which is rarer.
func (g *cgroup) limit(s *share) error {
	const period = 100_000 // microseconds, the kernel's default
	if s.Cores > 0 {
		//nolint:errcheck // works only if cpu is delegated
		g.write("cpu.max", fmt.Sprintf("%d %d", s.Cores*period, period))
	}
	if len(s.Threads) > 0 {
		g.write("cpuset.cpus", numbers(s.Threads)) //nolint:errcheck // works only if cpuset is delegated
	}
	if len(s.Groups) > 0 {
		//nolint:errcheck // works only if cpuset is delegated, and on the host with these nodes
		g.write("cpuset.mems", numbers(s.Groups))
	}
	if s.Memory == 0 {
		return nil
	}
	g.write("memory.swap.max", "0") //nolint:errcheck // some kernels lack it
	return g.write("memory.max", strconv.FormatInt(s.Memory, 10))
}

func (g *cgroup) write(file, text string) error {
	return os.WriteFile(g.path+"/"+file, []byte(text), 0)
}

// numbers formats a list for control groups.
func numbers(list []int) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ",")
}

// all lists the directories of the group and of the groups that the command has made in it, parents
// first.
func (g *cgroup) all() []string {
	list := []string{g.path}
	for i := 0; i < len(list); i++ {
		inside, _ := os.ReadDir(list[i]) // the group may have been removed
		for _, e := range inside {
			if e.IsDir() {
				list = append(list, filepath.Join(list[i], e.Name()))
			}
		}
	}
	return list
}

// tasks lists the processes in the group and the groups below it.
func (g *cgroup) tasks() (list []int) {
	if g == nil {
		return nil
	}
	for _, dir := range g.all() {
		text, _ := os.ReadFile(dir + "/cgroup.procs")
		for _, word := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(word)
			if s, failed := statOf(pid); err == nil && failed == nil && s.state != 'Z' {
				list = append(list, pid)
			}
		}
	}
	return list
}

// kill kills all processes in the group. If the kernel can do so at once, none can fork meanwhile.
func (g *cgroup) kill() {
	if g != nil {
		g.write("cgroup.kill", "1") //nolint:errcheck // since Linux 5.14
	}
}

// value returns the number behind a name in a file of the group, or the only number in the file if
// name is empty.
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

// use fills in the resources that all processes of the group have used.
func (g *cgroup) use(u *engine.ResourceUse) {
	u.CPUUser = time.Duration(g.value("cpu.stat", "user_usec ")) * time.Microsecond
	u.CPUSystem = time.Duration(g.value("cpu.stat", "system_usec ")) * time.Microsecond
	u.MemPeak = g.peak()
}

// peak returns the group's peak memory in bytes, 0 if not measured.
func (g *cgroup) peak() int64 { return g.value("memory.peak", "") }

// exceeded says how the group exceeded its memory, "" if it did not.
func (g *cgroup) exceeded() string {
	switch {
	case g == nil || g.value("memory.events", "oom_kill ") == 0:
		return ""
	case g.memory == 0:
		return fmt.Sprintf("its host had no memory left, and it used %s", text.FormatSize(g.peak()))
	}
	return exceeding(g.memory, g.peak())
}

// remove removes the group, which must be empty.
func (g *cgroup) remove() {
	if g == nil {
		return
	}
	g.dir.Close()
	for range 50 {
		for _, dir := range slices.Backward(g.all()) {
			os.Remove(dir) //nolint:errcheck // checked below
		}
		if _, err := os.Stat(g.path); errors.Is(err, fs.ErrNotExist) {
			return
		}
		unix.Poll(nil, 10) //nolint:errcheck // a pause: the kernel still removes the last processes
	}
}

// confined limits the group of an executed command to what the command may use.
func (b *begun) confined(g *cgroup) {
	if g == nil {
		return
	}
	g.memory = b.Memory
	if 0 < b.Memory && b.Memory < gateMemory {
		g.limit(&b.share) //nolint:errcheck // it already has a limit, and limits could be set before
	}
}

// openGroup returns the group of a command whose keeper was killed, with the same limits, nil if it has
// none.
func (b *begun) openGroup() *cgroup {
	dir, err := os.Open(b.Cgroup)
	if b.Cgroup == "" || err != nil {
		return nil
	}
	g := &cgroup{path: b.Cgroup, dir: dir}
	b.confined(g)
	return g
}
