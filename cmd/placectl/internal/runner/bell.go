package runner

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// A supervisor sleeps until something happens. Who wants it to look at its directory rings
// the bell there: a named pipe, which costs nothing while nobody rings.

// hangBell makes the bell of a directory, and opens it to listen.
func (d *dir) hangBell() (*os.File, error) {
	err := unix.Mkfifoat(int(d.lock.Fd()), bellFile, 0o600)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, &os.PathError{Op: "mkfifo", Path: d.path + "/" + bellFile, Err: err}
	}
	// Open for writing, too: it never comes to its end.
	return d.root.OpenFile(bellFile, os.O_RDWR|unix.O_NONBLOCK, 0)
}

// ring tells when a bell is rung.
func ring(bell *os.File) <-chan struct{} {
	rung := make(chan struct{}, 1)
	go func() {
		b := make([]byte, 64)
		for {
			if _, err := bell.Read(b); err != nil {
				return
			}
			select {
			case rung <- struct{}{}:
			default:
			}
		}
	}()
	return rung
}

// stopAttempt lets the supervisor of an attempt know that it is to stop.
func (s *state) stopAttempt(k Key) error { return s.tell(k, stopFile) }

// signalAttempt lets it know that signals wait for its processes.
func (s *state) signalAttempt(k Key) error { return s.tell(k, signalFile) }

// tell leaves a file in the directory of an attempt, and rings the bell there, unless it is
// there already.
func (s *state) tell(k Key, file string) error {
	name := k.String() + "/"
	f, err := s.epoch.OpenFile(name+file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist): // it was told; it has ended
		return nil
	case err != nil:
		return err
	}
	f.Close()
	bell, err := s.epoch.OpenFile(name+bellFile, os.O_WRONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil // nobody listens: who comes to looks first
	}
	defer bell.Close()
	bell.Write([]byte{1}) //nolint:errcheck // a full pipe rings
	return nil
}
