package hook

import (
	"context"
	"sync"
	"time"
)

// Beside hands on events concurrently with other work, which does not wait for the program.
type Beside struct {
	Hook
	running   sync.Mutex
	wait      time.Duration // after the last run, if that has failed
	notBefore time.Time
}

// The pause after a failed run: first leastWait, then twice as long each time, up to mostWait.
const (
	leastWait = time.Second
	mostWait  = time.Minute
)

// Start hands on new events, unless a run is under way or has just failed.
func (b *Beside) Start(ctx context.Context) {
	if !b.running.TryLock() {
		return
	}
	if time.Now().Before(b.notBefore) {
		b.running.Unlock()
		return
	}
	go func() {
		defer b.running.Unlock()
		b.failed = false
		if err := b.Run(ctx); err != nil {
			b.Note("the hook: %v", err)
			b.failed = true
		}
		if !b.failed {
			b.wait = 0
			return
		}
		b.wait = min(max(2*b.wait, leastWait), mostWait)
		b.notBefore = time.Now().Add(b.wait)
	}()
}

// End waits for the current run, which ends soon after its context.
func (b *Beside) End() { b.running.Lock() }
