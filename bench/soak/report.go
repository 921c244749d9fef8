package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
)

// report prints a line for each test, then each failure. It returns an error if there is one.
func (s *soak) report(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\npackage\ttest\truns\tchecks\tfailures")
	runs, checks, failures := 0, 0, 0
	for _, t := range s.tests {
		r := s.results[t]
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\n", t.dir, t.name, r.runs, r.made, len(r.failures))
		runs, checks, failures = runs+r.runs, checks+r.made, failures+len(r.failures)
	}
	fmt.Fprintf(w, "all\t%d tests\t%d\t%d\t%d\n", len(s.tests), runs, checks, failures)
	if err := w.Flush(); err != nil || failures == 0 {
		return err
	}
	for _, t := range s.tests {
		for _, f := range s.results[t].failures {
			fmt.Fprintf(to, "\n%s %s, seed %s\n    %s\n    %s\n", t.dir, t.name, f.seed, f.repeat, f.log)
		}
	}
	return errors.New("random tests failed")
}
