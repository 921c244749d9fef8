package e2e

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
)

// BenchmarkGantt draws 10,000 nodes with as many jobs.
func BenchmarkGantt(b *testing.B) {
	path := filepath.Join(b.TempDir(), "test.db")
	err := engine.Create(path, &engine.Options{Now: func() time.Time { return testNow }}, func(tx *engine.Tx) error {
		defs, err := tx.Config().Resources()
		if err != nil {
			return err
		}
		ncpus, _ := defs.Lookup("ncpus")
		for i := range 10_000 {
			n := &index.Node{Name: fmt.Sprintf("node%05d", i)}
			n.Set(ncpus.ID, index.Value{Num: 8})
			if _, err := tx.Nodes().Put(n); err != nil {
				return err
			}
		}
		for i := range 10_000 {
			if _, err := tx.Jobs().Place(placer.Request{Select: "1", Place: "excl",
				Walltime: time.Duration(60+i*7919%500) * time.Minute}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, args := range []string{"", "--rows 40", "--by bucket", "--svg -", "-o json"} {
		b.Run(cmp.Or(strings.ReplaceAll(args, " ", ""), "all"), func(b *testing.B) {
			for b.Loop() {
				c := newCapture(append([]string{"--db", path, "gantt"}, strings.Fields(args)...)...)
				c.Stdout = io.Discard
				if code := c.run(); code != exit.OK {
					b.Fatal(c.err.String())
				}
			}
		})
	}
}
