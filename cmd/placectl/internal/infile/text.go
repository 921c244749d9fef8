// Package infile holds the text of input files and says where in them something is:
// one kind of position, and one kind of error with a position, for all that reads
// them. Of forms it knows lists of records, and JSON decoded into Go values. It knows
// no verb and nothing of what a file is about, and opens none: a name is for messages.
package infile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// A Text is a file, or standard input, that has been read whole and is being
// understood. Its errors say line and column.
type Text struct {
	Name string // for messages
	Data []byte
}

// maxSize bounds a file, in bytes.
const maxSize = 1 << 30

// New drops the mark that some editors put in front of UTF-8.
func New(name string, data []byte) Text {
	return Text{name, bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))}
}

// ReadAll reads to the end. More than 1 GiB is refused.
func ReadAll(in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxSize+1))
	if err == nil && len(data) > maxSize {
		err = fmt.Errorf("%w: the file has more than %d bytes", ErrInput, maxSize)
	}
	return data, err
}

// Check refuses what is no text before anything looks closer.
func (f *Text) Check() error {
	if bytes.HasPrefix(f.Data, []byte("\xff\xfe")) || bytes.HasPrefix(f.Data, []byte("\xfe\xff")) {
		return f.Errorf(0, "the file is UTF-16; save it as UTF-8")
	}
	if i := bytes.IndexByte(f.Data, 0); i >= 0 {
		return f.Errorf(i, "a NUL byte: this is not a text file")
	}
	if !utf8.Valid(f.Data) {
		at := 0
		for c, n := rune(0), 0; c != utf8.RuneError || n > 1; at += n {
			c, n = utf8.DecodeRune(f.Data[at:])
			if c == utf8.RuneError && n <= 1 {
				break
			}
		}
		return f.Errorf(at, "the byte 0x%02x is not UTF-8; save the file as UTF-8", f.Data[at])
	}
	return nil
}

// SkipBlanks is the offset of the first byte from at on that is no blank.
func SkipBlanks(b []byte, at int) int {
	for at < len(b) && (b[at] == ' ' || b[at] == '\t' || b[at] == '\n' || b[at] == '\r') {
		at++
	}
	return at
}

// At is the position of an offset; one behind the end is the end.
func (f *Text) At(offset int) Position {
	offset = min(offset, len(f.Data))
	start := bytes.LastIndexByte(f.Data[:offset], '\n') + 1
	return Position{f.Name, 1 + bytes.Count(f.Data[:start], []byte{'\n'}), 1 + utf8.RuneCount(f.Data[start:offset])}
}

// Errorf is an Error at an offset.
func (f *Text) Errorf(offset int, format string, args ...any) error {
	return &Error{f.At(offset), fmt.Errorf(format, args...)}
}

// MaxLine bounds a line, or a node in JSON, in bytes.
const MaxLine = 1 << 20

// ReadLine reads a line with its end, the last one maybe without. More than MaxLine bytes are
// refused, not kept.
func ReadLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > MaxLine {
			return nil, fmt.Errorf("%w: a line has more than %d bytes", ErrInput, MaxLine)
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// CheckLines refuses lines that are too long, before they are copied about.
func (f *Text) CheckLines() error {
	for at := 0; at < len(f.Data); {
		n := bytes.IndexByte(f.Data[at:], '\n')
		if n < 0 {
			n = len(f.Data) - at
		}
		if n > MaxLine {
			return f.Errorf(at, "the line has %d bytes; at most %d are read", n, MaxLine)
		}
		at += n + 1
	}
	return nil
}
