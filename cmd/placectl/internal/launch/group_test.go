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
		t.Errorf("%d ran", ran.Load())
	}
	defer func() {
		c, ok := recover().(*Crash)
		if !ok || c.String() != "too bad" || !strings.Contains(string(c.Stack()), "group_test.go") {
			t.Errorf("%v", c)
		}
	}()
	g.Go(func() { panic("too bad") })
	g.Wait()
	t.Error("the panic is gone")
}
