package main

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"
)

// A textFile is a file, or standard input, that has been read whole and is being
// understood. Its errors say line and column.
type textFile struct {
	name string // for messages
	data []byte
}

// maxTextFile bounds a file, in bytes.
const maxTextFile = 1 << 30

// newTextFile drops the mark that some editors put in front of UTF-8.
func newTextFile(name string, data []byte) textFile {
	return textFile{name, bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))}
}

// fileError says what is wrong in a file, and where.
type fileError struct {
	file      string
	line, col int // from 1; col counts characters
	err       error
}

func (e *fileError) Error() string {
	return fmt.Sprintf("%s, line %d, column %d: %v", e.file, e.line, e.col, e.err)
}

func (e *fileError) Unwrap() []error { return []error{errUsage, e.err} }

// readAllCapped reads to the end, and no more than a file of ours may have.
func readAllCapped(in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxTextFile+1))
	if err == nil && len(data) > maxTextFile {
		err = fmt.Errorf("%w: the file has more than %d bytes", errUsage, maxTextFile)
	}
	return data, err
}

// checkText refuses what is no text before anything looks closer.
func (f *textFile) checkText() error {
	if bytes.HasPrefix(f.data, []byte("\xff\xfe")) || bytes.HasPrefix(f.data, []byte("\xfe\xff")) {
		return f.errAt(0, "the file is UTF-16; save it as UTF-8")
	}
	if i := bytes.IndexByte(f.data, 0); i >= 0 {
		return f.errAt(i, "a NUL byte: this is not a text file")
	}
	if !utf8.Valid(f.data) {
		at := 0
		for c, n := rune(0), 0; c != utf8.RuneError || n > 1; at += n {
			c, n = utf8.DecodeRune(f.data[at:])
			if c == utf8.RuneError && n <= 1 {
				break
			}
		}
		return f.errAt(at, "the byte 0x%02x is not UTF-8; save the file as UTF-8", f.data[at])
	}
	return nil
}

func skipBlanks(b []byte, at int) int {
	for at < len(b) && (b[at] == ' ' || b[at] == '\t' || b[at] == '\n' || b[at] == '\r') {
		at++
	}
	return at
}

// position is the line and column of an offset.
func (f *textFile) position(at int) (line, col int) {
	at = min(at, len(f.data))
	start := bytes.LastIndexByte(f.data[:at], '\n') + 1
	return 1 + bytes.Count(f.data[:start], []byte{'\n'}), 1 + utf8.RuneCount(f.data[start:at])
}

// errAt is an error at an offset.
func (f *textFile) errAt(at int, format string, args ...any) error {
	line, col := f.position(at)
	return &fileError{f.name, line, col, fmt.Errorf(format, args...)}
}
