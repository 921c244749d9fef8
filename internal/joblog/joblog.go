// Package joblog reads a job's output while it is still being written. The file may grow, be made again,
// or hold the output of several attempts, each after a line that announces it.
package joblog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Header returns the line before an attempt's output in a file with the output of several.
func Header(job uint64, attempt int) string {
	return "placectl: job " + strconv.FormatUint(job, 10) + ", attempt " + strconv.Itoa(attempt) + "\n"
}

// Log is the output of a job in a file, or the part written by one attempt.
type Log struct {
	file *os.File
	at   int64  // the offset read so far
	end  []byte // the line that ends the part; nil: none
	over bool   // that line has been found
}

// ErrOtherFile says that a file is not regular, so that it may have no end.
var ErrOtherFile = errors.New("it is not a regular file")

// Open opens the file of a log at its beginning.
func Open(path string) (*Log, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path, ErrOtherFile)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Log{file: f}, nil
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }

// Only restricts the log to the part of an attempt, from the line that announces it to the next such line.
// It reports whether the attempt has a part.
func (l *Log) Only(job uint64, attempt int) (bool, error) {
	l.end = []byte(Header(job, attempt+1))
	if attempt == 1 {
		return true, nil
	}
	header := []byte(Header(job, attempt))
	at, found, err := l.find(header, l.at)
	if found {
		l.at = at + int64(len(header))
	}
	return found, err
}

// Tail skips all but the last lines. A last line without a newline counts.
func (l *Log) Tail(lines int) error {
	end, err := l.size()
	if err != nil {
		return err
	}
	if l.end != nil {
		if at, found, err := l.find(l.end, l.at); err != nil {
			return err
		} else if found {
			end = at
		}
	}
	block := make([]byte, blockSize)
	for from, seen := end, 0; from > l.at; {
		n := min(int64(len(block)), from-l.at)
		from -= n
		if _, err := l.file.ReadAt(block[:n], from); err != nil && err != io.EOF {
			return err
		}
		for i := int(n) - 1; i >= 0; i-- {
			if block[i] != '\n' || from+int64(i) == end-1 {
				continue
			}
			if seen++; seen == lines {
				l.at = from + int64(i) + 1
				return nil
			}
		}
	}
	return nil
}

// Copy writes everything readable that it has not read before. If the file has become shorter, Copy starts
// from its beginning.
func (l *Log) Copy(to io.Writer) error {
	size, err := l.size()
	if err != nil {
		return err
	}
	if size < l.at {
		l.at = 0
	}
	block := make([]byte, blockSize)
	for !l.over {
		n, err := l.file.ReadAt(block, l.at)
		if err != nil && err != io.EOF {
			return err
		}
		part := block[:n]
		if l.end != nil {
			part = l.upTo(part)
		}
		if len(part) == 0 {
			return nil
		}
		if _, err := to.Write(part); err != nil {
			return err
		}
		l.at += int64(len(part))
	}
	return nil
}

// upTo returns the bytes of a block that belong to the part. It leaves for later what may be the
// beginning of the line that ends the part.
func (l *Log) upTo(block []byte) []byte {
	if i := bytes.Index(block, l.end); i >= 0 {
		l.over = true
		return block[:i]
	}
	for n := min(len(l.end)-1, len(block)); n > 0; n-- {
		if bytes.HasSuffix(block, l.end[:n]) {
			return block[:len(block)-n]
		}
	}
	return block
}

// Rest writes what was left for later, once nothing writes to the file.
func (l *Log) Rest(to io.Writer) error {
	if err := l.Copy(to); err != nil || l.over {
		return err
	}
	l.end = nil
	return l.Copy(to)
}

func (l *Log) size() (int64, error) {
	info, err := l.file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// blockSize is how many bytes are read at once.
const blockSize = 64 << 10

// find searches for a text from an offset on.
func (l *Log) find(text []byte, from int64) (at int64, found bool, err error) {
	block := make([]byte, blockSize)
	for {
		n, err := l.file.ReadAt(block, from)
		if i := bytes.Index(block[:n], text); i >= 0 {
			return from + int64(i), true, nil
		}
		switch {
		case err == io.EOF:
			return 0, false, nil
		case err != nil:
			return 0, false, err
		}
		from += int64(n - len(text) + 1)
	}
}
