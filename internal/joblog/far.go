package joblog

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// Far is a log on another host. A process there reads it with Serve, and its output is written here as
// it comes.
type Far struct {
	in   *os.File // the pipe to the process there; closing it means that nothing more will be written
	done chan error
}

// Fetch begins to read a log on another host. serve runs a process there with that input, and writes the
// process's output.
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

// Copy does nothing, because output is written as it comes. If the process there has ended already, Copy
// returns its error.
func (f *Far) Copy(io.Writer) error {
	select {
	case err := <-f.done:
		f.done <- err
		return err
	default:
		return nil
	}
}

// Rest waits until all output is written.
func (f *Far) Rest(io.Writer) error {
	f.in.Close()
	err := <-f.done
	f.done <- nil
	return err
}

// Close ends the process on the other host.
func (f *Far) Close() error { return f.Rest(nil) }

// lookEvery is how often Serve checks whether the log has grown.
const lookEvery = 200 * time.Millisecond

// Serve writes the log in a file as it grows. It waits for a missing file. begin seeks to where to start.
// The end of the input means that nothing more will be written: then Serve writes the rest.
func Serve(path string, begin func(*Log) error, in io.Reader, to io.Writer) error {
	over := make(chan struct{})
	go func() {
		io.Copy(io.Discard, in) //nolint:errcheck // the output ends in any case
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
