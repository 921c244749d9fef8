package goroutine

import (
	"runtime"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Goroutines that live at the same time have numbers of their own, and keep them while
// their stacks grow and move, and other threads carry them on.
func TestID(t *testing.T) {
	const n = 64
	var ids [n]uintptr
	var all, again sync.WaitGroup
	all.Add(n)
	for i := range n {
		again.Go(func() {
			ids[i] = ID()
			all.Done()
			all.Wait()
			runtime.Gosched()
			if later := deep(1000); later != ids[i] {
				t.Errorf("a goroutine was %#x, and is %#x", ids[i], later)
			}
		})
	}
	again.Wait()
	distinct := make(map[uintptr]bool)
	for _, id := range ids {
		distinct[id] = true
	}
	if diff := cmp.Diff(n, len(distinct)); diff != "" {
		t.Errorf("goroutines with a number of their own (-want +got):\n%s", diff)
	}
}

// deep is ID from below n calls.
func deep(n int) uintptr {
	if n == 0 {
		return ID()
	}
	var room [256]byte
	room[n%len(room)] = 1
	id := deep(n - 1)
	runtime.KeepAlive(&room)
	return id
}

func BenchmarkID(b *testing.B) {
	for b.Loop() {
		ID()
	}
}
