// Mutants checks whether the tests would notice. faults.txt lists small faults of the kinds that people
// make: a bit that is not cleared, a bound off by one, a row that is not written. Each is put into a
// copy of its file, which go test reads instead of the original (-overlay). The tests that should notice
// must then fail.
//
//	go run ./bench/mutants               # all, about half an hour
//	go run ./bench/mutants -only index   # those whose names contain a text
//	go run ./bench/mutants -list         # list them: do their places still exist?
//
// The tests of a fault run with several seeds before it counts as unnoticed.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	name := flag.String("faults", "bench/mutants/faults.txt", "the list of faults, a `FILE`")
	only := flag.String("only", "", "only faults whose names hold this `text`")
	list := flag.Bool("list", false, "only say which faults there are, and whether each can still be made")
	seeds := flag.Int("seeds", 3, "how often the tests of a fault run before it counts as unnoticed")
	flag.Parse()
	if err := run(*name, *only, *list, *seeds); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(name, only string, list bool, seeds int) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	faults, err := parse(string(text))
	if err != nil {
		return fmt.Errorf("%s:%w", name, err)
	}
	unnoticed, gone := 0, 0
	for _, f := range faults {
		if !strings.Contains(f.name, only) {
			continue
		}
		source, err := f.source()
		switch {
		case err != nil:
			fmt.Printf("%s: %v\n", f.name, err)
			gone++
			continue
		case list:
			fmt.Println(f.name)
			continue
		}
		began := time.Now()
		noticed, err := f.try(source, seeds)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		verdict := "noticed by " + noticed
		if noticed == "" {
			verdict = "NOT NOTICED"
			unnoticed++
		}
		fmt.Printf("%-60s %s (%.0f s)\n", f.name, verdict, time.Since(began).Seconds())
	}
	if unnoticed+gone > 0 {
		return fmt.Errorf("%d faults were not noticed, %d cannot be made any more", unnoticed, gone)
	}
	return nil
}
