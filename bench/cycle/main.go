// Command cycle measures the queue as its users meet it, with one process for each command: a
// submission, and cycles over mixed waiting jobs on a cluster that is full or half full.
//
//	go run ./bench/cycle [-nodes 10000] [-waiting 1000,10000] [-runs 5] [-cpu]
//
//	go run ./bench/cycle -plays 100,1000 [-waiting 100,1000] [-backfill easy] [-profile FILE]
//
// With -plays it measures expected starts: playing the queue in memory, and reading the stored result.
//
// Each cycle is made on a copy of the same file, so that all cycles of a row do the same work. "first"
// is the cycle that meets all jobs for the first time, "again" the one after it, when nothing has
// changed, and "one ended" the one after a single running job has ended. With -cpu the processor time of
// each process counts, for a machine that is busy with other work.
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
	nodes := flag.Int("nodes", 10_000, "nodes of the cluster")
	waiting := flag.String("waiting", "1000,10000", "waiting jobs of each store")
	runs := flag.Int("runs", 5, "processes of each command and store")
	only := flag.String("backfill", "fcfs,easy,conservative", "kinds of backfilling")
	cpu := flag.Bool("cpu", false, "processor time instead of the time of day")
	played := flag.String("plays", "",
		"measure expected starts instead, on clusters of so many nodes, such as 100,1000")
	profile := flag.String("profile", "", "write a profile of the processor's time in plays to this file")
	flag.Parse()
	dir, err := os.MkdirTemp("", "placectl-cycle-")
	check(err)
	defer os.RemoveAll(dir)
	if *played != "" {
		check(plays(dir, *played, *waiting, *only, *profile, *runs))
		return
	}
	b := &bench{dir: dir, program: filepath.Join(dir, "placectl"), runs: *runs, kinds: strings.Split(*only, ","),
		cpu: *cpu}
	check(output(exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", b.program, "./cmd/placectl")))
	fmt.Printf("%d nodes of 16 cpus, 16 kinds; medians of %d processes, in milliseconds\n\n", *nodes, *runs)
	fmt.Println("| running | waiting | command | first | started | planned | again | one ended " +
		"|\n|---|---|---|---|---|---|---|---|")
	for _, running := range []int{*nodes / 2, *nodes} {
		path := filepath.Join(dir, fmt.Sprintf("%d.db", running))
		check(fill(path, *nodes, running))
		check(b.submits(path, running))
		for word := range strings.SplitSeq(*waiting, ",") {
			n, err := strconv.Atoi(word)
			check(err)
			queued := filepath.Join(dir, fmt.Sprintf("%d-%d.db", running, n))
			check(copyFile(queued, path))
			check(queue(queued, n))
			for _, kind := range b.kinds {
				check(b.cycles(queued, running, n, kind))
			}
		}
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "cycle:", err)
		os.Exit(1)
	}
}

type bench struct {
	dir, program string
	runs         int
	kinds        []string
	cpu          bool
}

// submits measures putting one job into the queue.
func (b *bench) submits(path string, running int) error {
	var took []time.Duration
	for range b.runs * 4 {
		copied := filepath.Join(b.dir, "submit.db")
		if len(took) == 0 {
			if err := copyFile(copied, path); err != nil {
				return err
			}
		}
		d, err := b.time(copied, "submit", "1:ncpus=4", "-t", "1h")
		if err != nil {
			return err
		}
		took = append(took, d)
	}
	fmt.Printf("| %d | 0 | submit | %s | | | | |\n", running, millis(median(took)))
	return nil
}

// cycles measures the three cycles of a row.
func (b *bench) cycles(queued string, running, waiting int, kind string) error {
	var first, again, ended []time.Duration
	copied := filepath.Join(b.dir, "cycle.db")
	for range b.runs {
		if err := copyFile(copied, queued); err != nil {
			return err
		}
		for i, to := range []*[]time.Duration{&first, &again, &ended} {
			if i == 2 {
				if _, err := b.time(copied, "release", strconv.Itoa(running/2)); err != nil {
					return err
				}
			}
			d, err := b.time(copied, "cycle", "--backfill", kind)
			if err != nil {
				return err
			}
			*to = append(*to, d)
		}
	}
	started, planned, err := outcome(copied, running)
	if err != nil {
		return err
	}
	fmt.Printf("| %d | %d | cycle %s | %s | %d | %d | %s | %s |\n", running, waiting, kind, millis(median(first)),
		started, planned,
		millis(median(again)), millis(median(ended)))
	return nil
}

// time runs the program once, and returns how long it took.
func (b *bench) time(db string, args ...string) (time.Duration, error) {
	cmd := exec.Command(b.program, append([]string{"--db", db, "-q"}, args...)...)
	start := time.Now()
	err := output(cmd)
	took := time.Since(start)
	if b.cpu && cmd.ProcessState != nil {
		took = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return took, err
}

// output runs a command, and shows its output if it fails.
func output(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, out)
	}
	return nil
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

func millis(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000) }

func copyFile(to, from string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}
