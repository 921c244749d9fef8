package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
)

// contend measures how processes share one file. Each opens it for every transaction, places one job
// durably, and releases it in the next transaction.
func contend(self, path string, processes, verbs int) error {
	if err := exec.Command(self, "-make", path, "-sizes", "1000").Run(); err != nil {
		return err
	}
	start := time.Now()
	outs := make([]strings.Builder, processes)
	var running []*exec.Cmd
	for i := range processes {
		cmd := exec.Command(self, "-contend-child", strconv.Itoa(verbs), "-commit", path)
		cmd.Stdout, cmd.Stderr = &outs[i], os.Stderr
		if err := cmd.Start(); err != nil {
			return err
		}
		running = append(running, cmd)
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			return err
		}
	}
	elapsed := time.Since(start)
	var waits []time.Duration
	for i := range outs {
		for word := range strings.FieldsSeq(outs[i].String()) {
			ns, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				return err
			}
			waits = append(waits, time.Duration(ns))
		}
	}
	slices.Sort(waits)
	at := func(p int) time.Duration {
		return waits[min(len(waits)-1, len(waits)*p/100)].Round(10 * time.Microsecond)
	}
	fmt.Printf("\n%d processes, %d durable transactions each, one file: %.0f/s; one takes p50 %v, p99 %v, worst %v\n",
		processes, verbs, float64(len(waits))/elapsed.Seconds(), at(50), at(99), at(100))
	return nil
}

// contendChild runs one of the processes. It prints how long each verb took.
func contendChild(path string, verbs int) error {
	db, err := engine.Open(path, nil)
	if err != nil {
		return err
	}
	var last uint64
	for range verbs {
		start := time.Now()
		err := db.Update(func(tx *engine.Tx) error {
			if last != 0 {
				_, err := tx.Jobs().Release(last)
				last = 0
				return err
			}
			job, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=1", Place: "excl", Walltime: time.Hour})
			if err == nil {
				last = job.ID
			}
			return err
		})
		if err != nil {
			return err
		}
		fmt.Println(time.Since(start).Nanoseconds())
	}
	return nil
}

// embedded measures one process that has the file to itself, in placements a second, a thousand in each
// transaction.
func embedded(dir string, n int) error {
	path := filepath.Join(dir, "embedded.db")
	now := base()
	opt := &engine.Options{Now: func() time.Time { return now }}
	if err := engine.Create(path, opt, nil); err != nil {
		return err
	}
	db, err := engine.Open(path, opt)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.Update(func(tx *engine.Tx) error { return addPlainNodes(tx, n) }); err != nil {
		return err
	}
	start := time.Now()
	for done := 0; done < n; done += 1000 {
		err := db.Update(func(tx *engine.Tx) error {
			for range min(1000, n-done) {
				if _, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=1", Place: "excl",
					Walltime: time.Hour}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	elapsed := time.Since(start)
	fmt.Printf("one embedded process, %d placements on as many nodes, 1,000 to a transaction: %.0f/s\n", n,
		float64(n)/elapsed.Seconds())
	return nil
}
