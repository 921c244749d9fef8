package e2e

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
)

// newNodeDB makes a database with the resources color (string) and scratch
// (size, consumable), and returns its path.
func newNodeDB(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	err := engine.Create(path, &engine.Options{Now: func() time.Time { return testNow }}, func(tx *engine.Tx) error {
		if err := tx.Config().AddResource(index.Def{Name: "color", Type: index.String}); err != nil {
			return err
		}
		return tx.Config().AddResource(index.Def{Name: "scratch", Type: index.Size, Consumable: true})
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// nodesCSV returns a file of n varied nodes.
func nodesCSV(n int) string {
	var b strings.Builder
	b.WriteString("name,queue,priority,speed,features,ncpus,mem,color,scratch\n")
	for i := range n {
		queue := ""
		if i%10 == 0 {
			queue = "fast"
		}
		fmt.Fprintf(&b, "node%06d,%s,%d,1.5,ssd|ib,%d,%dgb,%s,100gb\n", i, queue, i%3, 8<<(i%3), 32<<(i%2),
			[]string{"red", "blue"}[i%2])
	}
	return b.String()
}

func BenchmarkNodeImport(b *testing.B) {
	data := nodesCSV(10_000)
	for b.Loop() {
		c := newCapture("--db", newNodeDB(b), "node", "import", "-")
		c.Stdin = strings.NewReader(data)
		if code := c.run(); code != exit.OK {
			b.Fatal(c.err.String())
		}
	}
}

func BenchmarkNodeList(b *testing.B) {
	path := newNodeDB(b)
	c := newCapture("--db", path, "node", "import", "-")
	c.Stdin = strings.NewReader(nodesCSV(10_000))
	if code := c.run(); code != exit.OK {
		b.Fatal(c.err.String())
	}
	for _, form := range []string{"table", "json"} {
		b.Run(form, func(b *testing.B) {
			for b.Loop() {
				c := newCapture("--db", path, "-o", form, "node", "list")
				c.Stdout = io.Discard
				if code := c.run(); code != exit.OK {
					b.Fatal(c.err.String())
				}
			}
		})
	}
}
