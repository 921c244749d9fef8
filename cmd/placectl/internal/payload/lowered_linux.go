package payload

import (
	"fmt"
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/environ"
	"github.com/placectl/placectl/internal/text"
	"golang.org/x/sys/unix"
)

// Lowered says where a process that starts a job has less than the process that submitted it, or than
// this one. It compares the kernel's limits, niceness, and the memory and cpus of control groups. What
// the process starts is limited in the same way.
func Lowered(pid int, limits []engine.ResourceLimit) (list []string) {
	for _, l := range limits {
		for _, known := range environ.ResourceLimits {
			var is unix.Rlimit
			if known.Name == l.Name && os.Geteuid() != 0 && unix.Prlimit(pid, known.ID, nil, &is) == nil &&
				environ.LimitValue(is.Max) < l.Soft {
				list = append(list, fmt.Sprintf("%s %d, not %s", l.Name, is.Max, limitWord(l.Soft)))
			}
		}
	}
	own, failed := unix.Getpriority(unix.PRIO_PROCESS, 0)
	// the system call returns 20 - nice
	if nice, err := unix.Getpriority(unix.PRIO_PROCESS, pid); err == nil && failed == nil && nice < own {
		list = append(list, fmt.Sprintf("nice %d, not %d", 20-nice, 20-own))
	}
	theirs, ours := groupOf("/sys/fs/cgroup", strconv.Itoa(pid)), groupOf("/sys/fs/cgroup", "self")
	if theirs.memory < ours.memory {
		list = append(list, fmt.Sprintf("memory of %s, as its control group has it", text.FormatSize(theirs.memory)))
	}
	if theirs.cpus < ours.cpus {
		list = append(list, fmt.Sprintf("%.4g cpus, as its control group has it", theirs.cpus))
	}
	return list
}

func limitWord(n uint64) string {
	if n == engine.NoLimit {
		return "unlimited"
	}
	return strconv.FormatUint(n, 10)
}

// group is what control groups allow a process: the minimum over its own group and those above.
type group struct {
	memory int64 // bytes
	cpus   float64
}

func groupOf(root, pid string) group {
	g := group{math.MaxInt64, math.Inf(1)}
	membership, err := os.ReadFile("/proc/" + pid + "/cgroup")
	if err != nil {
		return g
	}
	for line := range strings.Lines(string(membership)) {
		if name, unified := strings.CutPrefix(strings.TrimSpace(line), "0::"); unified {
			return g.below(root, path.Clean("/"+name))
		}
	}
	return g
}

// below returns what a group and those above it allow.
func (g group) below(root, name string) group {
	for ; name != "/"; name = path.Dir(name) {
		most, _ := os.ReadFile(root + name + "/memory.max")
		if n, err := strconv.ParseInt(strings.TrimSpace(string(most)), 10, 64); err == nil {
			g.memory = min(g.memory, n)
		}
		share, _ := os.ReadFile(root + name + "/cpu.max")
		if words := strings.Fields(string(share)); len(words) == 2 {
			quota, err := strconv.ParseFloat(words[0], 64)
			if period, wrong := strconv.ParseFloat(words[1], 64); err == nil && wrong == nil && period > 0 {
				g.cpus = min(g.cpus, quota/period)
			}
		}
	}
	return g
}
