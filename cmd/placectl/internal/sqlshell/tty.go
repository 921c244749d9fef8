package sqlshell

import (
	"io"
	"os"

	"golang.org/x/term"
)

// TTY is a terminal that statements are typed at.
type TTY struct {
	in *os.File
	io.Writer
}

// NewTTY is the terminal that a file reads from; out draws on it.
func NewTTY(in *os.File, out io.Writer) *TTY { return &TTY{in, out} }

// Read reads keys.
func (t *TTY) Read(p []byte) (int, error) { return t.in.Read(p) }

// Size is its columns and rows as they are now.
func (t *TTY) Size() (columns, rows int) {
	columns, rows, err := term.GetSize(int(t.in.Fd()))
	if err != nil {
		return 0, 0
	}
	return columns, rows
}

// Raw has it pass on every key.
func (t *TTY) Raw() (restore func() error, err error) {
	fd := int(t.in.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return nil, err
	}
	return func() error { return term.Restore(fd, before) }, nil
}
