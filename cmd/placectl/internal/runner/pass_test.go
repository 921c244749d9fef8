package runner

import (
	"context"
	"testing"
	"time"
)

// TestDue: where nothing changes cycles are made when something begins by the clock.
func TestDue(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r := runnerIn(s.dir)
	r.Stamp = func() string { return "the same" }
	p := r.NewPasses()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	n := 0
	p.Cycle = func() (due time.Time, err error) {
		if n++; n == 10 {
			cancel()
		}
		return time.Now(), nil
	}
	if p.Work(ctx, Wakes{Every: time.Millisecond}); n < 10 { //nolint:errcheck // it ends with the context
		t.Errorf("%d cycles in 20 s, though something is always due", n)
	}
}
