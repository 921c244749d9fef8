package fullscreen

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal makes a pseudo terminal: what a program writes into tty is read from the other
// end, and gathered.
func terminal(t *testing.T) (tty, master *os.File, shown func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no pseudo terminals here:", err)
	}
	t.Cleanup(func() { master.Close() })
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	var mu sync.Mutex
	var all strings.Builder
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			mu.Lock()
			all.Write(buf[:max(n, 0)])
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return tty, master, func() string { mu.Lock(); defer mu.Unlock(); return all.String() }
}

func modes(t *testing.T, tty *os.File) unix.Termios {
	t.Helper()
	m, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *m
}

// eventually waits for something that another goroutine brings about.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not within 5 s: ", what)
		}
	}
}

// A terminal is given back as it was, also after a panic, and once only.
func TestGivenBack(t *testing.T) {
	for _, fails := range []bool{false, true} {
		tty, _, shown := terminal(t)
		before := modes(t, tty)
		func() {
			defer func() {
				if p := recover(); (p != nil) != fails {
					t.Errorf("a panic: %v, want one: %v", p, fails)
				}
			}()
			s, err := Open(tty, tty)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if modes(t, tty) == before {
				t.Error("keys are not read one by one")
			}
			if err := s.Draw([][]byte{[]byte("one"), []byte("two")}); err != nil {
				t.Fatal(err)
			}
			if fails {
				panic("in the middle of it")
			}
			s.Close()
		}()
		if modes(t, tty) != before {
			t.Error("the modes of the terminal are others than before")
		}
		eventually(t, "the first screen is back", func() bool { return strings.HasSuffix(shown(), leave) })
		text := shown()
		if !strings.HasPrefix(text, enter) || strings.Count(text, leave) != 1 || !strings.Contains(text, "one\x1b[0m\x1b[K\r\ntwo") {
			t.Errorf("%q", text)
		}
	}
}

// Keys come as they were pressed; sequences of other keys are none.
func TestKeys(t *testing.T) {
	tty, master, _ := terminal(t)
	s, err := Open(tty, tty)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	master.WriteString("q/é\x1b[A\x1b[15~\x1b[Bx\x1b[1;5C\r\x7f\x00\x03") //nolint:errcheck // a missing key shows
	want := []Key{'q', '/', 'é', Up, Down, 'x', Enter, Erase, Interrupt}
	var got []Key
	for len(got) < len(want) {
		select {
		case k := <-s.Keys:
			got = append(got, k)
		case <-time.After(5 * time.Second):
			t.Fatalf("keys %v and no more, want %v", got, want)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("keys %v, want %v", got, want)
	}
	if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 11, Col: 33}); err != nil {
		t.Fatal(err)
	}
	if w, h := s.Size(); w != 33 || h != 11 {
		t.Errorf("a size of %d x %d", w, h)
	}
}

// FuzzKeys: whatever a terminal sends, it is read to its end.
func FuzzKeys(f *testing.F) {
	f.Add([]byte("\x1b[A\x1bO\x1b[1;\x1b\xff\xc3"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for len(b) > 0 {
			_, rest := nextKey(b)
			if len(rest) >= len(b) {
				t.Fatalf("nothing was read of %q", b)
			}
			b = rest
		}
	})
}
