// Package ptytest provides pseudo terminals for tests.
package ptytest

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// A Terminal has two ends. What a program writes to TTY is read from Master and collected.
type Terminal struct {
	TTY, Master *os.File
	mu          sync.Mutex
	shown       []byte
}

// Open makes a terminal, and skips the test if that is impossible.
func Open(t testing.TB) *Terminal {
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
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	term := &Terminal{TTY: tty, Master: master}
	go term.gather()
	return term
}

// gather collects what is written until the terminal is closed.
func (term *Terminal) gather() {
	buf := make([]byte, 4096)
	for {
		n, err := term.Master.Read(buf)
		term.mu.Lock()
		term.shown = append(term.shown, buf[:max(n, 0)]...)
		term.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Shown returns everything written so far.
func (term *Terminal) Shown() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return string(term.shown)
}

// Resize sets the terminal's size.
func (term *Terminal) Resize(t testing.TB, rows, columns uint16) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(term.Master.Fd()), unix.TIOCSWINSZ,
		&unix.Winsize{Row: rows, Col: columns}); err != nil {
		t.Fatal(err)
	}
}
