// Runner measures the cost of executing jobs: the time from the commit that starts a job to its command,
// a thousand short jobs, sleeping jobs, a pass that has nothing to do, and a queue that runs by itself.
//
//	go run ./bench/runner                      # files in a temporary folder
//	go run ./bench/runner -dir /dev/shm -short
//
// With -check a figure that misses its goal ends it with status 1.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	dir := flag.String("dir", "", "the `folder` of the files; a temporary one")
	short := flag.Bool("short", false, "only try whether it runs")
	check := flag.Bool("check", false, "fail where a goal is missed")
	flag.Parse()
	if err := run(*dir, *short, *check); err != nil {
		fmt.Fprintln(os.Stderr, "runner:", err)
		os.Exit(1)
	}
}

// figure is a measurement, with its maximum.
type figure struct {
	name     string
	is, most float64
	unit     string
}

// counts say how much of each is measured.
type counts struct{ starts, jobs, sleepers, passes, waiting, quiet, pairs int }

func run(dir string, short, check bool) error {
	s, err := newSite(dir)
	if err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	n := counts{50, 1000, 1000, 50, 10000, 60, 200}
	if short {
		n = counts{3, 20, 5, 3, 10, 2, 3}
	}
	var figures []figure
	for _, measure := range []func(*site, counts) ([]figure, error){begin, many, sleep, idle} {
		some, err := measure(s, n)
		if err != nil {
			return err
		}
		figures = append(figures, some...)
	}
	itself, err := alone(dir)
	if err != nil {
		return err
	}
	defer os.RemoveAll(itself.dir)
	for _, measure := range []func(*site, counts) ([]figure, error){output, caller, gaps, quiet} {
		some, err := measure(itself, n)
		if err != nil {
			return err
		}
		figures = append(figures, some...)
	}
	missed := 0
	fmt.Println("| what | is | goal |\n|---|--:|--:|")
	for _, f := range figures {
		fmt.Printf("| %s | %.2f %s | %g |\n", f.name, f.is, f.unit, f.most)
		if f.is > f.most {
			missed++
		}
	}
	if check && missed > 0 {
		return fmt.Errorf("%d goals were missed", missed)
	}
	return nil
}

// site is a folder with the command and a database of this host.
type site struct{ dir, program string }

func newSite(dir string) (*site, error) {
	work, err := os.MkdirTemp(dir, "runner-")
	if err != nil {
		return nil, err
	}
	s := &site{work, filepath.Join(work, "placectl")}
	if out, err := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", s.program,
		"./cmd/placectl").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the command: %w: %s", err, out)
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	for _, args := range [][]string{{"init"}, {"node", "add", host, "ncpus=50"},
		{"config", "set", "launch=work", "state_dir=" + work + "/state"}} {
		if _, err := s.do(args...); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *site) command(args ...string) *exec.Cmd {
	c := exec.Command(s.program, args...)
	c.Dir = s.dir
	c.Env = append(os.Environ(), "PLACECTL_DB="+s.dir+"/placectl.db")
	return c
}

