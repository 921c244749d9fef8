package file

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A wait in the kernel takes a thread, and cannot be cancelled. So of the goroutines of this process that
// wait for a byte of a lock file, only the first waits there. The others wait behind it, in their order, and
// no one overtakes them. If the first gives up, its wait goes on in the kernel until the byte is free, and
// gives it back. Meanwhile, the next one looks at the byte again and again.

// mostLeft is the most waits for a byte that go on in the kernel after they were given up.
const (
	mostLeft  = 1
	lookAgain = 2 * time.Millisecond
)

// turn is the queue of this process for a byte of a lock file.
type turn struct {
	first   chan struct{} // has the place of the first
	waiting atomic.Int32  // the first included
	left    atomic.Int32  // waits that were given up

	mu   sync.Mutex
	said string // who had the byte
	at   time.Time
}

// turns are the queues of a lock file, for the seat, the door, the reservation and an archive.
type turns [lockArchive + 1]turn

var allTurns sync.Map // of paths to *turns

func turnsOf(path string) *turns {
	if known, ok := allTurns.Load(path); ok {
		return known.(*turns)
	}
	made := new(turns)
	for i := range made {
		made[i].first = make(chan struct{}, 1)
	}
	known, _ := allTurns.LoadOrStore(path, made)
	return known.(*turns)
}

// free reports whether no goroutine of this process waits for a byte.
func (l *fileLock) free(at int64) bool { return l.turns[at].waiting.Load() == 0 }

// enter waits to be the first of this process. If it fails, it closes the lock file.
func (l *fileLock) enter(ctx context.Context, at int64, late *time.Timer, timeout time.Duration) (leave func(),
	err error) {
	t := &l.turns[at]
	t.waiting.Add(1)
	select {
	case t.first <- struct{}{}:
		return func() { <-t.first; t.waiting.Add(-1) }, nil
	case <-late.C:
		err = l.gaveUp(at, timeout)
	case <-ctx.Done():
		err = l.cancelled(ctx)
	}
	t.waiting.Add(-1)
	l.f.Close()
	return nil, err
}

// wait is a wait for a byte.
type wait struct {
	turn *turn
	f    *os.File
	came chan error
	over chan struct{} // closed when it is given up
}

// await begins to wait for a byte.
func (t *turn) await(f *os.File, how lockHow, at int64) *wait {
	w := &wait{t, f, make(chan error, 1), make(chan struct{})}
	go func() {
		if t.left.Load() < mostLeft {
			w.came <- awaitByte(f, how, at)
			return
		}
		for {
			err := tryByte(f, how, at)
			if !isLocked(err) {
				w.came <- err
				return
			}
			select {
			case <-w.over:
				w.came <- err
				return
			case <-time.After(lookAgain):
			}
		}
	}()
	return w
}

// leave gives the wait up: the byte is released when it comes, and the file closed.
func (w *wait) leave() {
	w.turn.left.Add(1)
	close(w.over)
	go func() {
		<-w.came
		w.turn.left.Add(-1)
		unlockBytes(w.f) //nolint:errcheck // closing it follows
		w.f.Close()
	}()
}

// gaveUp names the holder of the byte. Of waiters that give up at about the same time, one looks.
func (l *fileLock) gaveUp(at int64, timeout time.Duration) error {
	t := &l.turns[at]
	t.mu.Lock()
	defer t.mu.Unlock()
	if ago := time.Since(t.at); ago > min(timeout, time.Second) { // else it was while this one waited
		t.said = l.holders(at)
		t.at = time.Now()
	}
	return fmt.Errorf("%w%s; gave up after %v", ErrLocked, t.said, timeout.Round(time.Millisecond))
}

// cancelled says that a context ended the wait.
func (l *fileLock) cancelled(ctx context.Context) error {
	return fmt.Errorf("waiting for %s: %w", l.path, context.Cause(ctx))
}
