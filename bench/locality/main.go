// Command locality prints what each policy of package locality costs in a
// simulation: how often a file is sent, and how much longer than ideal a batch
// takes.
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
		{"in order", locality.Settings{Policy: "inorder"}},
		{"BOINC's old locality scheduling (model)", locality.Settings{Policy: "files"}},
		{"cursors, team 10", locality.Settings{Policy: "cursors", Team: 10}},
		{"cursors, team 5", locality.Settings{Policy: "cursors", Team: 5}},
		{"cursors, team 2", locality.Settings{Policy: "cursors", Team: 2}},
		{"half", locality.Settings{Policy: "half"}},
		{"share", locality.Settings{Policy: "share"}},
		{"ends", locality.Settings{Policy: "ends"}},
		{"gaps", locality.Settings{Policy: "gaps"}},
	}
}

// variation changes one thing of the simulation.
type variation struct {
	name   string
	change func(*world)
}

func variations() []variation {
	return []variation{
		{"as specified", func(*world) {}},
		{"known hosts", func(w *world) { w.known = true }},
		{"quorum 2", func(w *world) { w.quorum = 2 }},
		{"30 % churn", func(w *world) { w.churn = 0.3 }},
		{"1,000 files", func(w *world) { w.files = 1000 }},
		{"dear downloads", func(w *world) { w.download = 1 }},
		{"5 jobs a request", func(w *world) { w.request = 5 }},
		{"lengths alike", func(w *world) { w.more = 0 }},
		{"100 hosts", func(w *world) { w.hosts = 100 }},
	}
}

func main() {
	seeds := flag.Int("seeds", 5, "simulations of each")
	from := flag.Int("from", 1, "the seed of the first")
	only := flag.String("policy", "", "only policies whose row contains this")
	which := flag.String("variation", "", "only variations whose name contains this")
	file := flag.String("store", "", "work through a database, this file, which must not be there")
	scale := flag.Int("scale", 1, "so many times fewer hosts, files and jobs")
	flag.Parse()
	open := openMemory
	if *file != "" {
		open = func(s locality.Settings, files int, jobs []locality.Job) (site, error) {
			return openFile(*file, s, files, jobs)
		}
	}
	for _, v := range variations() {
		if !strings.Contains(v.name, *which) {
			continue
		}
		w := spec()
		v.change(&w)
		w.hosts, w.files, w.jobs = w.hosts / *scale, w.files / *scale, w.jobs / *scale
		fmt.Printf("\n%s\n\n| policy | files | makespan | moves a host |\n|---|---|---|---|\n", v.name)
		for _, p := range rows() {
			if !strings.Contains(p.name, *only) {
				continue
			}
			if err := print(w, p, *from, *seeds, open); err != nil {
				fmt.Fprintln(os.Stderr, "locality:", err)
				os.Exit(1)
			}
		}
	}
}

// print runs a policy with every seed and prints the middle and the range.
func print(w world, p row, from, seeds int, open opener) error {
	var files, makespan, moves []float64
	for seed := from; seed < from+seeds; seed++ {
		o, err := simulate(w, p.settings, uint64(seed), open)
		if err != nil {
			return fmt.Errorf("%s, seed %d: %w", p.name, seed, err)
		}
		files, makespan, moves = append(files, o.files), append(makespan, o.makespan), append(moves, o.moves)
	}
	fmt.Printf("| %s | %s | %s | %s |\n", p.name, middle(files), middle(makespan), middle(moves))
	return nil
}
