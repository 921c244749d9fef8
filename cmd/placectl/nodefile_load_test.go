package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/index"
)

// FuzzLoadLines: no panic; an error has a place and can be printed; and what was
// read, written anew and read again is the same.
func FuzzLoadLines(f *testing.F) {
	for _, s := range []string{"n1 0.5\r\n\r\nn[2-3]=7\n", "\tn1 , n2 = 1e3", "n1 =", "=1", "n1 1 2", "", "\x00", "n1 \xff", "ä ö"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		one := infile.New("loads", data)
		loads, err := parseLoads(&one)
		if err != nil {
			checkFileError(t, data, err)
			return
		}
		var b strings.Builder
		for _, l := range loads {
			if !index.ValidLoad(l.load) {
				t.Fatalf("%q: the load %g", data, l.load)
			}
			fmt.Fprintf(&b, "%s=%g\n", l.names, l.load)
		}
		two := infile.New("loads", []byte(b.String()))
		again, err := parseLoads(&two)
		if err != nil {
			t.Fatalf("%q from %q: %v", b.String(), data, err)
		}
		for _, list := range [][]nodeLoad{loads, again} {
			for i := range list {
				list[i].at = 0
			}
		}
		if d := cmp.Diff(loads, again, cmp.AllowUnexported(nodeLoad{})); d != "" {
			t.Fatalf("%q from %q: %s", b.String(), data, d)
		}
	})
}

// While whoever measures is slow, others write.
func TestNodeLoadHoldsNoLock(t *testing.T) {
	path := newNodeDB(t)
	if _, text, code := runNode(t, path, "", "node", "add", "n1"); code != exitOK {
		t.Fatal(text)
	}
	in, feed := io.Pipe()
	done := make(chan int)
	c := newCapture("--db", path, "node", "load", "-", "-o", "jsonl")
	c.stdin = in
	go func() { done <- c.run() }()
	if _, err := io.WriteString(feed, "n1 0.5\nn2 1\n"); err != nil { // it is reading by now
		t.Fatal(err)
	}
	if _, text, code := runNode(t, path, "", "--lock-timeout", "1s", "node", "add", "n2"); code != exitOK {
		t.Fatal(text)
	}
	feed.Close()
	if code := <-done; code != exitOK || strings.Count(c.out.String(), "\n") != 2 {
		t.Fatal(code, c.out.String(), c.err.String())
	}
}
