package fullscreen

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/ptytest"
	"golang.org/x/sys/unix"
)

func modes(t *testing.T, tty *os.File) unix.Termios {
	t.Helper()
	m, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *m
}

// eventually waits for something that another goroutine does.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("did not happen within 5 s: ", what)
		}
	}
}

// TestGivenBack: the terminal is restored, also after a panic, and only once.
func TestGivenBack(t *testing.T) {
	for _, fails := range []bool{false, true} {
		term := ptytest.Open(t)
		tty := term.TTY
		before := modes(t, tty)
		func() {
			defer func() {
				if p := recover(); (p != nil) != fails {
					t.Errorf("panic %v, want one: %v", p, fails)
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
			t.Error("the terminal's modes were not restored")
		}
		eventually(t, "the first screen is back", func() bool { return strings.HasSuffix(term.Shown(), leave) })
		text := term.Shown()
		if !strings.HasPrefix(text, enter) || strings.Count(text, leave) != 1 ||
			!strings.Contains(text, "one\x1b[0m\x1b[K\r\ntwo") {
			t.Errorf("the terminal got %q, want its other screen with both lines, and the first screen once", text)
		}
	}
}

// TestKeys: keys come in the order of pressing. Sequences of unknown keys are ignored.
func TestKeys(t *testing.T) {
	term := ptytest.Open(t)
	s, err := Open(term.TTY, term.TTY)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	//nolint:errcheck // the test notices missing keys
	term.Master.WriteString("q/é\x1b[A\x1b[15~\x1b[Bx\x1b[1;5C\r\x7f\x00\x03")
	want := []Key{'q', '/', 'é', Up, Down, 'x', Enter, Erase, Interrupt}
	var got []Key
	for len(got) < len(want) {
		select {
		case k := <-s.Keys:
			got = append(got, k)
		case <-time.After(5 * time.Second):
			t.Fatalf("no further key after %v, want %v", got, want)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("keys %v, want %v", got, want)
	}
	term.Resize(t, 11, 33)
	if w, h := s.Size(); w != 33 || h != 11 {
		t.Errorf("Size() = %d, %d", w, h)
	}
}

// FuzzKeys: anything that a terminal sends is read to its end.
func FuzzKeys(f *testing.F) {
	f.Add([]byte("\x1b[A\x1bO\x1b[1;\x1b\xff\xc3"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for len(b) > 0 {
			_, rest := nextKey(b)
			if len(rest) >= len(b) {
				t.Fatalf("nextKey consumes nothing of %q", b)
			}
			b = rest
		}
	})
}
