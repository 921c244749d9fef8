// Package fullscreen lets a program use a whole terminal, and restores the terminal whatever ends the
// program: its end, a panic, or a signal. It knows keys and lines of text, but not what they mean.
package fullscreen

import (
	"bytes"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/term"
)

// What the terminal is sent: to show its other screen without a cursor, and to return to the first.
const (
	enter = "\x1b[?1049h\x1b[?25l"
	leave = "\x1b[?25h\x1b[?1049l"
)

// Key is a pressed key: a character, or one of those below.
type Key rune

// Keys that are not characters.
const (
	Up Key = -1 - iota
	Down
	PageUp
	PageDown
	Home
	End
	Escape
	Enter
	Erase
	Interrupt // Ctrl-C, or the end of the input
)

// Screen is a terminal in use.
type Screen struct {
	Keys    chan Key       // the keys pressed
	Resized chan os.Signal // the terminal's size has changed
	Ended   chan os.Signal // signals to end the program
	out     *os.File
	once    sync.Once
	restore func()
}

// Open takes a terminal. Close must be deferred at once, so that it restores the terminal after a panic,
// too.
func Open(in, out *os.File) (*Screen, error) {
	was, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, err
	}
	s := &Screen{Keys: make(chan Key, 16), Resized: make(chan os.Signal, 1), Ended: make(chan os.Signal, 1), out: out}
	s.restore = func() {
		out.WriteString(leave)          //nolint:errcheck // the terminal may be gone
		term.Restore(int(in.Fd()), was) //nolint:errcheck // as above
	}
	signal.Notify(s.Resized, syscall.SIGWINCH)
	signal.Notify(s.Ended, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGINT)
	if _, err := out.WriteString(enter); err != nil {
		s.Close()
		return nil, err
	}
	go s.read(in)
	return s, nil
}

// Close restores the terminal. Only the first call counts.
func (s *Screen) Close() {
	s.once.Do(func() {
		signal.Stop(s.Resized)
		signal.Stop(s.Ended)
		s.restore()
	})
}

// Size returns the terminal's columns and lines, 80 and 24 if unknown.
func (s *Screen) Size() (width, height int) {
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width < 1 || height < 1 {
		return 80, 24
	}
	return width, height
}

// Draw replaces what is shown with lines, in one write, so that nothing flickers.
func (s *Screen) Draw(lines [][]byte) error {
	var b bytes.Buffer
	b.WriteString("\x1b[H")
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.Write(line)
		b.WriteString("\x1b[0m\x1b[K")
	}
	b.WriteString("\x1b[J")
	_, err := s.out.Write(b.Bytes())
	return err
}

// read passes on pressed keys.
func (s *Screen) read(in *os.File) {
	buf := make([]byte, 256)
	for {
		n, err := in.Read(buf)
		for rest := buf[:max(n, 0)]; len(rest) > 0; {
			var k Key
			if k, rest = nextKey(rest); k != 0 {
				s.Keys <- k
			}
		}
		if err != nil {
			s.Keys <- Interrupt
			return
		}
	}
}
