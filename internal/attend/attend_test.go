package attend

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func place(t *testing.T) Place {
	dir := t.TempDir()
	return At(filepath.Join(dir, "state"), filepath.Join(dir, "p.db"))
}

// attendant is an attendant of a test, with a counter for a database.
type attendant struct {
	commits, acted atomic.Int64
	alive, most    atomic.Int32 // attendants that hold the lock
	all            sync.WaitGroup
	stay           time.Duration
}

// commit does what a command does.
func (a *attendant) commit(t *testing.T, p Place) {
	a.commits.Add(1)
	err := p.Leave(true, time.Now(), goesOn, func(l *Lock) error {
		is, err := l.place.Try() // as the started process gets it
		if is != nil || err != nil {
			t.Errorf("the lock was taken twice, %v", err)
		}
		a.all.Add(1)
		inherits := duplicate(t, l)
		go func() {
			defer a.all.Done()
			if err := a.attend(inherits); err != nil {
				t.Error(err)
			}
		}()
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// goesOn says that every process lives and is not stopped.
func goesOn(int, uint64) (lives, stopped bool) { return true, false }

// duplicate returns a lock as a process that is started with it inherits it.
func duplicate(t *testing.T, l *Lock) *Lock {
	fd, err := unix.Dup(int(l.Fd()))
	if err != nil {
		t.Error(err)
	}
	return &Lock{File: os.NewFile(uintptr(fd), "lock"), place: l.place}
}

func (a *attendant) attend(l *Lock) error {
	var rung <-chan struct{}
	return Attend(l, Steps[int64]{
		Begin: func(l *Lock) (err error) {
			if n := a.alive.Add(1); n > a.most.Load() {
				a.most.Store(n)
			}
			rung, err = l.Listen()
			return err
		},
		State: a.commits.Load,
		Act: func() {
			for n := a.commits.Load(); ; {
				was := a.acted.Load()
				if was >= n || a.acted.CompareAndSwap(was, n) {
					return
				}
			}
		},
		Wait: func() bool {
			select {
			case <-rung:
				return true
			case <-time.After(a.stay):
				a.alive.Add(-1) // it releases the lock, or goes on and counts again
				return false
			}
		},
	})
}

// TestNothingOverlooked: commands commit while attendants come and go. All commits are acted on, and only
// one attendant holds the lock at a time.
func TestNothingOverlooked(t *testing.T) {
	t.Parallel()
	p := place(t)
	a := &attendant{stay: 200 * time.Microsecond}
	var commands sync.WaitGroup
	for range 4 {
		commands.Go(func() {
			for i := range 300 {
				a.commit(t, p)
				time.Sleep(time.Duration(i%7) * 100 * time.Microsecond)
			}
		})
	}
	commands.Wait()
	a.all.Wait()
	if a.acted.Load() != 1200 || a.most.Load() != 1 {
		t.Errorf("%d of %d commits were acted on, and %d attendants held the lock at once, want all and 1",
			a.acted.Load(), a.commits.Load(), a.most.Load())
	}
}

// TestRing: a command wakes a waiting attendant at once, and a reader does not.
func TestRing(t *testing.T) {
	t.Parallel()
	p := place(t)
	a := &attendant{stay: 20 * time.Second}
	a.commit(t, p)
	for i := int64(2); i < 5; i++ {
		a.commit(t, p)
		for began := time.Now(); a.acted.Load() < i; time.Sleep(time.Millisecond) {
			if time.Since(began) > 10*time.Second {
				t.Fatal("the bell was not heard")
			}
		}
	}
	a.commits.Add(1)
	if err := p.Leave(false, time.Now(), goesOn,
		func(*Lock) error { t.Error("there is one"); return nil }); err != nil {
		t.Error(err)
	}
	time.Sleep(20 * time.Millisecond)
	if a.acted.Load() != 4 {
		t.Error("Leave without ring has rung the bell")
	}
	// It need not be waited for: the process ends before its time is over.
}

// TestFailures: after an attendant that fails soon after its start, the next one starts later, and twice as
// late after each further failure. One that works well ends that.
func TestFailures(t *testing.T) {
	t.Parallel()
	p := place(t)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, pause := range []time.Duration{10, 20, 40, 80, 160, 300, 300} {
		err := p.Leave(true, now, goesOn, func(l *Lock) error {
			return errors.Join(l.Hold(1, 2, now), l.Fail(errors.New("no room"), now))
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, early := range []time.Duration{0, pause*time.Second - 1} {
			err = p.Leave(true, now.Add(early), goesOn, func(*Lock) error { t.Error("it is too early"); return nil })
			if err == nil || !strings.Contains(err.Error(), "no room") {
				t.Errorf("Leave %v after a failure = %v, want an error with its reason", early, err)
			}
		}
		now = now.Add(pause * time.Second)
	}
	now = now.Add(time.Hour)
	err := p.Leave(true, now, goesOn, func(l *Lock) error { return l.Fail(errors.New("no room"), now) })
	if is := p.Read(); err != nil || is.Pause != firstPause {
		t.Errorf("after an hour the pause is %v, %v", is.Pause, err)
	}
	started := false
	if err := p.Leave(true, now.Add(-time.Hour), goesOn,
		func(*Lock) error { started = true; return nil }); err != nil || !started {
		t.Errorf("with a clock that was set back: %v, %v", started, err)
	}
}

// TestPlaces: a directory that others can write to is refused. Every path to a database leads to the same
// lock.
func TestPlaces(t *testing.T) {
	t.Parallel()
	p := place(t)
	if err := os.Mkdir(p.Dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(p.Dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if l, err := p.Try(); l != nil || err == nil {
		t.Error("Try took a lock in a directory that all users can write to")
	}
	if err := os.Chmod(p.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.Database, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := p.Try()
	if l == nil || err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	link := p
	link.Database += ".link"
	if err := os.Symlink(p.Database, link.Database); err != nil {
		t.Fatal(err)
	}
	if again, err := link.Try(); again != nil || err != nil {
		t.Errorf("Try through a link to the database got a lock of its own, %v", err)
	}
	if l.place.Inherited(int(os.Stdin.Fd())) != nil {
		t.Error("Inherited took standard input for the lock")
	}
}

// TestAgent: the socket of the last command that had one is kept.
func TestAgent(t *testing.T) {
	t.Parallel()
	p := place(t)
	for _, of := range [][2]string{{"", ""}, {"/a", "/a"}, {"", "/a"}, {"/b", "/b"}} {
		p.KeepAgent(of[0])
		if is := p.Agent(); is != of[1] {
			t.Errorf("after KeepAgent(%q): Agent() = %q, want %q", of[0], is, of[1])
		}
	}
}

// TestWatch: writes to a file are noticed, and so is its replacement.
func TestWatch(t *testing.T) {
	t.Parallel()
	p := place(t)
	write := func(name string) {
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(p.Database)
	changed, err := Watch(t.Context(), p.Database)
	if err != nil {
		t.Fatal(err)
	}
	told := func(what string) {
		select {
		case <-changed:
			for quiet := false; !quiet; {
				select {
				case <-changed:
				case <-time.After(20 * time.Millisecond):
					quiet = true
				}
			}
		case <-time.After(10 * time.Second):
			t.Errorf("Watch did not notice %s", what)
		}
	}
	write(p.Database)
	told("a write")
	write(p.Database + ".new")
	if err := os.Rename(p.Database+".new", p.Database); err != nil {
		t.Fatal(err)
	}
	told("another file")
	write(p.Database)
	told("a write to the other file")
}

// TestHolders: a stopped or deaf attendant gets a second one beside it, which gets no third. A dying one is
// waited for.
func TestHolders(t *testing.T) {
	t.Parallel()
	p := place(t)
	now := time.Now()
	first, err := p.Try()
	if err != nil || first.Hold(1, 2, now) != nil {
		t.Fatal(err)
	}
	left := 0
	leave := func(lives, stopped bool) (second bool) {
		t.Helper()
		before := left
		err := p.Leave(true, now, func(int, uint64) (bool, bool) { return lives, stopped }, func(l *Lock) error {
			left++
			second = l.IsSecond()
			return l.Hold(3, 4, now)
		})
		if err != nil || left > before+1 {
			t.Fatal(err)
		}
		return second
	}
	if leave(true, false) || !leave(true, true) {
		t.Error("a running attendant got a second one, or a stopped one got none")
	}
	held, err := p.Second().Try()
	if held == nil || err != nil {
		t.Fatal(err)
	}
	if before := left; leave(true, true) || left != before {
		t.Error("a second attendant got a third one beside it")
	}
	held.Close()

	bell, err := unix.Open(p.name(".bell"), unix.O_RDWR|unix.O_NONBLOCK, 0)
	if err != nil {
		if err = unix.Mkfifo(p.name(".bell"), 0o600); err == nil {
			bell, err = unix.Open(p.name(".bell"), unix.O_RDWR|unix.O_NONBLOCK, 0)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(bell)
	for range 2 {
		if leave(true, false) {
			t.Error("a bell that has rung for only a moment counts as unheard")
		}
	}
	time.Sleep(hearWithin + 100*time.Millisecond)
	if !leave(true, false) {
		t.Error("no attendant was started although the bell was unheard for a second")
	}

	time.AfterFunc(20*time.Millisecond, func() { first.Close() })
	if before := left; leave(false, false) || left != before+1 {
		t.Error("Leave did not wait for a dying attendant")
	}
}

// BenchmarkLeave measures the cost to a command if an attendant already runs.
func BenchmarkLeave(b *testing.B) {
	dir := b.TempDir()
	p := At(dir, filepath.Join(dir, "p.db"))
	lock, err := p.Try()
	if err != nil {
		b.Fatal(err)
	}
	defer lock.Close()
	if err := lock.Hold(os.Getpid(), 0, time.Now()); err != nil {
		b.Fatal(err)
	}
	if _, err := lock.Listen(); err != nil {
		b.Fatal(err)
	}
	lives := func(int, uint64) (bool, bool) { return true, false }
	for b.Loop() {
		if err := p.Leave(true, time.Now(), lives, nil); err != nil {
			b.Fatal(err)
		}
	}
}
