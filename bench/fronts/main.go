// Command fronts measures what workflow managers run all day: the commands of PBS and Slurm, one process
// for each, on a database with many jobs.
//
//	go run ./bench/fronts [-kept 100000] [-waiting 10000] [-runs 21]
//
// It prints a table of the median and the best of the runs: the elapsed time, and the processor time of
// the process, on which other load of the machine has less effect.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
)

func main() {
	kept := flag.Int("kept", 100_000, "jobs that have ended and are kept")
	waiting := flag.Int("waiting", 10_000, "jobs that wait")
	runs := flag.Int("runs", 21, "processes of each command")
	flag.Parse()
	dir, err := os.MkdirTemp("", "placectl-fronts-")
	check(err)
	defer os.RemoveAll(dir)
	program, db := filepath.Join(dir, "placectl"), filepath.Join(dir, "c.db")
	build := exec.Command("go", "build", "-o", program, "./cmd/placectl")
	build.Stderr = os.Stderr
	check(build.Run())
	check(fill(db, *kept, *waiting))
	script := filepath.Join(dir, "job.sh")
	check(os.WriteFile(script, []byte("#!/bin/sh\ntrue\n"), 0o755))
	first, last := fmt.Sprint(*kept/2), fmt.Sprint(*kept+*waiting)
	list := []struct{ goal, line string }{
		{"15 ms", "pbs qsub -l select=1:ncpus=1 " + script}, {"15 ms", "slurm sbatch -n 1 " + script},
		{"6 ms", "pbs qstat -f " + last}, {"6 ms", "pbs qstat -x -f " + first}, {"6 ms", "slurm squeue -j " + last},
		{"6 ms", "slurm sacct -j " + first},
		{"60 ms", "pbs qstat"}, {"60 ms", "slurm squeue"}, {"", "slurm squeue -h -o %i|%t -t all"},
		{"", "version"},
	}
	if *kept == 0 {
		list = slices.DeleteFunc(list, func(c struct{ goal, line string }) bool {
			return strings.HasSuffix(c.line, " "+first)
		})
	}
	fmt.Printf("| command, %d jobs kept, %d waiting | goal | median | best | cpu, median |\n|---|---|---|---|---|\n",
		*kept, *waiting)
	for _, c := range list {
		var wall, cpu []time.Duration
		for range *runs {
			cmd := exec.Command(program, strings.Fields("--db "+db+" "+c.line)...)
			cmd.Dir = dir
			began := time.Now()
			out, err := cmd.CombinedOutput()
			if err != nil {
				check(fmt.Errorf("%s: %w: %s", c.line, err, out))
			}
			wall = append(wall, time.Since(began))
			cpu = append(cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		}
		slices.Sort(wall)
		slices.Sort(cpu)
		fmt.Printf("| `%s` | %s | %s | %s | %s |\n", strings.ReplaceAll(c.line, script, "job.sh"), c.goal,
			ms(wall[len(wall)/2]), ms(wall[0]), ms(cpu[len(cpu)/2]))
	}
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1000) }

// fill makes a database of 1,000 nodes, all of them in use.
func fill(path string, kept, waiting int) error {
	ask := placer.Request{Select: "1:ncpus=1", Walltime: time.Hour, User: "ann", Name: "job"}
	err := engine.Create(path, nil, func(tx *engine.Tx) error {
		for i := range 1000 {
			n := &index.Node{Name: fmt.Sprintf("n%04d", i)}
			n.Set(index.NCPUs, index.Value{Num: 8})
			if _, err := tx.Nodes().Put(n); err != nil {
				return err
			}
		}
		if err := tx.Config().Set("start", "manual"); err != nil {
			return err
		}
		for range kept {
			j, err := tx.Jobs().Place(ask)
			if err == nil {
				_, err = tx.Jobs().Release(j.ID)
			}
			if err != nil {
				return err
			}
		}
		for range waiting {
			if _, err := tx.Jobs().Submit(engine.Submission{Request: ask, Command: []string{"true"}}); err != nil {
				return err
			}
		}
		_, err := tx.Jobs().Place(placer.Request{Select: "1000:ncpus=8", Place: "scatter:excl", Walltime: time.Hour,
			User: "bob"})
		return err
	})
	return err
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "fronts:", err)
		os.Exit(1)
	}
}
