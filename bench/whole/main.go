// Command whole measures placectl as its users meet it, with one process for each command, on stores of
// growing size, beside the lower bound of an empty commit. It prints the table of the cost law: the cost
// of a command follows what it touches, not what the store holds. Each start stands beside that of the least
// program of the kind, bench/whole/floor.
//
//	go run ./bench/whole [-sizes 100,10000,100000] [-runs 21]
//	go run ./bench/whole -goals [-runs 21]   # the goals for one process
//	go run ./bench/whole -beside PROGRAM     # the start beside that of another build
//
// Each store has as many running one-node jobs as the size says, on a tenth more nodes. Runs of the sizes
// are interleaved, so that ratios between columns hold on a shared machine.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
)

// released is the tag of released programs.
const released = "urfave_cli_no_docs"

func main() {
	sizes := flag.String("sizes", "100,10000,100000", "live jobs of each store")
	runs := flag.Int("runs", 21, "processes of each command and store")
	signatures := flag.Int("signatures", 16, "different kinds of nodes")
	planned := flag.Bool("planned", false, "half of the nodes run jobs, a quarter is planned for soon, twice each")
	only := flag.String("only", "", "only commands whose name holds this `text`")
	goalsOnly := flag.Bool("goals", false, "the processor time that one process is meant to take")
	other := flag.String("beside", "", "only compare starts with those of another placectl, the `program`, in copies "+
		"made in turn")
	commit := flag.String("commit", "", "only commit an empty change to this `store` (the floor)")
	make := flag.String("make", "", "only make this `store`, of the first of the sizes")
	worst := flag.String("make-adversarial", "", "only make this adversarial `store`")
	child := flag.Int("contend-child", 0, "be one of the contending processes, for so many transactions")
	flag.Parse()
	switch {
	case *child > 0:
		check(contendChild(*commit, *child))
		return
	case *commit != "":
		check(emptyCommit(*commit))
		return
	case *worst != "":
		n, err := strconv.Atoi(*sizes)
		check(err)
		check(fillAdversarial(*worst, n))
		return
	case *make != "":
		n, err := strconv.Atoi(strings.Split(*sizes, ",")[0])
		check(err)
		check(fill(*make, n, *signatures, *planned))
		return
	}
	dir, err := os.MkdirTemp("", "placectl-whole-")
	check(err)
	defer os.RemoveAll(dir)
	program, floor := filepath.Join(dir, "placectl"), filepath.Join(dir, "floor")
	check(build(program, "./cmd/placectl", "-tags", released))
	check(build(floor, "./bench/whole/floor", "-tags", released))
	self, err := os.Executable()
	check(err)
	if *other != "" {
		check(beside(dir, *other, 8, *runs))
		return
	}
	if *goalsOnly {
		check(measureGoals(self, dir, *runs))
		check(contend(self, filepath.Join(dir, "contended.db"), 16, 100))
		check(embedded(dir, 100_000))
		return
	}
	b := &bench{program: program, self: self, floor: floor, runs: *runs, only: *only}
	for _, word := range strings.Split(*sizes, ",") {
		n, err := strconv.Atoi(word)
		check(err)
		path := filepath.Join(dir, word+".db")
		fmt.Fprintf(os.Stderr, "making a store of %d jobs\n", n)
		// In a process of its own: this one must stay small, because the processes that
		// it starts count its memory in their peaks.
		check(exec.Command(self, "-make", path, "-sizes", word, "-signatures", strconv.Itoa(*signatures),
			"-planned="+strconv.FormatBool(*planned)).Run())
		b.stores = append(b.stores, target{n, *signatures, path})
	}
	check(b.run())
	if *only != "" {
		return
	}
	check(b.adversarial(dir))
	check(contend(self, filepath.Join(dir, "contended.db"), 16, 100))
	check(embedded(dir, 100_000))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "whole:", err)
		os.Exit(1)
	}
}

// base returns when the stores' jobs start: now, because the measured processes read the clock.
func base() time.Time { return time.Now().Add(-time.Minute).Truncate(time.Second) }

// emptyCommit changes one row.
func emptyCommit(path string) error {
	db, err := engine.Open(path, nil)
	if err != nil {
		return err
	}
	return db.Update(func(tx *engine.Tx) error { return tx.Config().Set("default_walltime", "3600") })
}

// fill makes a store with n running jobs on n + n/10 nodes of several kinds.
func fill(path string, n, signatures int, planned bool) error {
	now := base()
	opt := &engine.Options{Now: func() time.Time { return now }}
	if err := engine.Create(path, opt, func(tx *engine.Tx) error {
		return tx.Config().AddResource(index.Def{Name: "color", Type: index.String})
	}); err != nil {
		return err
	}
	db, err := engine.Open(path, opt)
	if err != nil {
		return err
	}
	defer db.Close()
	nodes, running := n+n/10, n
	if planned {
		nodes, running = n, n/2
	}
	if err := db.Update(func(tx *engine.Tx) error { return addNodes(tx, nodes, signatures) }); err != nil {
		return err
	}
	if err := startJobs(db, running); err != nil || !planned {
		return err
	}
	return planAhead(db, n)
}

// startJobs starts one-node jobs. No two of them end at the same time.
func startJobs(db *engine.DB, n int) error {
	for done := 0; done < n; {
		batch := min(10_000, n-done)
		err := db.Update(func(tx *engine.Tx) error {
			for i := range batch {
				r := placer.Request{Select: "1:ncpus=1", Place: "excl",
					Walltime: time.Hour + time.Duration(done+i)*time.Second}
				if _, err := tx.Jobs().Place(r); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		done += batch
	}
	return nil
}

// planAhead reserves every other free node, in half an hour and in two hours, so that an hour does not
// fit on those now.
func planAhead(db *engine.DB, n int) error {
	return db.Update(func(tx *engine.Tx) error {
		var free []uint32
		err := tx.Nodes().Each(func(n *index.Node) error {
			on, err := tx.Nodes().Occupancy(n)
			if on.State == engine.NodeFree && on.FreeUntil.IsZero() {
				free = append(free, n.Number)
			}
			return err
		})
		if err != nil {
			return err
		}
		for i := 0; i < len(free); i += 2 {
			for _, ahead := range []int{1800, 7200} {
				start := tx.Now().Add(time.Duration(ahead+i%600) * time.Second)
				name := fmt.Sprintf("r%d-%d", i, ahead)
				if _, err := tx.Reservations().ReserveNodes(name, free[i:i+1], start,
					start.Add(30*time.Minute)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func addPlainNodes(tx *engine.Tx, n int) error {
	for i := range n {
		node := &index.Node{Name: fmt.Sprintf("node%06d", i)}
		node.Set(index.NCPUs, index.Value{Num: 16})
		if _, err := tx.Nodes().Put(node); err != nil {
			return err
		}
	}
	return nil
}

func addNodes(tx *engine.Tx, n, signatures int) error {
	defs, err := tx.Config().Resources()
	if err != nil {
		return err
	}
	color, _ := defs.Lookup("color")
	for i := range n {
		node := &index.Node{Name: fmt.Sprintf("node%06d", i)}
		node.Set(index.NCPUs, index.Value{Num: 16})
		node.Set(index.Mem, index.Value{Num: 64 << 20})
		node.Set(color.ID, index.Value{Str: fmt.Sprintf("c%d", i%signatures)})
		if _, err := tx.Nodes().Put(node); err != nil {
			return err
		}
	}
	return nil
}
