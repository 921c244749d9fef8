// Timeline replays a stream of planner operations and prints, per phase and
// operation, how long they took, with a digest of the answers.
//
//	timeline [-impl planner,flat] [-repeat N] [-group N] [-answers FILE] [STREAM]
//	timeline -gen KIND -n N -rounds M
//
// A stream is lines: first "TOTAL HORIZON", then
//
//	A id start dur amount   add a span          answer 1, or 0 if refused
//	R id                    remove it           1 or 0
//	Q after dur amount      earliest change point that fits, or -1
//	N                       the next one after the last answer of Q or N, or -1
//	E after dur amount      earliest start, or -1
//	T t                     free at t, or -1
//	D start dur amount      fits                1 or 0
//	M start dur             free during, or -1
//	P name                  a new phase begins
//
// The implementations are placectl's planner and a flat sorted array of change
// points with a forward sweep: the least that a better structure has to beat.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	var (
		impls   = flag.String("impl", "planner,flat", "planner, flat, or both in turn")
		answers = flag.String("answers", "", "write one answer a line to `FILE` (of the last implementation)")
		repeat  = flag.Int("repeat", 1, "replay `N` times, in turn, and print the fastest replay of each row")
		group   = flag.Int("group", 16, "time up to `N` operations of a kind that follow each other as one")
		gen     = flag.String("gen", "", "write a stream of `KIND` wide, narrow, frag, saw, stair or long")
		n       = flag.Int("n", 1000, "spans of the generated stream")
		rounds  = flag.Int("rounds", 1000, "rounds of the phases after its building")
	)
	flag.Parse()
	var err error
	if *gen != "" {
		err = generate(os.Stdout, *gen, *n, *rounds)
	} else {
		err = run(os.Stdout, flag.Arg(0), strings.Split(*impls, ","), *answers, *repeat, *group)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "timeline:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, name string, impls []string, answers string, repeat, group int) error {
	in := os.Stdin
	if name != "" && name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	st, err := parse(in)
	if err != nil {
		return err
	}
	best := make([]*result, len(impls))
	for range repeat {
		for i, impl := range impls {
			r, err := replay(st, impl, group)
			if err != nil {
				return err
			}
			if best[i] != nil && best[i].digest != r.digest {
				return fmt.Errorf("%s answers differently when asked again", impl)
			}
			best[i] = r.merge(best[i])
		}
	}
	report(w, best)
	for _, r := range best[1:] {
		if r.digest != best[0].digest {
			return fmt.Errorf("%s and %s answer differently", best[0].impl, r.impl)
		}
	}
	if answers == "" {
		return nil
	}
	return writeAnswers(answers, best[len(best)-1].answers)
}

func writeAnswers(name string, answers []int64) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	for _, a := range answers {
		fmt.Fprintln(w, a)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
