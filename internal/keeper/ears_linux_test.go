package keeper

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/gate"
	"golang.org/x/sys/unix"
)

// TestEars: what a warden writes is news of its attempt, and so is its end, whether or not the kernel accepts
// its pipe into a poll. Anything else in the pipe is ignored.
func TestEars(t *testing.T) {
	t.Parallel()
	for _, polled := range []bool{true, false} {
		e, err := newEars()
		if err != nil {
			t.Fatal(err)
		}
		defer e.close()
		if !polled {
			e.fd = -1
		}
		a := &attendance{slot: &slot{path: t.TempDir()}, acts: true, launched: &gate.Order{Tag: 7}}
		path := filepath.Join(a.slot.path, toldFile)
		if err := unix.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := a.listen(); err != nil {
			t.Fatal(err)
		}
		writer, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		e.add(a.told, a)
		is := func() news {
			a.mu.Lock()
			defer a.mu.Unlock()
			return a.news
		}
		until := func(what string, met func(news) bool) {
			t.Helper()
			for end := time.Now().Add(10 * time.Second); !met(is()); time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("polled %v: not %s: the news is %+v", polled, what, is())
				}
			}
		}
		for i, line := range []string{"w 7 31", "p 7 32"} {
			writer.WriteString("p 7 99\n")
			writer.Write(gate.Sealed([]byte("p 8 99"))) // another attempt's
			writer.Write(gate.Sealed([]byte(line)))
			until(line, func(n news) bool { return len(n.said) == i+1 })
		}
		if n := is(); n.said[0].Warden != 31 || n.said[1].Begins != 32 || n.gone {
			t.Errorf("polled %v: the news is %+v", polled, n)
		}
		writer.Close()
		until("the end", func(n news) bool { return n.gone })
	}
}
