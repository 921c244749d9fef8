package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
)

// plays measures expected starts: the queue is played twice in memory, by requested walltimes and by
// likely ones. Each job that has ended ran for a third of its walltime.
func plays(dir, nodes, waiting, backfill, profile string, runs int) error {
	if profile != "" {
		out, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer out.Close()
		if err := pprof.StartCPUProfile(out); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	fmt.Printf("Nodes of 16 cpus, 16 kinds, all busy; medians of %d, milliseconds of processor time\n\n", runs)
	fmt.Println("| nodes | waiting | backfill | one play | both | both, time of day | kept value read | expected " +
		"|\n|---|---|---|---|---|---|---|---|")
	for size := range strings.SplitSeq(nodes, ",") {
		for number := range strings.SplitSeq(waiting, ",") {
			for kind := range strings.SplitSeq(backfill, ",") {
				n, err := strconv.Atoi(size)
				check(err)
				w, err := strconv.Atoi(number)
				check(err)
				if err := playsOf(filepath.Join(dir, size+"-"+number+"-"+kind+".db"), n, w, kind, runs); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func playsOf(path string, nodes, waiting int, kind string, runs int) error {
	if err := fillPlayed(path, nodes, waiting, kind); err != nil {
		return err
	}
	db, err := open(path)
	if err != nil {
		return err
	}
	defer db.Close()
	var read, one, both, clock []time.Duration
	starts := 0
	for range runs {
		err := db.View(func(tx *engine.Tx) error {
			took, err := processor(func() error {
				return tx.Suppose(func(tx *engine.Tx) error {
					_, err := tx.Cycle().Play(engine.PlaySpec{First: 1000})
					return err
				})
			})
			one = append(one, took)
			if err != nil {
				return err
			}
			began := time.Now()
			took, err = processor(func() error { _, err := tx.Cycle().FreshForecasts(); return err })
			both, clock = append(both, took), append(clock, time.Since(began))
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := db.Forecast(engine.ForecastSpec{}); err != nil {
		return err
	}
	for range runs {
		err := db.View(func(tx *engine.Tx) error {
			var fs *engine.Forecasts
			took, err := processor(func() (err error) { fs, err = tx.Cycle().Forecasts(); return err })
			read, starts = append(read, took), 0
			if err != nil {
				return err
			}
			return tx.Jobs().Each(func(j *engine.Job) error {
				if _, known := fs.Of(j.ID); known {
					starts++
				}
				return nil
			}, engine.JobQueued, engine.JobReserved)
		})
		if err != nil {
			return err
		}
	}
	fmt.Printf("| %d | %d | %s | %s | %s | %s | %s | %d |\n", nodes, waiting, kind, millis(median(one)),
		millis(median(both)), millis(median(clock)), millis(median(read)), starts)
	return nil
}

// processor returns the processor time that fn takes.
func processor(fn func() error) (time.Duration, error) {
	before := processorTime()
	err := fn()
	return processorTime() - before, err
}

// fillPlayed makes a store with a full cluster, jobs that have ended and a queue.
func fillPlayed(path string, nodes, waiting int, kind string) error {
	then := time.Now().Add(-2 * time.Hour).Truncate(time.Second)
	if err := create(path, then, nodes); err != nil {
		return err
	}
	ended, err := learn(path, then, nodes, kind)
	if err != nil {
		return err
	}
	if err := end(path, then.Add(20*time.Minute), ended); err != nil {
		return err
	}
	if err := run(path, nodes); err != nil {
		return err
	}
	return queue(path, waiting)
}

// learn starts jobs of every user that have requested an hour.
func learn(path string, now time.Time, nodes int, kind string) (jobs []uint64, err error) {
	db, err := openAt(path, now)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	return jobs, db.Update(func(tx *engine.Tx) error {
		for i := range min(nodes, 100) {
			j, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=16", Walltime: time.Hour,
				User: fmt.Sprintf("user%d", i%20)})
			if err != nil {
				return err
			}
			jobs = append(jobs, j.ID)
		}
		return tx.Config().Set("backfill", kind)
	})
}

// end ends jobs.
func end(path string, now time.Time, jobs []uint64) error {
	db, err := openAt(path, now)
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Update(func(tx *engine.Tx) error {
		for _, id := range jobs {
			if _, err := tx.Jobs().Release(id); err != nil {
				return err
			}
		}
		return nil
	})
}

// processorTime returns the processor time that this process has used.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
