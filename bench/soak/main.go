// Command soak runs the random tests of this repository with fresh seeds for a given time, in turns of
// about the same length. It says which failed and how to repeat that. It finds the tests by reading the
// sources: those that lead to rapid.Check, or to a function named seeded.
//
//	go run ./bench/soak -for 1h
//	go run ./bench/soak -for 10m -run 'TestLife|TestShared' ./locality ./store
//
// It leaves nothing in the tree, and exits with 1 if a test failed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

func main() {
	s := &soak{}
	flag.DurationVar(&s.length, "for", 10*time.Minute, "begin no run after so long")
	flag.DurationVar(&s.turn, "turn", 20*time.Second, "about how long one run of a test takes")
	flag.IntVar(&s.processes, "processes", 2, "so many runs at a time")
	pattern := flag.String("run", "", "only tests whose names match this regular expression")
	list := flag.Bool("list", false, "only say which tests there are")
	flag.Parse()
	if err := s.all(*pattern, flag.Args(), *list); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func (s *soak) all(pattern string, only []string, list bool) error {
	tests, err := find(".", pattern, only)
	if err != nil {
		return err
	}
	if list {
		for _, t := range tests {
			fmt.Println(t.dir, t.name)
		}
		return nil
	}
	s.tests = tests
	binaries, err := os.MkdirTemp("", "soak-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(binaries)
	if s.logs, err = os.MkdirTemp("", "soak-logs-"); err != nil {
		return err
	}
	defer os.Remove(s.logs) // fails, as it should, unless the folder is empty
	if err := s.build(binaries); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err = s.run(ctx)
	return errors.Join(err, s.report(os.Stdout))
}
