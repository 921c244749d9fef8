package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/placectl/placectl/store"
)

// demoOthers are what the demo's days are compared with: other orders of nodes,
// and the same requests on whole nodes. Two orders that differ most from the
// default do: the comparison must not take longer than what it is about.
var demoOthers = []demoHow{{Policy: "tetris"}, {Policy: "cpuload"}, {Whole: true}}

// wholeNodes is the request of a -l nodes= for nodes that nobody else is on.
func wholeNodes(sel string) string {
	spec, rest, more := strings.Cut(sel, ",")
	if !strings.Contains(spec, "#") {
		spec += "#excl"
	}
	if more {
		spec += "," + rest
	}
	return spec
}

// compare replays the same days in other ways, all at once, each into a database
// of its own that is thrown away.
func (r *runner) compare(data *demoData) ([]*demoReplay, error) {
	dir, err := scratchDir()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	seen := make(chan struct{})
	var replays sync.WaitGroup
	out, errs := make([]*demoReplay, len(demoOthers)), make([]error, len(demoOthers))
	for i, how := range demoOthers {
		d := newDemoReplay(r, data, how, func() { seen <- struct{}{} })
		out[i] = d
		replays.Go(func() {
			db, err := d.run(filepath.Join(dir, strconv.Itoa(i)), &store.Options{})
			if err == nil {
				err = db.Close()
			}
			errs[i] = err
		})
	}
	go func() {
		replays.Wait()
		close(seen)
	}()
	bar := r.progress("comparing policies: jobs", int64(len(data.Jobs)*len(out)))
	defer bar.Done()
	for range seen { // the bar belongs to one goroutine
		bar.Add(1)
	}
	if err := r.ctx.Err(); err != nil {
		return nil, err // once, not for each of them
	}
	return out, errors.Join(errs...)
}

// memoryDisk is where Linux keeps files in memory. What is thrown away anyhow need
// not wait for a disk.
const memoryDisk = "/dev/shm"

// scratchDir makes a folder for what is thrown away.
func scratchDir() (string, error) {
	if dir, err := os.MkdirTemp(memoryDisk, "placectl-"); err == nil {
		return dir, nil
	}
	return os.MkdirTemp("", "placectl-")
}
