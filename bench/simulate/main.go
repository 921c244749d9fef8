// Command simulate measures the cost of replaying logs of jobs under each policy: two logs for which
// others have published results, and a synthetic one of the size of CEA-Curie's.
//
//	go run ./bench/simulate [-runs 5] [-load 0.8] [-only TEXT]
//
// It uses one processor. The machine may be shared, so beside the median elapsed time it prints the
// processor time, which others disturb less.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/backfill/swf"
)

// A workload is a log and its machine.
type workload struct {
	name  string
	procs int64
	log   func() ([]backfill.Job, error)
}

func main() {
	runs := flag.Int("runs", 5, "how often each is done")
	load := flag.Float64("load", .8,
		"of the synthetic log: processor time used over that of the machine while jobs come")
	only := flag.String("only", "", "only logs whose name holds this `text`")
	data := flag.String("data", "placer/backfill/testdata", "the `folder` of the real logs")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	real := func(name string) func() ([]backfill.Job, error) {
		return func() ([]backfill.Job, error) { return read(filepath.Join(*data, name)) }
	}
	fmt.Printf("%s, one of %d CPUs, %s; medians of %d\n\n", runtime.Version(), runtime.NumCPU(),
		time.Now().UTC().Format(time.DateOnly), *runs)
	t := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "log\tjobs\tprocs\twork\tseconds\tcpu seconds\tavg wait\tavg slowdown\t")
	for _, w := range []workload{
		{"KTH-SP2", 100, real("KTH-SP2-1996-2.strongfilter.swf.gz")},
		{"lublin_256", 256, real("lublin_256.reqrun.swf.gz")},
		{"synthetic Curie", curieProcs, func() ([]backfill.Job, error) { return synthetic(curieJobs, *load), nil }},
	} {
		if strings.Contains(w.name, *only) {
			if err := w.measure(t, max(1, *runs)); err != nil {
				fmt.Fprintln(os.Stderr, "simulate:", err)
				os.Exit(1)
			}
		}
	}
	t.Flush()
}

// measure prints the times for reading the log, and for replaying it.
func (w workload) measure(t io.Writer, runs int) error {
	var jobs []backfill.Job
	wall, cpu, err := median(runs, func() (err error) {
		jobs, err = w.log()
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(t, "%s\t%d\t%d\tread\t%.3f\t%.3f\t\t\t\n", w.name, len(jobs), w.procs, wall, cpu)
	for p := backfill.FCFS; p <= backfill.Conservative; p++ {
		var starts []int64
		wall, cpu, err := median(runs, func() (err error) {
			starts, err = backfill.Run(w.procs, jobs, p, nil)
			return err
		})
		if err != nil {
			return err
		}
		s := backfill.Summarise(w.procs, jobs, starts)
		fmt.Fprintf(t, "\t\t\t%s\t%.3f\t%.3f\t%.4f\t%.6f\t\n", p, wall, cpu, s.AvgWait, s.AvgSlowdown)
	}
	return nil
}

// median runs do several times, and returns the medians of both times in seconds.
func median(runs int, do func() error) (wall, cpu float64, err error) {
	var walls, cpus []float64
	for range runs {
		runtime.GC()
		began, used := time.Now(), cpuTime()
		if err := do(); err != nil {
			return 0, 0, err
		}
		walls, cpus = append(walls, time.Since(began).Seconds()), append(cpus, (cpuTime()-used).Seconds())
	}
	slices.Sort(walls)
	slices.Sort(cpus)
	return walls[runs/2], cpus[runs/2], nil
}

// cpuTime returns the processor time that this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// read reads a log all of whose jobs can be replayed.
func read(path string) (jobs []backfill.Job, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	log, err := swf.NewReader(f)
	if err != nil {
		return nil, err
	}
	for {
		j, err := log.Next()
		if err == io.EOF {
			return jobs, nil
		}
		if err != nil {
			return nil, err
		}
		e := backfill.Entry{Submit: j.Submit, Run: j.Run, Procs: j.Procs, WantProcs: j.WantProcs, WantTime: j.WantTime}
		if job, ok := e.Job(false); ok {
			jobs = append(jobs, job)
		}
	}
}
