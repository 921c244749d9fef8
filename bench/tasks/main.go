// Command tasks measures how many small tasks a second are executed, two at once, by placectl and by
// xargs, GNU parallel and task-spooler. It says which tools are not installed.
//
//	go run ./bench/tasks [-dir /dev/shm] [-tasks 2000] [-slots 2] [-runs 5]
//
// The tools take turns: each row is the median of runs, and between two of them all other tools have
// theirs. The time is that from the first command line to the end of the last task. A task is true, or a
// shell that prints its number if files are kept.
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
	"syscall"
	"time"
)

func main() {
	b := &bench{}
	flag.StringVar(&b.dir, "dir", "", "the `folder` of the files; a temporary one")
	flag.IntVar(&b.tasks, "tasks", 2000, "tasks of a run")
	flag.IntVar(&b.slots, "slots", 2, "tasks at once")
	flag.IntVar(&b.runs, "runs", 5, "runs of each row")
	short := flag.Bool("short", false, "only try whether it runs")
	flag.Parse()
	if *short {
		b.tasks, b.runs = 20, 1
	}
	if err := b.run(); err != nil {
		fmt.Fprintln(os.Stderr, "tasks:", err)
		os.Exit(1)
	}
}

type bench struct {
	dir                string
	tasks, slots, runs int
	program            string
}

// way is a way to execute the tasks, in a folder of its own.
type way struct {
	name  string
	needs string // the program it needs, "" for placectl
	does  func(b *bench, dir string) error
	files bool // each task writes a file
}

var ways = []way{
	{"placectl, an array", "", array, false},
	{"placectl, `submit --each`, a file each", "", each, true},
	{"xargs -P", "xargs", func(b *bench, dir string) error {
		return b.fed(dir, "xargs", "-P", b.at(), "-n", "1", "true")
	}, false},
	{"xargs -P, sh, a file each", "xargs", func(b *bench, dir string) error {
		return b.fed(dir, "xargs", "-P", b.at(), "-I{}", "sh", "-c", "echo {} >out.{}")
	}, true},
	{"parallel", "parallel", func(b *bench, dir string) error { return b.fed(dir, "parallel", "-j", b.at(), "true") },
		false},
	{"parallel --joblog --results", "parallel", func(b *bench, dir string) error {
		return b.fed(dir, "parallel", "-j", b.at(), "--joblog", "log", "--results", "out", "echo {}")
	}, true},
	{"task-spooler", "tsp", spooler, false},
}

func (b *bench) at() string { return strconv.Itoa(b.slots) }

func (b *bench) run() error {
	work, err := os.MkdirTemp(b.dir, "tasks-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	b.program = filepath.Join(work, "placectl")
	if out, err := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", b.program,
		"./cmd/placectl").CombinedOutput(); err != nil {
		return fmt.Errorf("building the command: %w: %s", err, out)
	}
	took := make([][]time.Duration, len(ways))
	missing := make([]bool, len(ways))
	for run := range b.runs {
		for i, w := range ways {
			if w.needs != "" {
				if _, err := exec.LookPath(w.needs); err != nil {
					missing[i] = true
					continue
				}
			}
			dir := filepath.Join(work, fmt.Sprintf("%d.%d", run, i))
			if err := os.Mkdir(dir, 0o700); err != nil {
				return err
			}
			began := time.Now()
			if err := w.does(b, dir); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			took[i] = append(took[i], time.Since(began))
			if n := written(dir); w.files && n < b.tasks {
				return fmt.Errorf("%s: %d files of %d tasks", w.name, n, b.tasks)
			}
			os.RemoveAll(dir) //nolint:errcheck // the whole folder is removed later
		}
	}
	fmt.Printf("%d tasks, %d at once; medians of %d runs\n\n| way | seconds | tasks/s |\n|---|--:|--:|\n", b.tasks,
		b.slots, b.runs)
	for i, w := range ways {
		if missing[i] {
			fmt.Printf("| %s | %s is not installed | |\n", w.name, w.needs)
			continue
		}
		slices.Sort(took[i])
		m := took[i][len(took[i])/2].Seconds()
		fmt.Printf("| %s | %.2f | %.0f |\n", w.name, m, float64(b.tasks)/m)
	}
	return nil
}

// written counts the files that tasks have written in a folder and below it.
func written(dir string) (n int) {
	//nolint:errcheck // missing files are not counted
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && (strings.HasPrefix(filepath.Base(path), "out.") ||
			filepath.Base(path) == "stdout") {
			n++
		}
		return nil
	})
	return n
}

// output runs a command, and fails with its output.
func output(c *exec.Cmd) error {
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %.2000s", strings.Join(c.Args, " "), err, out)
	}
	return nil
}

// fed runs a tool that reads the numbers of the tasks.
func (b *bench) fed(dir string, words ...string) error {
	c := exec.Command(words[0], words[1:]...)
	c.Dir, c.Stdin = dir, strings.NewReader(b.numbers())
	return output(c)
}

func (b *bench) numbers() string {
	var s strings.Builder
	for i := range b.tasks {
		fmt.Fprintln(&s, i)
	}
	return s.String()
}

// array makes placectl execute the tasks as an array.
func array(b *bench, dir string) error {
	return b.queue(dir, "submit", "1:ncpus=1", "-t", "10m", "-o", "id", "--out", "/dev/null", "--array",
		strconv.Itoa(b.tasks), "--", "true")
}

// each makes placectl execute a task for each line.
func each(b *bench, dir string) error {
	return b.queue(dir, "submit", "1:ncpus=1", "-t", "10m", "-o", "id", "--out", "out.%a", "--each", "-", "--", "echo",
		"{}")
}

// queue submits tasks to a new database, and has them executed.
func (b *bench) queue(dir string, submit ...string) error {
	command := func(args ...string) *exec.Cmd {
		c := exec.Command(b.program, args...)
		c.Dir, c.Stdin = dir, strings.NewReader(b.numbers())
		c.Env = append(os.Environ(), "PLACECTL_DB="+dir+"/tasks.db", "PLACECTL_START=manual")
		return c
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	for _, args := range [][]string{{"init"}, {"node", "add", host, "ncpus=" + b.at()},
		{"config", "set", "launch=work", "state_dir=" + dir + "/state"}, submit} {
		if err := output(command(args...)); err != nil {
			return err
		}
	}
	work := command("work", "--cycle")
	if err := work.Start(); err != nil {
		return err
	}
	err = output(command("wait", "1[]"))
	work.Process.Signal(syscall.SIGINT) //nolint:errcheck // it is running
	work.Wait()                         //nolint:errcheck // it was interrupted
	return err
}

// spooler makes task-spooler execute the tasks. A process submits each of them.
func spooler(b *bench, dir string) error {
	command := func(args ...string) *exec.Cmd {
		c := exec.Command("tsp", args...)
		c.Env = append(os.Environ(), "TS_SOCKET="+dir+"/socket", "TS_SLOTS="+b.at(), "TMPDIR="+dir, "TS_MAXFINISHED=10")
		return c
	}
	defer command("-K").Run() //nolint:errcheck // it may have ended
	for range b.tasks {
		if err := output(command("-n", "true")); err != nil {
			return err
		}
	}
	for {
		out, err := command("-l").Output()
		if err != nil {
			return err
		}
		if list := string(out); !strings.Contains(list, "queued") && !strings.Contains(list, "running") {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
}
