// Package infile holds the text of input files and locates things in them. It has one type of position,
// and one type of error with a position, for all that reads files. It knows lists of records, and JSON
// decoded into Go values. It knows no verb and no contents, and opens no file: names are for messages.
package infile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// A Text is a file or standard input that has been read completely. Its errors give line and column.
type Text struct {
	Name string // for messages
	Data []byte
}

// maxSize bounds a file, in bytes.
const maxSize = 1 << 30

// New makes a Text. It drops the byte order mark that some editors write.
func New(name string, data []byte) Text {
	return Text{name, bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))}
}

// ReadAll reads to the end. It refuses more than 1 GiB.
func ReadAll(in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxSize+1))
	if err == nil && len(data) > maxSize {
		err = fmt.Errorf("%w: the file has more than %d bytes", ErrInput, maxSize)
	}
	return data, err
}

// Check refuses data that is no text.
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

// SkipBlanks returns the offset of the first non-blank byte from at on.
func SkipBlanks(b []byte, at int) int {
	for at < len(b) && (b[at] == ' ' || b[at] == '\t' || b[at] == '\n' || b[at] == '\r') {
		at++
	}
	return at
}

// At returns the position of an offset. An offset behind the end means the end.
func (f *Text) At(offset int) Position {
	offset = min(offset, len(f.Data))
	start := bytes.LastIndexByte(f.Data[:offset], '\n') + 1
	return Position{f.Name, 1 + bytes.Count(f.Data[:start], []byte{'\n'}), 1 + utf8.RuneCount(f.Data[start:offset])}
}

// Errorf returns an Error at an offset.
func (f *Text) Errorf(offset int, format string, args ...any) error {
	return &Error{f.At(offset), fmt.Errorf(format, args...)}
}

// MaxLine bounds a line, or a node in JSON, in bytes.
const MaxLine = 1 << 20

// ReadLine reads a line with its newline, which the last line may lack. It refuses more than MaxLine
// bytes, and does not keep them.
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

// CheckLines refuses lines that are too long before they are copied.
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
