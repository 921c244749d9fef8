// Command handle lets processes that keep their handles open write and read one file, while it is compacted
// and processes are killed. It says whether each saw all that had been acknowledged before, whether anything
// acknowledged was lost, and whether the file is sound. It exits with 1 if not.
//
//	go run ./bench/handle [-dir /dev/shm] [-for 10m] [-other PROGRAM]
//
// With -other, every second process is another build of this program, such as one of an older version.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
)

// processes work on the file at once.
const processes = 4

func main() {
	if len(os.Args) == 4 && os.Args[1] == "worker" {
		n, _ := strconv.Atoi(os.Args[3])
		fmt.Fprintln(os.Stderr, work(os.Args[2], n))
		os.Exit(3)
	}
	dir := flag.String("dir", "", "the `folder` of the file; a temporary one")
	length := flag.Duration("for", 10*time.Second, "how long")
	other := flag.String("other", "", "another build of this `program`")
	flag.Parse()
	self, err := os.Executable()
	if err == nil {
		programs := []string{self, self}
		if *other != "" {
			programs[1] = *other
		}
		err = drive(*dir, *length, programs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "handle:", err)
		os.Exit(1)
	}
}

// drive makes a file, lets the programs work on it, and checks it.
func drive(dir string, length time.Duration, programs []string) error {
	dir, err := os.MkdirTemp(dir, "handle-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "c.db")
	err = errors.Join(engine.Create(path, nil, func(tx *engine.Tx) error {
		for i := range 50 {
			node := &index.Node{Name: fmt.Sprintf("n%d", i)}
			node.Set(index.NCPUs, index.Value{Num: 1 << 20})
			if _, err := tx.Nodes().Put(node); err != nil {
				return err
			}
		}
		return nil
	}), os.WriteFile(filepath.Join(dir, "acked"), make([]byte, 8*processes), 0o600))
	if err != nil {
		return err
	}
	var running [processes]atomic.Pointer[os.Process]
	ctx, end := context.WithCancel(context.Background())
	defer end()
	var all sync.WaitGroup
	var failed atomic.Int64
	for i := range running {
		all.Go(func() {
			for ctx.Err() == nil {
				c := exec.CommandContext(ctx, programs[i%len(programs)], "worker", dir, strconv.Itoa(i))
				c.Stdout, c.Stderr = os.Stdout, os.Stderr
				if err := c.Start(); ctx.Err() != nil {
					c.Wait() //nolint:errcheck // it is over
					return
				} else if err != nil {
					fmt.Fprintln(os.Stderr, err)
					failed.Add(1)
					return
				}
				running[i].Store(c.Process)
				c.Wait() //nolint:errcheck // it is killed
				if c.ProcessState.Exited() {
					failed.Add(1)
				}
			}
		})
	}
	kills, compactions := 0, 0
	for until := time.Now().Add(length); time.Now().Before(until) && failed.Load() == 0 && err == nil; {
		time.Sleep(30*time.Millisecond + rand.N(170*time.Millisecond))
		if p := running[rand.N(processes)].Load(); p != nil && p.Kill() == nil {
			kills++
		}
		if rand.N(8) == 0 {
			if err = compact(path); err == nil {
				compactions++
			}
		}
	}
	end()
	all.Wait()
	fmt.Printf("%d kills, %d compactions, %d failures of processes; ", kills, compactions, failed.Load())
	if failed.Load() > 0 {
		err = errors.Join(err, errors.New("a process failed"))
	}
	return errors.Join(err, examine(dir, path))
}

func compact(path string) error {
	db, err := engine.Open(path, nil)
	if err != nil {
		return err
	}
	_, err = db.Compact(nil)
	return errors.Join(err, db.Close())
}

// examine checks the file, and looks for the jobs that were acknowledged.
func examine(dir, path string) error {
	db, err := engine.Open(path, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	findings := 0
	if err := db.Check(func(s string) { findings++; fmt.Fprintln(os.Stderr, s) }); err != nil {
		return err
	}
	acked, lost := 0, 0
	err = db.View(func(tx *engine.Tx) error {
		acked, lost = 0, 0
		for i := range processes {
			b, err := os.ReadFile(logOf(dir, i))
			if err != nil {
				return err
			}
			for ; len(b) >= 8; b = b[8:] {
				acked++
				if _, err := tx.Jobs().Get(binary.LittleEndian.Uint64(b)); err != nil {
					lost++
				}
			}
		}
		return nil
	})
	views, _ := os.Stat(filepath.Join(dir, "views"))
	fmt.Printf("%d jobs acknowledged, %d lost, %d views, %d findings\n", acked, lost, views.Size(), findings)
	if lost > 0 || findings > 0 || acked == 0 {
		err = errors.Join(err, errors.New("the file is not as it should be"))
	}
	return err
}

func logOf(dir string, n int) string { return filepath.Join(dir, fmt.Sprint("log", n)) }

// work writes and reads until something is wrong. After each commit it tells all processes of a job that is in
// the file from now on.
func work(dir string, n int) error {
	db, err := engine.Open(filepath.Join(dir, "c.db"), nil)
	if err != nil {
		return err
	}
	files := map[string]*os.File{"acked": nil, "views": nil, filepath.Base(logOf(dir, n)): nil}
	for _, name := range slices.Collect(maps.Keys(files)) {
		flags := os.O_RDWR | os.O_CREATE
		if name != "acked" {
			flags |= os.O_APPEND
		}
		if files[name], err = os.OpenFile(filepath.Join(dir, name), flags, 0o600); err != nil {
			return err
		}
	}
	failed := make(chan error)
	for range 2 {
		go func() { failed <- read(db, files["acked"], files["views"]) }()
	}
	go func() { failed <- write(db, n, files["acked"], files[filepath.Base(logOf(dir, n))]) }()
	return <-failed
}

// read looks for the jobs that all processes have told of.
func read(db *engine.DB, acked, views *os.File) error {
	for {
		var want [8 * processes]byte
		if _, err := acked.ReadAt(want[:], 0); err != nil {
			return err
		}
		if err := db.View(func(tx *engine.Tx) error {
			for i := range processes {
				if id := binary.LittleEndian.Uint64(want[8*i:]); id != 0 {
					if _, err := tx.Jobs().Get(id); err != nil {
						return fmt.Errorf("stale: job %d, which process %d has told of, is not seen: %w", id, i, err)
					}
				}
			}
			return nil
		}); err != nil {
			return err
		}
		views.Write([]byte{1}) //nolint:errcheck // it is only counted
		time.Sleep(rand.N(3 * time.Millisecond))
	}
}

// write places jobs, and releases most of them.
func write(db *engine.DB, n int, acked, log *os.File) error {
	for {
		var b [8]byte
		if err := db.Update(func(tx *engine.Tx) error {
			j, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=1", Walltime: time.Hour})
			if err == nil {
				binary.LittleEndian.PutUint64(b[:], j.ID)
			}
			return err
		}); err != nil {
			return err
		}
		log.Write(b[:])                 //nolint:errcheck // a job that is not noted is not looked for
		acked.WriteAt(b[:], int64(8*n)) //nolint:errcheck // as above
		if err := db.Update(func(tx *engine.Tx) error {
			j, err := tx.Jobs().Get(binary.LittleEndian.Uint64(b[:]))
			if err != nil {
				return fmt.Errorf("lost: %w", err)
			}
			if rand.N(16) > 0 {
				_, err = tx.Jobs().Release(j.ID)
			}
			return err
		}); err != nil {
			return err
		}
		if rand.N(3) == 0 {
			time.Sleep(rand.N(10 * time.Millisecond))
		}
	}
}
