package e2e

import (
	"io"
	"strings"
	"testing"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
)

// TestNodeLoadHoldsNoLock: while the input is slow, others can write.
func TestNodeLoadHoldsNoLock(t *testing.T) {
	path := newNodeDB(t)
	if _, text, code := runNode(t, path, "", "node", "add", "n1"); code != exit.OK {
		t.Fatal(text)
	}
	in, feed := io.Pipe()
	done := make(chan int)
	c := newCapture("--db", path, "node", "load", "-", "-o", "jsonl")
	c.Stdin = in
	go func() { done <- c.run() }()
	if _, err := io.WriteString(feed, "n1 0.5\nn2 1\n"); err != nil { // by now it is reading
		t.Fatal(err)
	}
	if _, text, code := runNode(t, path, "", "--lock-timeout", "1s", "node", "add", "n2"); code != exit.OK {
		t.Fatalf("node add while node load waits for its input: %s", text)
	}
	feed.Close()
	if code := <-done; code != exit.OK || strings.Count(c.out.String(), "\n") != 2 {
		t.Fatalf("node load: status %d: %s%s", code, c.out.String(), c.err.String())
	}
}
