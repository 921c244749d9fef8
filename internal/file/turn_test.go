package file

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// threads returns the number of threads of this process.
func threads(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	_, rest, _ := strings.Cut(string(text), "\nThreads:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestManyWaiters: of many goroutines that wait for a file, few take a thread, even after they gave up at
// different times. All get the file once it is free.
func TestManyWaiters(t *testing.T) {
	const waiters, most = 200, 8
	f := newFile(t)
	defer f.Close()
	l, err := acquire(context.Background(), f.Path(), writing, 0)
	if err != nil {
		t.Fatal(err)
	}
	before := threads(t)
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
	all.Wait()
	if n := threads(t) - before; n > most {
		t.Errorf("%d more threads, want at most %d", n, most)
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
