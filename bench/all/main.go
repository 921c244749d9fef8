// All measures every table of bench/ and writes each to a file of its own, with the
// commit, the machine and its load:
//
//	go run ./bench/all                  # about an hour, into bench/results
//	go run ./bench/all -only cycles     # one of them
//	go run ./bench/all -short           # small sizes, nothing kept: do they still run?
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	short := flag.Bool("short", false, "small sizes, once each; only say how long each took")
	only := flag.String("only", "", "only tables whose names hold this `text`")
	out := flag.String("out", "bench/results", "the `folder` of the files")
	list := flag.Bool("list", false, "only say which tables there are, and their commands")
	flag.Parse()
	for _, t := range tables {
		var err error
		switch {
		case !strings.Contains(t.name, *only):
		case *list:
			fmt.Printf("%-12s %s\n", t.name, t.commandLine(false))
		case *short:
			err = try(t)
		default:
			err = record(t, filepath.Join(*out, t.name+".md"))
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "all: %s: %v\n", t.name, err)
			os.Exit(1)
		}
	}
}

// try runs the short form of a table and discards its output.
func try(t table) error {
	began := time.Now()
	var printed strings.Builder
	if err := t.command(true, &printed).Run(); err != nil {
		return fmt.Errorf("%w\n%s", err, &printed)
	}
	fmt.Printf("%-12s %4.1f s\n", t.name, time.Since(began).Seconds())
	return nil
}

// record measures a table and writes it to a file. An existing file stays until the whole table has
// been measured.
func record(t table, name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	before := load()
	began := time.Now()
	var measured strings.Builder
	fmt.Fprintf(os.Stderr, "%s: %s\n", t.name, t.commandLine(false))
	if err := t.command(false, io.MultiWriter(&measured, os.Stderr)).Run(); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n    %s\n\n", t.title, t.commandLine(false))
	fmt.Fprintf(&b, "%s; load average %s before, %s after. It took %s.\n\n", machine(began), before, load(),
		time.Since(began).Round(time.Second))
	b.WriteString(measured.String())
	return os.WriteFile(name, []byte(b.String()), 0o644)
}
