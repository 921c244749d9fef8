// Timeline replays a stream of planner operations and prints, per phase and
// operation, how long they took, with a digest of the answers.
//
//	timeline [-impl planner,flat] [-repeat N] [-group N] [-answers FILE] [STREAM]
//	timeline -gen KIND -n N -rounds M
//	timeline -kinds KIND,... -n N,... -rounds M
//
// The last form makes the streams itself and replays each.
//
// A stream consists of lines. The first is "TOTAL HORIZON". The others are:
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
// The implementations are placectl's planner and a flat sorted array of change points with a forward
// sweep: a better structure must at least beat that.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

func main() {
	var (
		o      options
		impls  = flag.String("impl", "planner,flat", "planner, flat, or both in turn")
		gen    = flag.String("gen", "", "write a stream of `KIND` wide, narrow, frag, saw, stair or long")
		kinds  = flag.String("kinds", "", "make and replay streams of these `KINDS`")
		n      = flag.String("n", "1000", "spans of a stream that is made; with -kinds, one or more numbers")
		rounds = flag.Int("rounds", 1000, "rounds of the phases after its building")
	)
	flag.StringVar(&o.answers, "answers", "", "write one answer a line to `FILE` (of the last implementation)")
	flag.IntVar(&o.repeat, "repeat", 1, "replay `N` times, in turn, and print the fastest replay of each row")
	flag.IntVar(&o.group, "group", 16, "time up to `N` operations of a kind that follow each other as one")
	flag.Parse()
	o.impls = strings.Split(*impls, ",")
	var err error
	switch {
	case *gen != "":
		var spans int
		if spans, err = strconv.Atoi(*n); err == nil {
			err = generate(os.Stdout, *gen, spans, *rounds)
		}
	case *kinds != "":
		err = o.kinds(os.Stdout, strings.Split(*kinds, ","), strings.Split(*n, ","), *rounds)
	default:
		err = o.file(os.Stdout, flag.Arg(0))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "timeline:", err)
		os.Exit(1)
	}
}

// options say how streams are replayed.
type options struct {
	impls         []string
	answers       string
	repeat, group int
}

// kinds makes a stream of each kind and size, and replays it.
func (o options) kinds(w io.Writer, kinds, sizes []string, rounds int) error {
	for _, kind := range kinds {
		for _, size := range sizes {
			n, err := strconv.Atoi(size)
			if err != nil {
				return err
			}
			var stream bytes.Buffer
			if err := generate(&stream, kind, n, rounds); err != nil {
				return err
			}
			fmt.Fprintf(w, "\n%s_%d\n\n", kind, n)
			if err := o.replay(w, &stream); err != nil {
				return err
			}
		}
	}
	return nil
}

// file replays a stream from a file, or from standard input.
func (o options) file(w io.Writer, name string) error {
	if name == "" || name == "-" {
		return o.replay(w, os.Stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return o.replay(w, f)
}

func (o options) replay(w io.Writer, in io.Reader) error {
	st, err := parse(in)
	if err != nil {
		return err
	}
	best := make([]*result, len(o.impls))
	for range o.repeat {
		for i, impl := range o.impls {
			r, err := replay(st, impl, o.group)
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
	if o.answers == "" {
		return nil
	}
	return writeAnswers(o.answers, best[len(best)-1].answers)
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
