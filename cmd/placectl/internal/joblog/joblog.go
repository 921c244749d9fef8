// Package joblog reads what a job has written while others still write to it: a file that
// grows, is made again, or holds the output of several attempts one behind the other, with
// a line before each that says so.
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

// Header is the line that stands before the output of an attempt in a file that has that of
// others, too.
func Header(job uint64, attempt int) string {
	return "placectl: job " + strconv.FormatUint(job, 10) + ", attempt " + strconv.Itoa(attempt) + "\n"
}

// Log is the output of a job in a file, or the part of it that one attempt has written.
type Log struct {
	file *os.File
	at   int64  // the offset read so far
	end  []byte // the line that ends the part; nil: there is none
	over bool   // that line was found
}

// ErrOtherFile is a name of something other than a regular file, which may have no end.
var ErrOtherFile = errors.New("it is not a regular file")

// Open opens the file of a log, from its beginning on.
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

// Only keeps to the part of an attempt: what stands behind the line that announces it, as
// far as the line that announces the next one. It reports whether the attempt has a part.
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

// Tail leaves out all but the last so many lines. A last line without an end counts.
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

// Copy writes everything readable that was not read before. If a file has become shorter, it begins
// again.
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

// upTo is what of a block belongs to the part. What may be the beginning of the line that
// ends the part is left for later.
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

// Rest writes what was left for later, once nothing writes to the file any more.
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

// blockSize is how much is read at once.
const blockSize = 64 << 10

// find looks for a text from an offset on.
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
