package launch

import (
	"strings"
	"sync/atomic"
	"testing"
)

func TestGroup(t *testing.T) {
	var g group
	var ran atomic.Int32
	for range 5 {
		g.Go(func() { ran.Add(1) })
	}
	g.Wait()
	if ran.Load() != 5 {
		t.Errorf("%d functions ran, want 5", ran.Load())
	}
	defer func() {
		c, ok := recover().(*Crash)
		if !ok || c.String() != "too bad" || !strings.Contains(string(c.Stack()), "group_test.go") {
			t.Errorf("Wait panics with %v, want a Crash with the function's stack", c)
		}
	}()
	g.Go(func() { panic("too bad") })
	g.Wait()
	t.Error("Wait does not panic after a panic")
}
