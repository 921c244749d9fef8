package file

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// inKernel returns how many goroutines of this process wait for a byte of a lock file in the kernel, with a thread
// each. Threads themselves say less: on a busy machine any system call may cost one.
func inKernel() int {
	text := make([]byte, 4<<20)
	return strings.Count(string(text[:runtime.Stack(text, true)]), "file.awaitByte(")
}

// TestManyWaiters: of many goroutines that wait for a file, few take a thread, while they wait and after they gave up
// at different times. All get the file once it is free.
func TestManyWaiters(t *testing.T) {
	const waiters, most = 200, 4 // one of a byte waits, one was given up
	f := newFile(t)
	defer f.Close()
	l, err := acquire(context.Background(), f.Path(), writing, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range waiters {
		g := another(t, f)
		g.opt.LockTimeout = 200*time.Millisecond + time.Duration(i%20)*20*time.Millisecond
		all.Go(func() {
			fn := look
			if i%2 == 0 {
				fn = change
			}
			if err := fn(g); !errors.Is(err, ErrLocked) {
				t.Errorf("%v, want %v", err, ErrLocked)
			}
		})
	}
	gaveUp, seen := make(chan struct{}), 0
	go func() { all.Wait(); close(gaveUp) }()
	for waiting := true; waiting; {
		select {
		case <-gaveUp:
			waiting = false
		case <-time.After(20 * time.Millisecond):
		}
		n := inKernel()
		seen = max(seen, n)
		if n > most {
			t.Fatalf("%d goroutines wait in the kernel, want at most %d", n, most)
		}
	}
	if seen == 0 {
		t.Error("nothing was seen to wait in the kernel")
	}
	for range 20 {
		all.Go(func() {
			if err := errors.Join(change(f), look(f)); err != nil {
				t.Error(err)
			}
		})
	}
	time.Sleep(10 * time.Millisecond)
	if err := l.release(); err != nil {
		t.Fatal(err)
	}
	all.Wait()
}

// TestContextOfWait: the end of a context ends a wait, that of the first and those of the others.
func TestContextOfWait(t *testing.T) {
	f := newFile(t)
	defer f.Close()
	l, err := acquire(context.Background(), f.Path(), writing, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.opt.LockTimeout = time.Minute
	ctx, end := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			var err error
			keep := func(*Recorder) (bool, error) { return true, nil }
			switch i % 3 {
			case 0:
				err = f.ViewContext(ctx, func(*Recorder) error { return nil })
			case 1:
				err = f.UpdateContext(ctx, false, keep)
			case 2:
				err = f.UpdateContext(ctx, true, keep)
			}
			if !errors.Is(err, why) {
				t.Errorf("%d: %v, want %v", i, err, why)
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	end(why)
	all.Wait()
	if err := l.release(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(change(f), look(f)); err != nil {
		t.Error(err)
	}
}

// TestReservationGivenBack: a writer that gives up while others read lets other writers have the reservation, though
// its wait for the seat goes on in the kernel.
func TestReservationGivenBack(t *testing.T) {
	f := newFile(t)
	defer f.Close()
	l, err := acquire(context.Background(), f.Path(), sharing, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.release() //nolint:errcheck // the test is over
	f.opt.LockTimeout = 200 * time.Millisecond
	if err := change(f); !errors.Is(err, ErrLocked) {
		t.Fatalf("%v, want %v", err, ErrLocked)
	}
	if byteLocked(l.f, lockReserved) {
		t.Error("the reservation is held")
	}
}

// TestGaveUpAfter: a writer that waited for the reservation first says how long it waited in all, and a holder that
// is not found may have changed.
func TestGaveUpAfter(t *testing.T) {
	f := newFile(t)
	defer f.Close()
	l, err := acquire(context.Background(), f.Path(), writing, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.release() //nolint:errcheck // the test is over
	freed := make(chan struct{})
	time.AfterFunc(100*time.Millisecond, func() {
		tryByte(l.f, unlocked, lockReserved) //nolint:errcheck // the message tells
		close(freed)
	})
	f.opt.LockTimeout = 300 * time.Millisecond
	if err := change(f); err == nil || !strings.Contains(err.Error(), "gave up after 300ms") {
		t.Error(err)
	}
	<-freed
	if said := l.holders(lockArchive); !strings.Contains(said, "has just changed") {
		t.Error(said)
	}
}