func (s *site) do(args ...string) (string, error) {
	out, err := s.command(args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%v: %w: %s", args, err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// begin measures from the commit of a cycle that starts a job to its command, through the pass that
// follows.
func begin(s *site, n counts) ([]figure, error) {
	var took []float64
	for i := range n.starts {
		job, err := s.do("submit", "1:ncpus=1", "-t", "1m", "-o", "id", "--out", "began", "--", "date", "+%s%N")
		if err != nil {
			return nil, err
		}
		if _, err := s.do("cycle"); err != nil {
			return nil, err
		}
		at := time.Now()
		if _, err := s.do("work", "--once"); err != nil {
			return nil, err
		}
		if _, err := s.do("wait", job); err != nil {
			return nil, err
		}
		text, err := os.ReadFile(s.dir + "/began")
		if err != nil {
			return nil, err
		}
		began, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("job %d: %w", i, err)
		}
		took = append(took, float64(began-at.UnixNano())/1e6)
	}
	slices.Sort(took)
	return []figure{{"commit to command, median", took[len(took)/2], 20, "ms"}}, nil
}

// many measures jobs of a second each, 50 at once, started by work --cycle.
func many(s *site, n counts) ([]figure, error) {
	first, err := s.do("submit", "1:ncpus=1", "-t", "1m", "--array", strconv.Itoa(n.jobs), "-o", "id", "--out",
		"/dev/null", "--", "sleep", "1")
	if err != nil {
		return nil, err
	}
	first, _, _ = strings.Cut(first, "\n")
	at := time.Now()
	work := s.command("work", "--cycle")
	if err := work.Start(); err != nil {
		return nil, err
	}
	_, err = s.do("wait", strings.TrimSuffix(first, "[]")+"[]")
	took := time.Since(at)
	work.Process.Signal(os.Interrupt) //nolint:errcheck // it is running
	work.Wait()                       //nolint:errcheck // it was interrupted
	return []figure{{fmt.Sprintf("%d jobs of a second", n.jobs), took.Seconds(), 60 * float64(n.jobs) / 1000, "s"}}, err
}

// sleep measures the cost of sleeping jobs.
func sleep(s *site, n counts) ([]figure, error) {
	first, err := s.do("submit", "1:ncpus=0", "-t", "10m", "--array", strconv.Itoa(n.sleepers), "-o", "id", "--out",
		"/dev/null", "--", "sleep", "300")
	if err != nil {
		return nil, err
	}
	first, _, _ = strings.Cut(first, "\n")
	array := strings.TrimSuffix(first, "[]") + "[]"
	if _, err := s.do("work", "--once", "--cycle"); err != nil {
		return nil, err
	}
	var pids []string
	processes := n.sleepers + 2 // a warden for each, the keeper, and the keeper's gate
	for end := time.Now().Add(time.Minute); len(pids) != processes && time.Now().Before(end); time.Sleep(time.Second) {
		pids = s.keepers()
	}
	if len(pids) != processes {
		return nil, fmt.Errorf("%d processes of ours, and %d jobs", len(pids), n.sleepers)
	}
	time.Sleep(15 * time.Second) // until the memory of the starts is returned
	var memory float64
	for _, pid := range pids {
		memory += memoryOf(pid, "Pss_Anon:")
	}
	before := cpuOf(pids)
	const seconds = 20
	time.Sleep(seconds * time.Second)
	cpu := (cpuOf(pids) - before) / seconds / float64(n.sleepers) * 1000
	if _, err := s.do("cancel", array); err != nil {
		return nil, err
	}
	s.command("wait", array).Run() //nolint:errcheck // they were cancelled
	return []figure{{fmt.Sprintf("memory of a job, of %d that sleep", n.sleepers), memory / float64(n.sleepers), 20,
		"kB"},
		{"of a core for 1,000 sleeping jobs", cpu * 100, 1, "%"}}, nil
}

// idle measures a pass that finds nothing to do, minus the cost of a process of ours that does nothing.
func idle(s *site, n counts) ([]figure, error) {
	median := func(args ...string) (float64, error) {
		var took []float64
		for range n.passes {
			at := time.Now()
			if _, err := s.do(args...); err != nil {
				return 0, err
			}
			took = append(took, float64(time.Since(at))/1e6)
		}
		slices.Sort(took)
		return took[len(took)/2], nil
	}
	pass, err := median("work", "--once")
	if err != nil {
		return nil, err
	}
	floor, err := median("version")
	return []figure{{fmt.Sprintf("an idle pass, as a process (%.2f ms one that does nothing)", floor), pass, 5, "ms"}},
		err
}

// keepers returns the pids of our processes that execute jobs.
func (s *site) keepers() (pids []string) {
	list, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range list {
		text, err := os.ReadFile(proc + "/cmdline")
		if words := strings.Split(string(text), "\x00"); err == nil && len(words) > 3 && words[1] == "keep" &&
			words[3] == s.dir+"/placectl.db" {
			pids = append(pids, filepath.Base(proc))
		}
	}
	return pids
}

// memoryOf returns a line of the kernel's account of a process's memory, in kB. In "Pss:" each process
// that shares a page has its part of it. "Pss_Anon:" leaves out pages of files, such as the program.
func memoryOf(pid, line string) float64 {
	text, _ := os.ReadFile("/proc/" + pid + "/smaps_rollup")
	for is := range strings.Lines(string(text)) {
		if fields := strings.Fields(is); len(fields) > 1 && fields[0] == line {
			n, _ := strconv.ParseFloat(fields[1], 64)
			return n
		}
	}
	return 0
}

// cpuOf returns the processor time of processes in seconds.
func cpuOf(pids []string) (sum float64) {
	for _, pid := range pids {
		text, _ := os.ReadFile("/proc/" + pid + "/stat") // ended threads count, too
		if _, rest, named := strings.Cut(string(text), ") "); named {
			fields := strings.Fields(rest)
			for _, ticks := range fields[11:13] { // in user mode, and in the kernel
				n, _ := strconv.ParseFloat(ticks, 64)
				sum += n / 100
			}
		}
	}
	return sum
}
