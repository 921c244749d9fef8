// Package detect finds out what a machine has: cores and their hardware threads, memory, scratch space,
// GPUs and their slices, and the group (NUMA node) of each. It reads /sys, /proc and the output of
// NVIDIA's program, on its own machine or from a recorded tree. What it cannot read it notes and leaves
// out, without an error.
package detect

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index/devices"
)

// Source is where the facts about a machine come from.
type Source struct {
	Root fs.FS // with its files: sys/..., proc/...
	// Run runs a program and returns its output, or fs.ErrNotExist if there is no such program.
	Run func(words ...string) (string, error)
	// Free returns the free space of a file system in kB, 0 if it is not local.
	Free func(dir string) int64
}

// Machine is what was detected.
type Machine struct {
	Cores     devices.Set // whole cores with their threads, or threads if those are counted
	GPUs      devices.Set
	Slices    map[string]devices.Set // slices of GPUs, by resource
	Distances devices.Distances      // between groups, nil if there is only one
	Memory    int64                  // kB, 0 if unknown; so is Disk
	Disk      int64
	Notes     []string // what could not be detected, and why

	asked bool // a driver of GPUs has answered
}

// Found returns the devices of the resources that could be detected.
func (m *Machine) Found() (found []devices.Held) {
	if len(m.Cores) > 0 {
		found = append(found, devices.Held{Resource: devices.Cores, Devices: m.Cores})
	}
	if m.asked {
		found = append(found, devices.Held{Resource: "ngpus", Devices: m.GPUs})
	}
	for _, resource := range slices.Sorted(maps.Keys(m.Slices)) {
		found = append(found, devices.Held{Resource: resource, Devices: m.Slices[resource]})
	}
	return found
}

// Look detects a machine. With threads, each hardware thread counts as a core.
func Look(src *Source, threads bool) *Machine {
	m := &Machine{}
	l := looking{src, m}
	l.cores(threads)
	l.memory()
	l.gpus()
	l.amdGPUs()
	l.distances()
	if src.Free != nil {
		for _, dir := range []string{"/scratch", "/local", "/tmp", "/var/tmp"} {
			m.Disk = max(m.Disk, src.Free(dir))
		}
	}
	return m
}

// looking is a detection in progress.
type looking struct {
	src *Source
	*Machine
}

func (l *looking) note(format string, args ...any) {
	l.Notes = append(l.Notes, fmt.Sprintf(format, args...))
}

// text returns a file without surrounding blanks, "" if it cannot be read.
func (l *looking) text(path string) string {
	b, err := fs.ReadFile(l.src.Root, path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// number returns a file's number.
func (l *looking) number(path string) (int64, bool) {
	n, err := strconv.ParseInt(l.text(path), 10, 64)
	return n, err == nil
}

// list parses 0-3,8,10-11.
func list(text string) (out []int) {
	for item := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		from, to, ranged := strings.Cut(item, "-")
		if !ranged {
			to = from
		}
		first, err1 := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || last < first || last >= 1<<16 {
			continue
		}
		for n := first; n <= last; n++ {
			out = append(out, n)
		}
	}
	return out
}

// line returns the value of a file's line that begins with a key.
func (l *looking) line(path, key string) string {
	for line := range strings.Lines(l.text(path)) {
		if value, ok := strings.CutPrefix(line, key); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// groups returns the NUMA nodes.
func (l *looking) groups() []int { return list(l.text("sys/devices/system/node/online")) }

// distances reads the distances between the groups.
func (l *looking) distances() {
	groups := l.groups()
	if len(groups) < 2 || groups[len(groups)-1] > devices.MaxGroup {
		return
	}
	size := groups[len(groups)-1] + 1
	far := make(devices.Distances, size)
	for i := range far {
		far[i] = make([]int, size)
		for k := range far[i] {
			if far[i][k] = 20; i == k {
				far[i][k] = 10
			}
		}
	}
	for _, g := range groups {
		fields := strings.Fields(l.text(fmt.Sprintf("sys/devices/system/node/node%d/distance", g)))
		for i, f := range fields {
			if n, err := strconv.Atoi(f); err == nil && i < len(groups) && n >= 0 && n < 256 {
				far[g][groups[i]] = n
			}
		}
	}
	l.Distances = far
}

// memory takes the smaller of the machine's memory and its control group's limit.
func (l *looking) memory() {
	kb, _, _ := strings.Cut(l.line("proc/meminfo", "MemTotal:"), " ")
	n, err := strconv.ParseInt(kb, 10, 64)
	if err != nil {
		l.note("memory: /proc/meminfo does not tell it")
		return
	}
	l.Memory = n
	limit := func(path string) {
		if n, ok := l.number(path); ok && n > 0 {
			l.Memory = min(l.Memory, n/1024)
		}
	}
	limit("sys/fs/cgroup/memory/memory.limit_in_bytes")
	for path := strings.Trim(l.line("proc/self/cgroup", "0::"), "/"); ; path = parentOf(path) {
		limit(strings.Trim("sys/fs/cgroup/"+path, "/") + "/memory.max")
		if path == "" {
			return
		}
	}
}

func parentOf(path string) string { return path[:max(0, strings.LastIndex(path, "/"))] }

// cores reads the cores that this process may use, with their threads.
func (l *looking) cores(threads bool) {
	allowed := list(l.line("proc/self/status", "Cpus_allowed_list:"))
	if len(allowed) == 0 {
		allowed = list(l.text("sys/devices/system/cpu/online"))
	}
	if len(allowed) == 0 {
		l.note("cores: /proc/self/status does not tell them")
		return
	}
	group := make(map[int]int)
	for _, g := range l.groups() {
		for _, cpu := range list(l.text(fmt.Sprintf("sys/devices/system/node/node%d/cpulist", g))) {
			group[cpu] = min(g, devices.MaxGroup)
		}
	}
	seen := make(map[int]bool)
	for _, cpu := range allowed {
		if seen[cpu] || len(l.Cores) == devices.MaxDevices {
			continue
		}
		core := devices.Device{ID: strconv.Itoa(cpu), Group: group[cpu]}
		if siblings := l.siblings(cpu, allowed); !threads && len(siblings) > 1 {
			core.Threads = siblings
			for _, t := range siblings {
				seen[t] = true
			}
		}
		l.Cores = append(l.Cores, core)
	}
}

// siblings returns the usable threads of a thread's core.
func (l *looking) siblings(cpu int, allowed []int) (out []int) {
	dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/", cpu)
	text := l.text(dir + "core_cpus_list")
	if text == "" {
		text = l.text(dir + "thread_siblings_list")
	}
	for _, t := range list(text) {
		if _, ok := slices.BinarySearch(allowed, t); ok {
			out = append(out, t)
		}
	}
	return out
}
