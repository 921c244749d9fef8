package sqlshell

import (
	"bytes"
	"errors"
	"io"
	"os"

	"golang.org/x/term"
)

// A Terminal is where the user types statements.
type Terminal interface {
	io.ReadWriter
	// Size returns its columns and rows, 0 for unknown.
	Size() (columns, rows int)
	// Raw makes the terminal pass on every key. restore undoes that.
	Raw() (restore func() error, err error)
}

// TTY is the Terminal of a file.
type TTY struct {
	in *os.File
	io.Writer
}

// NewTTY returns the terminal behind a file. out draws on it.
func NewTTY(in *os.File, out io.Writer) *TTY { return &TTY{in, out} }

// Read reads keys.
func (t *TTY) Read(p []byte) (int, error) { return t.in.Read(p) }

// Size returns its columns and rows as they are now.
func (t *TTY) Size() (columns, rows int) {
	columns, rows, err := term.GetSize(int(t.in.Fd()))
	if err != nil {
		return 0, 0
	}
	return columns, rows
}

// Raw makes the terminal pass on every key.
func (t *TTY) Raw() (restore func() error, err error) {
	fd := int(t.in.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return nil, err
	}
	return func() error { return term.Restore(fd, before) }, nil
}

// errAborted says that the user has given up a text.
var errAborted = errors.New("aborted")

// interruptible turns Ctrl-C into errAborted, which the editor would take for the end of the input.
type interruptible struct{ Terminal }

func (t interruptible) Read(p []byte) (int, error) {
	const interrupt = 3
	n, err := t.Terminal.Read(p)
	if i := bytes.IndexByte(p[:n], interrupt); i >= 0 {
		return i, errAborted
	}
	return n, err
}
