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
	self  bool     // this program runs it rather than placectl
	hello bool     // a program that only prints a line runs it
	undo  bool     // it prints a job, which another process cancels
	given []string // it takes the job that another process prints, with these arguments
}

// goals returns the goals for one process: on a store of 10,000 running jobs, on one of 100,000
// nodes whose jobs share them, and on one of one node.
func goals(full, shared, small target) []goal {
	array := []string{"submit", "--array", "10000", "1:ncpus=1", "-o", "id"}
	place := []string{"place", "1:ncpus=1", "--place", "excl", "-o", "id"}
	list := []goal{
		{name: "a program of Go that prints a line", hello: true},
		{name: "version", want: 2, args: []string{"version"}}, // in addition to that program
		{name: "empty commit", store: full, self: true, args: []string{"-commit", full.path}},
		{name: "when", want: 4, store: full, args: []string{"when", "1:ncpus=1", "--place", "excl", "-o", "json"}},
		{name: "place", want: 5, store: full, args: place, undo: true},
		{name: "release", want: 5, store: full, args: []string{"release"}, given: place},
		{name: "submit", want: 5, store: full, args: []string{"submit", "1:ncpus=1", "-o", "id"}, undo: true},
		{name: "job list", want: 40, store: full, args: []string{"job", "list"}},
		{name: "job list -o json", want: 50, store: full, args: []string{"job", "list", "-o", "json"}},
		{name: "submit --array 10000", want: 300, store: small, args: array, undo: true},
		{name: "cancel of that array", want: 500, store: small, args: []string{"cancel"}, given: array},
	}
	for _, policy := range []string{"firstavailable", "fastest", "priority", "tetris", "cpuload"} {
		list = append(list, goal{name: "place --policy " + policy, want: 15, store: shared, undo: true,
			args: []string{"place", "1:ncpus=1", "-t", "1h", "--policy", policy, "-o", "id"}})
	}
	return list
}

// measureGoals prints the processor time for each goal of one process: medians and minima of interleaved
// processes.
func measureGoals(self, dir string, runs int) error {
	b := &bench{program: filepath.Join(dir, "released"), self: self, runs: runs}
	hello, err := buildHello(dir)
	if err != nil {
		return err
	}
	// as in a release
	if err := build(b.program, "./cmd/placectl", "-tags", released, "-trimpath", "-ldflags",
		"-s -w"); err != nil {
		return err
	}
	policies := filepath.Join(dir, "policies")
	if err := build(policies, "./bench/policies"); err != nil {
		return err
	}
	full := target{10_000, 16, filepath.Join(dir, "full.db")}
	shared := target{100_000, 1, filepath.Join(dir, "shared.db")}
	small := target{1, 1, filepath.Join(dir, "small.db")}
	for _, made := range []struct {
		program string
		t       target
	}{{self, full}, {policies, shared}, {self, small}} {
		if err := exec.Command(made.program, "-make", made.t.path, "-sizes",
			strconv.Itoa(made.t.size)).Run(); err != nil {
			return err
		}
	}
	list := goals(full, shared, small)
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

// goal runs one process, and the one that makes its job before or undoes what it did.
func (b *bench) goal(g goal, hello string) (sample, error) {
	program := b.program
	switch {
	case g.self:
		program = b.self
	case g.hello:
		program = hello
	case g.given != nil:
		out, _, err := b.process(program, g.store, g.given...)
		if err != nil {
			return sample{}, err
		}
		return b.processInto(io.Discard, program, g.store, append(g.args, strings.TrimSpace(out))...)
	}
	if !g.undo {
		return b.processInto(io.Discard, program, g.store, g.args...)
	}
	out, m, err := b.process(program, g.store, g.args...)
	if err == nil {
		_, err = b.processInto(io.Discard, b.program, g.store, "cancel", strings.TrimSpace(out))
	}
	return m, err
}

func printGoals(list []goal, got [][]sample) {
	fmt.Printf("%s; ms, medians of %d processes, the least processor time in brackets\n\n",
		time.Now().UTC().Format(time.DateOnly), len(got[0]))
	out := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(out, "goal\tat most\tprocessor time\twall\tpeak MiB\t")
	cpu := func(s sample) float64 { return float64(s.cpu) / 1e6 }
	wall := func(s sample) float64 { return float64(s.wall) / 1e6 }
	floor, floorWall := median(got[0], cpu), median(got[0], wall)
	for i, g := range list {
		took, least, passed := median(got[i], cpu),
			cpu(slices.MinFunc(got[i], func(a, b sample) int { return int(a.cpu - b.cpu) })), median(got[i], wall)
		name, met := g.name, ""
		if name == "version" {
			name, took, least, passed = name+", beyond that", took-floor, least-floor, passed-floorWall
		}
		atMost := "-"
		if g.want > 0 {
			atMost, met = fmt.Sprintf("%.1f", g.want), "met"
			if math.Round(10*took) > 10*g.want {
				met = "missed"
			}
		}
		fmt.Fprintf(out, "%s\t%s\t%.1f (%.1f)\t%.1f\t%.0f\t%s\n", name, atMost, took, least, passed,
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
