// Command locality prints what each policy of package locality costs in a simulation: how often a file
// is sent, and how much longer than ideal a batch takes.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/placectl/placectl/locality"
)

// row is a policy with its settings.
type row struct {
	name     string
	settings locality.Settings
}

func rows() []row {
	return []row{
		{"cursors, team 10", locality.Settings{Policy: "cursors", Team: 10}},
		{"cursors, team 5", locality.Settings{Policy: "cursors", Team: 5}},
		{"cursors, team 2", locality.Settings{Policy: "cursors", Team: 2}},
		{"gaps", locality.Settings{Policy: "gaps"}},
	}
}

func main() {
	seeds := flag.Int("seeds", 5, "simulations of each")
	from := flag.Int("from", 1, "the seed of the first")
	only := flag.String("policy", "", "only policies whose row contains this")
	name := flag.String("world", "", "only this world; several changes of the first joined by +")
	file := flag.String("store", "", "work through a database, this file, which must not be there")
	scale := flag.Int("scale", 1, "so many times fewer hosts, files and jobs")
	flag.Usage = usage
	flag.Parse()
	open := openMemory
	if *file != "" {
		open = func(s locality.Settings, files int, jobs []locality.Job) (site, error) {
			return openFile(*file, s, files, jobs)
		}
	}
	list := names()
	if *name != "" {
		list = []string{*name}
	}
	for _, name := range list {
		w, err := worldOf(name)
		if err == nil {
			w.hosts, w.files, w.jobs = w.hosts / *scale, w.files / *scale, w.jobs / *scale
			err = print(name, w, *only, *from, *seeds, open)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "locality:", err)
			os.Exit(1)
		}
	}
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: locality [flags]; what each policy costs, in these worlds:")
	for _, c := range changes() {
		fmt.Fprintf(os.Stderr, "  %-18s%s\n", c.name, c.what)
	}
	flag.PrintDefaults()
}

// print runs the policies in a world with every seed, and prints a table with the median and the range
// of each figure.
func print(name string, w world, only string, from, seeds int, open opener) error {
	fmt.Printf("\n%s\n\n| policy | files | makespan | moves a host |\n|---|---|---|---|\n", name)
	for _, p := range rows() {
		if !strings.Contains(p.name, only) {
			continue
		}
		var files, makespan, moves []float64
		for seed := from; seed < from+seeds; seed++ {
			o, err := simulate(w, p.settings, uint64(seed), open)
			if err != nil {
				return fmt.Errorf("%s, seed %d: %w", p.name, seed, err)
			}
			files, makespan, moves = append(files, o.files), append(makespan, o.makespan), append(moves, o.moves)
		}
		fmt.Printf("| %s | %s | %s | %s |\n", p.name, middle(files), middle(makespan), middle(moves))
	}
	return nil
}
