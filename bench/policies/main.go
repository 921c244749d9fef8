// Command policies measures what every policy costs on a shared cluster that is half full, for one core,
// 16 nodes and one GPU, in the library and as a process.
//
//	go run ./bench/policies [-sizes 10000,100000] [-runs 11]
//
// A quarter of the nodes is taken whole. A half is shared by two jobs each and has room left. A quarter
// is idle. One node in eight has GPUs. Nodes have one of four speeds, and every fourth has a measured
// load. 48 nodes share a switch, and 8 switches a rack.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
)

// requests are the requests made under every policy.
var requests = []struct {
	name string
	r    placer.Request
}{
	{"1 core", placer.Request{Select: "1:ncpus=1", Walltime: time.Hour}},
	{"16 nodes", placer.Request{Select: "16:ncpus=32", Place: "scatter", Walltime: time.Hour}},
	{"1 GPU", placer.Request{Select: "1:ncpus=1:ngpus=1", Walltime: time.Hour}},
}

func main() {
	sizes := flag.String("sizes", "10000,100000", "nodes of each store")
	runs := flag.Int("runs", 11, "processes, and rounds in the library, of each cell")
	only := flag.String("only", "", "this `policy` only")
	uniform := flag.Bool("uniform", false, "nodes have neither speeds nor loads")
	makeOnly := flag.String("make", "", "only make this `store`, of the first of the sizes")
	flag.Parse()
	if *makeOnly != "" {
		n, err := strconv.Atoi(strings.Split(*sizes, ",")[0])
		check(err)
		check(fill(*makeOnly, n, *uniform))
		return
	}
	dir, err := os.MkdirTemp("", "placectl-policies-")
	check(err)
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "placectl")
	check(exec.Command("go", "build", "-o", program, "./cmd/placectl").Run())
	self, err := os.Executable()
	check(err)
	fmt.Printf("%s, %d CPUs, %s; median of %d; library us / process ms\n\n", runtime.Version(), runtime.NumCPU(),
		time.Now().UTC().Format(time.DateOnly), *runs)
	for word := range strings.SplitSeq(*sizes, ",") {
		path := filepath.Join(dir, word+".db")
		check(exec.Command(self, "-make", path, "-sizes", word, "-uniform="+strconv.FormatBool(*uniform)).Run())
		fmt.Printf("%s nodes\n", word)
		check(table(program, path, *runs, *only))
	}
}

func table(program, path string, runs int, only string) error {
	out := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', 0)
	fmt.Fprint(out, "policy")
	for _, q := range requests {
		fmt.Fprintf(out, "\t%s", q.name)
	}
	fmt.Fprintln(out)
	for _, p := range placer.Policies() {
		if p == placer.Local || only != "" && only != p.String() {
			continue // its cost is that of the site's program
		}
		fmt.Fprint(out, p)
		for _, q := range requests {
			q.r.Policy = p.String()
			lib, err := library(path, q.r, runs)
			if err != nil {
				return err
			}
			proc, err := process(program, path, q.r, runs)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "\t%.1f / %.2f", float64(lib)/1e3, float64(proc)/1e6)
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}

// library returns the cost of a decision to a process with the store's indexes in memory. It is the
// median of runs, after one that loads the indexes.
func library(path string, r placer.Request, runs int) (time.Duration, error) {
	db, err := engine.Open(path, &engine.Options{})
	if err != nil {
		return 0, err
	}
	defer db.Close()
	var list []time.Duration
	err = db.View(func(tx *engine.Tx) error {
		for range runs + 1 {
			start := time.Now()
			if _, err := tx.Ask().When(r, tx.Now(), 1); err != nil {
				return err
			}
			list = append(list, time.Since(start))
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return median(list[1:]), nil
}

// process returns the cost of placing to a script: a process that places, durably. Another process
// releases the job again, which does not count.
func process(program, path string, r placer.Request, runs int) (time.Duration, error) {
	args := []string{"--db", path, "place", r.Select, "-t", "1h", "--policy", r.Policy, "-o", "id"}
	if r.Place != "" {
		args = append(args, "--place", r.Place)
	}
	var list []time.Duration
	for range runs {
		start := time.Now()
		out, err := exec.Command(program, args...).Output()
		if err != nil {
			return 0, fmt.Errorf("%v: %w", args, err)
		}
		list = append(list, time.Since(start))
		if err := exec.Command(program, "--db", path, "release", strings.TrimSpace(string(out))).Run(); err != nil {
			return 0, err
		}
	}
	return median(list), nil
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "policies:", err)
		os.Exit(1)
	}
}
