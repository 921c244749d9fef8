package runner

import (
	"context"
	"testing"
	"time"
)

// TestDue: where nothing changes passes are made when something begins by the clock.
func TestDue(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r := runnerIn(s.dir)
	r.Stamp = func() string { return "the same" }
	p := r.NewPasses()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	n := 0
	before := func() error {
		if p.Due = time.Now(); n == 10 {
			cancel()
		}
		n++
		return nil
	}
	if p.Work(ctx, time.Millisecond, before); n < 10 { //nolint:errcheck // it ends with the context
		t.Errorf("%d passes in 20 s, though something is always due", n)
	}
}
