// Command sharing measures the cost of sharing a machine: placing, releasing and cycles without rules,
// and the same under limits, an order of the queue and rules of preemption. It also measures queries
// about the past of a large cluster.
//
//	go run ./bench/sharing [-rounds 15] [-waiting 10000] [-nodes 100000]
//
// All variants of a row are measured in turns, in one process, by processor time. So other work on the
// machine hardly matters, and writing to the disk does not count.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
)

func main() {
	rounds := flag.Int("rounds", 15, "measurements of each figure; the least counts")
	waiting := flag.Int("waiting", 10_000, "jobs that wait for the cycles")
	nodes := flag.Int("nodes", 100_000, "nodes of the cluster whose past is asked for")
	flag.Parse()
	dir, err := os.MkdirTemp("", "placectl-sharing-")
	check(err)
	defer os.RemoveAll(dir)
	check(shares(dir, *waiting, *rounds))
	check(past(dir, *nodes, *rounds))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "sharing:", err)
		os.Exit(1)
	}
}

// shares prints a row for each variant. Each has its own database.
func shares(dir string, waiting, rounds int) error {
	var dbs []*engine.DB
	for i, v := range variants {
		path := filepath.Join(dir, fmt.Sprintf("%d.db", i))
		if i == 0 {
			if err := fill(path, waiting); err != nil {
				return err
			}
		} else if err := copyFile(path, filepath.Join(dir, "0.db")); err != nil {
			return err
		}
		db, err := engine.Open(path, &engine.Options{AnyTime: true, Now: now})
		if err != nil {
			return err
		}
		defer db.Close()
		if v.set != nil {
			if err := db.Update(v.set); err != nil {
				return err
			}
		}
		dbs = append(dbs, db)
	}
	took := make([][columns]time.Duration, len(variants))
	all := make([][columns][]time.Duration, len(variants))
	for round := range rounds {
		for n := range dbs {
			i := (n + round) % len(dbs) // no variant always follows the same one
			db := dbs[i]
			for c, measure := range []func(*engine.DB) (time.Duration, error){placing, releasing, cycle} {
				d, err := measure(db)
				if err != nil {
					return fmt.Errorf("%s: %w", variants[i].name, err)
				}
				all[i][c] = append(all[i][c], d)
			}
		}
	}
	fmt.Printf("1,000 nodes, full but for one; %d jobs of 100 users wait; the least of %d, in turns, "+
		"processor time\n\n", waiting, rounds)
	fmt.Println("| rules | place, us | release, us | cycle, ms | beside none | more a waiting job, us " +
		"|\n|---|--:|--:|--:|--:|--:|")
	for i, v := range variants {
		for c := range columns {
			slices.Sort(all[i][c])
			took[i][c] = all[i][c][0]
		}
		t := took[i]
		fmt.Printf("| %s | %d | %d | %.1f | %.2f | %.2f |\n", v.name, t[0].Microseconds(), t[1].Microseconds(),
			ms(t[2]),
			float64(t[2])/float64(took[0][2]), float64((t[2]-took[0][2]).Nanoseconds())/1000/float64(waiting))
	}
	return nil
}

// columns counts place, release and cycle.
const columns = 3

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// batch is the number of jobs in a measurement of placing and releasing, each in a commit of its own.
const batch = 12

// placing places jobs on the free node.
func placing(db *engine.DB) (time.Duration, error) {
	return spent(batch, func() error {
		return db.Update(func(tx *engine.Tx) error {
			_, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=1", User: "fay", Walltime: time.Hour})
			return err
		})
	})
}

// releasing ends those jobs again.
func releasing(db *engine.DB) (time.Duration, error) {
	var ids []uint64
	err := db.View(func(tx *engine.Tx) error {
		return tx.Jobs().Each(func(j *engine.Job) error {
			if j.User == "fay" {
				ids = append(ids, j.ID)
			}
			return nil
		}, engine.JobRunning)
	})
	if err == nil && len(ids) != batch {
		err = fmt.Errorf("%d jobs to be released, not %d", len(ids), batch)
	}
	if err != nil {
		return 0, err
	}
	return spent(batch, func() error {
		id := ids[0]
		ids = ids[1:]
		return db.Update(func(tx *engine.Tx) error { _, err := tx.Jobs().Release(id); return err })
	})
}

// cycle makes a cycle and discards it.
func cycle(db *engine.DB) (time.Duration, error) {
	return spent(1, func() error {
		return db.DryRun(func(tx *engine.Tx) error {
			report, err := tx.Cycle().Run(engine.CycleSpec{})
			if err == nil && len(report.Stopped) > 0 {
				err = errors.New("jobs were stopped")
			}
			return err
		})
	})
}

// spent returns the processor time of one of n calls.
func spent(n int, fn func() error) (time.Duration, error) {
	before := processor()
	for range n {
		if err := fn(); err != nil {
			return 0, err
		}
	}
	return (processor() - before) / time.Duration(n), nil
}

// processor returns the processor time that this process has used.
func processor() time.Duration {
	var u syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func copyFile(to, from string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}
