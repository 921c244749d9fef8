// Recover measures the verbs for recovery on a large database: how long each takes as a process, and how
// much memory of its own it uses at most.
//
//	go run ./bench/recover                             # 100,000 nodes, 1,000,000 ended jobs
//	go run ./bench/recover -nodes 1000 -jobs 10000     # the short form, in CI
//
// With -check a verb that takes more memory or time than allowed ends with status 1. Own memory is
// RssAnon of /proc/PID/status, read every 2 ms. Mapped pages of the file are not counted, because the
// kernel can take them back.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	nodes := flag.Int("nodes", 100_000, "how many nodes")
	jobs := flag.Int("jobs", 1_000_000, "how many jobs that have ended, each with two events")
	dir := flag.String("dir", "", "the `folder` of the files, on the disk to measure; a temporary one")
	check := flag.Bool("check", false, "fail where a verb takes more than 64 MiB of its own, or its time")
	flag.Parse()
	if err := run(*dir, *nodes, *jobs, *check); err != nil {
		fmt.Fprintln(os.Stderr, "recover:", err)
		os.Exit(1)
	}
}

// step is a call of placectl, and its limits.
type step struct {
	name  string
	most  time.Duration
	args  []string
	out   string   // the file for standard output, "" for none
	after []string // files that the next steps do not need
}

const (
	mostMemory = 64 << 20 // bytes
	quick      = 15 * time.Second
	slow       = 120 * time.Second
)

func run(dir string, nodes, jobs int, check bool) error {
	work, err := os.MkdirTemp(dir, "recover-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	program := filepath.Join(work, "placectl")
	if out, err := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", program,
		"./cmd/placectl").CombinedOutput(); err != nil {
		return fmt.Errorf("building the command: %w: %s", err, out)
	}
	if err := writeDump(filepath.Join(work, "made.jsonl"), nodes, jobs); err != nil {
		return err
	}
	steps := []step{
		{name: "load", most: slow, args: []string{"load", "made.jsonl"}, after: []string{"made.jsonl"}},
		{name: "dump", most: slow, args: []string{"dump"}, out: "out.jsonl", after: []string{"out.jsonl"}},
		{name: "backup", most: quick, args: []string{"backup", "b.db"}},
		{name: "restore", most: quick, args: []string{"restore", "b.db"},
			after: []string{"b.db", "placectl.db.replaced-1"}},
		{name: "salvage", most: slow, args: []string{"salvage", "placectl.db", "--to", "s.db"},
			after: []string{"s.db"}},
		{name: "archive, half, .jsonl.gz", most: slow, args: []string{"archive", "--before", half(jobs), "--to",
			"a.jsonl.gz"}, after: []string{"a.jsonl.gz"}},
		{name: "archive, the rest, .jsonl", most: slow,
			args:  []string{"archive", "--before", "@" + strconv.Itoa(first+2*jobs), "--to", "a.jsonl"},
			after: []string{"a.jsonl"}},
		{name: "compact", most: slow, args: []string{"compact"}},
		{name: "check", most: slow, args: []string{"check", "--in-process"}},
	}
	fmt.Printf("%d nodes, %d ended jobs, two events each.\n\n", nodes, jobs)
	fmt.Println("| verb | seconds | of its own, MiB | the file after it, MiB |\n|---|--:|--:|--:|")
	failed := 0
	for _, s := range steps {
		took, memory, err := s.run(work, program)
		if err != nil {
			return err
		}
		info, err := os.Stat(filepath.Join(work, "placectl.db"))
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %.1f | %.0f | %.0f |\n", s.name, took.Seconds(), mib(memory), mib(info.Size()))
		if took > s.most || memory > mostMemory {
			failed++
		}
		for _, name := range s.after {
			os.Remove(filepath.Join(work, name))
		}
	}
	if check && failed > 0 {
		return fmt.Errorf("%d verbs take more than %d MiB or their time", failed, mostMemory>>20)
	}
	return nil
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }

// half returns the instant by which half of the jobs have ended.
func half(jobs int) string { return "@" + strconv.Itoa(first+jobs/2) }

// run runs the step, and measures it.
func (s *step) run(dir, program string) (took time.Duration, memory int64, err error) {
	cmd := exec.Command(program, append([]string{"-q", "--db", "placectl.db"}, s.args...)...)
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stderr = &said
	if s.out != "" {
		out, err := os.Create(filepath.Join(dir, s.out))
		if err != nil {
			return 0, 0, err
		}
		defer out.Close()
		cmd.Stdout = out
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case err := <-done:
			if err != nil {
				return 0, 0, fmt.Errorf("%s: %w: %s", s.name, err, &said)
			}
			return time.Since(began), memory, nil
		case <-time.After(2 * time.Millisecond):
			memory = max(memory, ownMemory(cmd.Process.Pid))
		}
	}
}

// ownMemory returns a process's memory without that of files, in bytes.
func ownMemory(pid int) int64 {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "RssAnon:"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kb << 10
		}
	}
	return 0
}

// first is when the first job began, in Unix seconds: in the autumn of 2023.
const first = 1_700_000_000

// writeDump writes the initial database, in which one job ends each second.
func writeDump(name string, nodes, jobs int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	fmt.Fprintf(w, `{"placectl":"dump","format":11}`+"\n")
	fmt.Fprintf(w,
		`{"table":"meta","key":"state","row":{"asOf":%d,"nextNode":%d,"nextBucket":8,"nextResource":64,"nextJob":%d,"nextReservation":1,"events":%d}}`+"\n",
		first+jobs, nodes, jobs+1, 2*jobs)
	for n := range nodes {
		fmt.Fprintf(w,
			`{"table":"nodes","key":%d,"row":{"number":%d,"name":"n%06d","bucket":%d,"res":[{"value":{"num":%d}},{"res":2,"value":{"num":67108864}}]}}`+"\n",
			n, n, n, n%8, 4<<(n%8))
	}
	for j := range jobs {
		end := first + j
		fmt.Fprintf(w,
			`{"table":"jobs","key":%d,"row":{"id":%d,"state":5,"user":"u%d","select":"2:ncpus=4:mem=8gb","place":"free","path":"node","policy":"firstavailable",`+
				`"walltime":3600,"submit":%d,"start":%d,"end":%d,"chunks":[{"count":2,"nodes":[{"node":%d,"chunks":2,"shared":true}]}],"queued":true,"launched":true,"command":["./simulate","--seed","%d"]}}`+"\n",
			j+1, j+1, j%50, end-900, end-600, end, j%nodes, j)
	}
	for e := range 2 * jobs {
		what := [...]string{`"event":"start","old":"queued","new":"running"`,
			`"event":"end","old":"running","new":"finished"`}[e%2]
		fmt.Fprintf(w, `{"table":"events","key":%d,"row":{"id":%d,"time":%d,"job":%d,%s}}`+"\n", e+1, e+1, first+e/2,
			e/2+1, what)
	}
	fmt.Fprintf(w, "{\"rows\":%d}\n", 1+nodes+3*jobs)
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
