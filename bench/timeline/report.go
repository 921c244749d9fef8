package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
)

// report prints the rows of the first implementation, with the times of the others beside them.
func report(w io.Writer, all []*result) {
	fmt.Fprintf(w, "%s %s/%s, GOMAXPROCS %d, %d ns a pair of clock readings, taken off\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), all[0].pair)
	fmt.Fprint(w, "| phase | op | n | answers |")
	for _, r := range all {
		fmt.Fprintf(w, " %s mean ns | p50 | p99 | max | allocs/op |", r.impl)
	}
	fmt.Fprintf(w, "%s\n|%s\n", strings.Repeat(" ratio |", len(all)-1), strings.Repeat("---|", 4+5*len(all)+len(all)-1))
	for i, first := range all[0].rows {
		fmt.Fprintf(w, "| %s | %c | %d | %016x |", first.phase, first.kind, first.n, first.hash)
		for _, r := range all {
			o := r.rows[i]
			k := len(o.samples)
			fmt.Fprintf(w, " %.0f | %d | %d | %d | %.3f |", o.mean(), o.samples[k/2], o.samples[k*99/100],
				o.samples[k-1], o.allocs)
		}
		for _, r := range all[1:] {
			fmt.Fprintf(w, " %.2f |", r.rows[i].mean()/first.mean())
		}
		fmt.Fprintln(w)
	}
	for _, r := range all {
		fmt.Fprintf(w, "\n%s: answers %016x, %.0f bytes a span", r.impl, r.digest, r.span)
	}
	fmt.Fprintln(w)
}
