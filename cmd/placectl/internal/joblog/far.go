package joblog

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// Far is a log that lies on another host. A process there reads it, with Serve, and its output is
// written here as it comes.
type Far struct {
	in   *os.File // the pipe to the process there; its end means that nothing more will be written
	done chan error
}

// Fetch begins to read a log on another host. The function runs whoever serves it there, with
// that input, and writes what he writes.
func Fetch(to io.Writer, serve func(in io.Reader, to io.Writer) error) (*Far, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	f := &Far{write, make(chan error, 1)}
	go func() {
		err := serve(read, to)
		read.Close()
		f.done <- err
	}()
	return f, nil
}

// Copy writes what has come, which it does by itself. The error is that of who serves it,
// where he has ended already.
func (f *Far) Copy(io.Writer) error {
	select {
	case err := <-f.done:
		f.done <- err
		return err
	default:
		return nil
	}
}

// Rest waits for what is left to be written.
func (f *Far) Rest(io.Writer) error {
	f.in.Close()
	err := <-f.done
	f.done <- nil
	return err
}

// Close ends who serves it.
func (f *Far) Close() error { return f.Rest(nil) }

// lookEvery is how often who serves a log looks whether there is more of it.
const lookEvery = 200 * time.Millisecond

// Serve writes the log in a file as it grows, until the input ends: then nothing more will be
// written, and it writes the rest. Before that it waits for a file that is not there. Where
// it begins the function says.
func Serve(path string, begin func(*Log) error, in io.Reader, to io.Writer) error {
	over := make(chan struct{})
	go func() {
		io.Copy(io.Discard, in) //nolint:errcheck // it is over either way
		close(over)
	}()
	var log *Log
	for ended := false; ; {
		if log == nil {
			var err error
			if log, err = Open(path); err != nil && (ended || !errors.Is(err, fs.ErrNotExist)) {
				return err
			}
			if log != nil {
				defer log.Close()
				if err := begin(log); err != nil {
					return err
				}
			}
		}
		switch {
		case ended:
			return log.Rest(to)
		case log != nil:
			if err := log.Copy(to); err != nil {
				return err
			}
		}
		select {
		case <-over:
			ended = true
		case <-time.After(lookEvery):
		}
	}
}
