package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// pairs are the commands that beside compares.
var pairs = []step{
	{name: "version", args: words("version")},
	{name: "query", args: words("query", "SELECT count(*) FROM nodes")},
	{name: "place", args: words("place", "1:ncpus=1", "-o", "id"), undo: cancelled},
	{name: "submit", args: words("submit", "1:ncpus=1", "-o", "id"), undo: cancelled},
	{name: "release", args: words("release")},
}

func cancelled(_ target, out string) []string { return []string{"cancel", strings.TrimSpace(out)} }

// beside compares the build of this tree with another program, as copies made in turn: where a program lies in
// the page cache moves its start by 15 %. Each has its own store of 100 nodes, because formats may differ.
func beside(dir, other string, copies, runs int) error {
	if err := os.Setenv("PLACECTL_START", "none"); err != nil { // no process stays behind and runs beside the others
		return err
	}
	ours := filepath.Join(dir, "released")
	if err := build(ours, "./cmd/placectl", "-tags", released); err != nil {
		return err
	}
	b := &bench{runs: runs}
	programs := []string{other, ours}
	stores := make([]target, len(programs))
	for i, program := range programs {
		stores[i] = target{size: 100, path: filepath.Join(dir, fmt.Sprint(i, ".db"))}
		if err := b.prepare(program, stores[i]); err != nil {
			return err
		}
	}
	ratios := make([][]float64, len(pairs))
	for range copies {
		for i, s := range pairs {
			times, err := b.inTurn(dir, programs, stores, s)
			if err != nil {
				return err
			}
			ratios[i] = append(ratios[i], times[1]/times[0])
		}
	}
	fmt.Printf("%s, %s; wall time beside that of %s: median, least and most of %d copies, each of %d processes\n\n",
		machine(), time.Now().UTC().Format(time.DateOnly), other, copies, runs)
	out := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', 0)
	for i, s := range pairs {
		slices.Sort(ratios[i])
		fmt.Fprintf(out, "%s\t%.2f\t%.2f to %.2f\n", s.name, ratios[i][copies/2], ratios[i][0], ratios[i][copies-1])
	}
	return out.Flush()
}

// prepare makes a store of 100 nodes with a program that knows only its own format.
func (b *bench) prepare(program string, t target) error {
	nodes := []byte("name,ncpus,mem\n")
	for i := range t.size {
		nodes = fmt.Appendf(nodes, "n%03d,16,64gb\n", i)
	}
	file := t.path + ".csv"
	if err := os.WriteFile(file, nodes, 0o600); err != nil {
		return err
	}
	if _, _, err := b.process(program, t, "init"); err != nil {
		return err
	}
	_, _, err := b.process(program, t, "node", "import", file)
	return err
}

// inTurn runs a step with a fresh copy of each program in turn, and returns their medians in ms.
func (b *bench) inTurn(dir string, programs []string, stores []target, s step) ([]float64, error) {
	took, copies := make([][]sample, len(programs)), make([]string, len(programs))
	for i, program := range programs {
		copies[i] = filepath.Join(dir, fmt.Sprint("copy", i))
		os.Remove(copies[i]) //nolint:errcheck // cp tells
		if err := exec.Command("cp", program, copies[i]).Run(); err != nil {
			return nil, err
		}
	}
	for range b.runs {
		for i, t := range stores {
			b.program = copies[i]
			m, err := b.once(s, t)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			took[i] = append(took[i], m)
		}
	}
	medians := make([]float64, len(took))
	for i, list := range took {
		medians[i] = median(list, func(s sample) float64 { return float64(s.wall) / 1e6 })
	}
	return medians, nil
}
