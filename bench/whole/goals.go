package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// goal is a command, and its goal for processor time.
type goal struct {
	name  string
	want  float64 // ms, 0: no goal
	store target
	args  []string
	self  bool // this program runs it rather than placectl
	hello bool // a program that only prints a line runs it
	undo  bool // it prints a job, which another process releases
}

// goals returns the goals for one process, on stores with given numbers of jobs and nodes.
func goals(full, shared, worst target) []goal {
	place := []string{"place", "1:ncpus=1", "--place", "excl", "-o", "id"}
	list := []goal{
		{name: "a program of Go that prints a line", hello: true},
		{name: "version", want: 1, args: []string{"version"}}, // in addition to that program
		{name: "empty commit", want: 2.5, store: full, self: true, args: []string{"-commit", full.path}},
		{name: "when, free now", want: 3, store: full, args: []string{"when", "1:ncpus=1", "--place", "excl", "-o", "json"}},
		{name: "place 1 node", want: 3.6, store: full, args: place, undo: true},
		{name: "place --at now+0h", store: full, args: append(slices.Clone(place), "--at", "now+0h"), undo: true},
		{name: "place --at now+9h", store: full, args: append(slices.Clone(place), "--at", "now+9h"), undo: true},
	}
	for _, policy := range []string{"firstavailable", "fastest", "priority", "tetris", "cpuload"} {
		g := goal{name: "place --policy " + policy, want: 5, store: shared, undo: true,
			args: []string{"place", "1:ncpus=1", "-t", "1h", "--policy", policy, "-o", "id"}}
		if policy == "firstavailable" {
			g.want = 0 // the row with which the others are compared
		}
		list = append(list, g)
	}
	return append(list,
		goal{name: "when, adversarial", want: 25, store: worst, args: []string{"when", "2:ncpus=1", "--place", "scatter:excl", "-t", "1h", "-o", "id"}},
		goal{name: "explain 16 nodes", want: 300, store: shared, args: []string{"explain", "16:ncpus=64", "--place", "scatter:excl"}},
		goal{name: "explain a GPU", want: 300, store: shared, args: []string{"explain", "1:ncpus=1:ngpus=1"}},
		goal{name: "node list", want: 150, store: full, args: []string{"node", "list"}},
	)
}

// measureGoals prints the processor time for each goal of one process: medians and minima of interleaved
// processes.
func measureGoals(self, dir string, jobs, runs int) error {
	b := &bench{program: filepath.Join(dir, "placectl"), self: self, runs: runs}
	hello, err := buildHello(dir)
	if err != nil {
		return err
	}
	if err := build(b.program, "./cmd/placectl", "-tags", "urfave_cli_no_docs", "-trimpath", "-ldflags", "-s -w"); err != nil { // as in a release
		return err
	}
	policies := filepath.Join(dir, "policies")
	if err := build(policies, "./bench/policies"); err != nil {
		return err
	}
	full := target{jobs, 16, filepath.Join(dir, "full.db")}
	shared := target{jobs, 1, filepath.Join(dir, "shared.db")}
	worst := target{jobs * 64 / 100, 1, filepath.Join(dir, "worst.db")}
	for _, made := range []struct {
		program, flag string
		t             target
	}{{self, "-make", full}, {policies, "-make", shared}, {self, "-make-adversarial", worst}} {
		if err := exec.Command(made.program, made.flag, made.t.path, "-sizes", strconv.Itoa(made.t.size)).Run(); err != nil {
			return err
		}
	}
	list := goals(full, shared, worst)
	got := make([][]sample, len(list))
	for range runs {
		for i, g := range list {
			m, err := b.goal(g, hello)
			if err != nil {
				return err
			}
			got[i] = append(got[i], m)
		}
	}
	printGoals(list, got)
	return b.lines(full, runs)
}

// goal runs one process, and the one that undoes what it did.
func (b *bench) goal(g goal, hello string) (sample, error) {
	program := b.program
	switch {
	case g.self:
		program = b.self
	case g.hello:
		program = hello
	}
	if !g.undo {
		return b.processInto(io.Discard, program, g.store, g.args...)
	}
	out, m, err := b.process(program, g.store, g.args...)
	if err == nil {
		_, err = b.processInto(io.Discard, b.program, g.store, "release", strings.TrimSpace(out))
	}
	return m, err
}

func printGoals(list []goal, got [][]sample) {
	fmt.Printf("%s; processor time in ms, medians of %d processes, the least in brackets\n\n", time.Now().UTC().Format(time.DateOnly), len(got[0]))
	out := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(out, "goal\tat most\tit takes\tpeak MiB\t")
	cpu := func(s sample) float64 { return float64(s.cpu) / 1e6 }
	floor := median(got[0], cpu)
	for i, g := range list {
		took, least := median(got[i], cpu), cpu(slices.MinFunc(got[i], func(a, b sample) int { return int(a.cpu - b.cpu) }))
		name, met := g.name, ""
		if name == "version" {
			name, took, least = name+", beyond that", took-floor, least-floor
		}
		atMost := "-"
		if g.want > 0 {
			atMost, met = fmt.Sprintf("%.1f", g.want), "met"
			if math.Round(10*took) > 10*g.want {
				met = "missed"
			}
		}
		fmt.Fprintf(out, "%s\t%s\t%.1f (%.1f)\t%.0f\t%s\n", name, atMost, took, least,
			median(got[i], func(s sample) float64 { return float64(s.rss) / 1024 }), met)
	}
	out.Flush()
}

// lines measures the cost of a line of tx beyond the first.
func (b *bench) lines(t target, runs int) error {
	const many = 1000
	file := filepath.Join(filepath.Dir(t.path), "lines")
	var took [2][]sample
	for i, n := range []int{1, 1 + many} {
		if err := os.WriteFile(file, []byte(strings.Repeat("submit 1:ncpus=1 -t 1h\n", n)), 0o600); err != nil {
			return err
		}
		for range runs {
			_, m, err := b.process(b.program, t, "tx", "-f", file)
			if err != nil {
				return err
			}
			took[i] = append(took[i], m)
		}
	}
	cpu := func(s sample) float64 { return float64(s.cpu) / 1e3 }
	fmt.Printf("\ntx: %.0f us a line (at most 30)\n", (median(took[1], cpu)-median(took[0], cpu))/many)
	return nil
}

// buildHello makes the smallest Go program that prints something: the cost of any start.
func buildHello(dir string) (string, error) {
	source, to := filepath.Join(dir, "hello.go"), filepath.Join(dir, "hello")
	text := "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello\") }\n"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		return "", err
	}
	return to, build(to, source)
}
