package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

// target is a store to measure on.
type target struct {
	size, kinds int
	path        string
}

type bench struct {
	program, self string
	floor         string // the least program
	runs          int
	only          string
	stores        []target
}

// step is a command, and the one that restores the store.
type step struct {
	name  string
	args  func(t target) []string
	undo  func(t target, out string) []string
	self  bool // this program runs it rather than placectl
	floor bool // the least program runs it
}

func steps() []step {
	release := func(_ target, out string) []string { return []string{"release", strings.TrimSpace(out)} }
	return []step{
		{name: "the least program", floor: true, args: words()},
		{name: "empty commit", self: true, args: func(t target) []string { return []string{"-commit", t.path} }},
		{name: "place 1 node", args: words("place", "1:ncpus=1", "--place", "excl", "-o", "id"), undo: release},
		// kinds fill up in order, so the last one is free
		{name: "place 1 node of a colour", args: func(t target) []string {
			return []string{"place", fmt.Sprintf("1:ncpus=1:color=c%d", t.kinds-1), "--place", "excl", "-o", "id"}
		}, undo: release},
		{name: "release", args: words("release")},
		{name: "when, free now", args: words("when", "1:ncpus=1", "--place", "excl", "-o", "json")},
		{name: "when, 3 ends to wait for", args: words("when", "3:ncpus=1:color=c0", "--place", "scatter:excl", "-o",
			"json")},
		{name: "when, in a placement set", args: words("when", "1:ncpus=1", "--place", "excl:group=color", "-o",
			"json")},
		{name: "place --or-reserve", args: words("place", "3:ncpus=1:color=c0", "--place", "scatter:excl", "-t", "90m",
			"--or-reserve", "-o", "id"), undo: release},
		{name: "when, a tenth of all nodes", args: func(t target) []string {
			return []string{"when", fmt.Sprintf("%d:ncpus=1", t.size/10+3), "--place", "scatter:excl", "-o", "id"}
		}},
		{name: "node show", args: words("node", "show", "node000007")},
		{name: "show", args: words("show", "7")},
		{name: "bucket list", args: words("bucket", "list")},
		{name: "node list", args: words("node", "list")},
		{name: "job list", args: words("job", "list")},
		{name: "job list, json", args: words("job", "list", "-o", "json")},
		{name: "gantt", args: words("gantt", "--rows", "40")},
	}
}

func words(args ...string) func(target) []string { return func(target) []string { return args } }

// sample is the cost of one process.
type sample struct {
	wall, cpu time.Duration
	rss       int64 // KiB
}

func (b *bench) run() error {
	fmt.Printf("%s, %d CPUs, %s, %s; median of %d processes, sizes interleaved; wall ms / cpu ms / peak MiB\n\n",
		machine(), runtime.NumCPU(), runtime.Version(), time.Now().UTC().Format(time.DateOnly), b.runs)
	out := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', 0)
	fmt.Fprint(out, "command")
	for _, t := range b.stores {
		fmt.Fprintf(out, "\t%d jobs", t.size)
	}
	fmt.Fprintln(out, "\twall, largest / smallest\tmemory\twall / the least program's")
	var least float64
	for _, s := range steps() {
		if !s.floor && !strings.Contains(s.name, b.only) {
			continue
		}
		got := make([][]sample, len(b.stores))
		for range b.runs {
			for i, t := range b.stores {
				m, err := b.once(s, t)
				if err != nil {
					return fmt.Errorf("%s at %d: %w", s.name, t.size, err)
				}
				got[i] = append(got[i], m)
			}
		}
		wall := printRow(out, s.name, got)
		if s.floor {
			least = wall
		}
		fmt.Fprintf(out, "\t%.2f\n", wall/least)
	}
	return out.Flush()
}

// printRow prints the medians, and returns the wall time in ms on the smallest store.
func printRow(out *tabwriter.Writer, name string, got [][]sample) float64 {
	fmt.Fprint(out, name)
	var walls, rss []float64
	for _, list := range got {
		wall := median(list, func(s sample) float64 { return float64(s.wall) / 1e6 })
		cpu := median(list, func(s sample) float64 { return float64(s.cpu) / 1e6 })
		mem := median(list, func(s sample) float64 { return float64(s.rss) / 1024 })
		fmt.Fprintf(out, "\t%.2f / %.2f / %.1f", wall, cpu, mem)
		walls, rss = append(walls, wall), append(rss, mem)
	}
	last := len(got) - 1
	fmt.Fprintf(out, "\t%.2f\t%.2f", walls[last]/walls[0], rss[last]/rss[0])
	return walls[0]
}

func median(list []sample, of func(sample) float64) float64 {
	values := make([]float64, len(list))
	for i, s := range list {
		values[i] = of(s)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// once runs a step, with what it needs before and after.
func (b *bench) once(s step, t target) (sample, error) {
	args := s.args(t)
	if s.name == "release" {
		out, _, err := b.process(b.program, t, "place", "1:ncpus=1", "--place", "excl", "-o", "id")
		if err != nil {
			return sample{}, err
		}
		args = append(args, strings.TrimSpace(out))
	}
	program := b.program
	switch {
	case s.self:
		program = b.self
	case s.floor:
		program = b.floor
	}
	out, m, err := b.process(program, t, args...)
	if err != nil || s.undo == nil {
		return m, err
	}
	_, _, err = b.process(b.program, t, s.undo(t, out)...)
	return m, err
}

// process runs a process and returns what it prints.
func (b *bench) process(program string, t target, args ...string) (string, sample, error) {
	var out strings.Builder
	m, err := b.processInto(&out, program, t, args...)
	return out.String(), m, err
}

// processInto makes a process print into out. What this process keeps of the output counts in the peaks
// of processes that it starts later.
func (b *bench) processInto(out io.Writer, program string, t target, args ...string) (sample, error) {
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "PLACECTL_DB="+t.path)
	var complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &complaint
	start := time.Now()
	err := cmd.Run()
	m := sample{wall: time.Since(start)}
	if err != nil {
		return m, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, complaint.String())
	}
	m.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		m.rss = usage.Maxrss
	}
	return m, nil
}

// build makes a program as it is once installed. The linker writes through a mapping, which leaves the
// program in small pages of the page cache, and it starts 15 to 20 % slower than its copy.
func build(to, what string, flags ...string) error {
	linked := to + ".linked"
	cmd := exec.Command("go", append(append([]string{"build", "-o", linked}, flags...), what)...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	if err := exec.Command("cp", linked, to).Run(); err != nil {
		return err
	}
	return os.Remove(linked)
}

// machine names the processor.
func machine() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return runtime.GOARCH
}
