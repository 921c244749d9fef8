package infile

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
)

// zeros is endless input, like a huge sparse file.
type zeros struct{ read int }

func (z *zeros) Read(p []byte) (int, error) {
	clear(p)
	z.read += len(p)
	return len(p), nil
}

func TestReadLine(t *testing.T) {
	in := bufio.NewReader(strings.NewReader("a\n\n" + strings.Repeat("b", 10_000) + "\nlast"))
	for _, want := range []string{"a\n", "\n", strings.Repeat("b", 10_000) + "\n"} {
		if line, err := ReadLine(in); string(line) != want || err != nil {
			t.Errorf("ReadLine = %q, %v, want %q", line, err, want)
		}
	}
	if line, err := ReadLine(in); string(line) != "last" || err != io.EOF {
		t.Errorf("ReadLine = %q, %v, want \"last\", EOF", line, err)
	}
	z := new(zeros)
	if _, err := ReadLine(bufio.NewReader(z)); !errors.Is(err, ErrInput) || z.read > 2*MaxLine {
		t.Errorf("ReadLine of an endless line = %v after %d bytes", err, z.read)
	}
}
