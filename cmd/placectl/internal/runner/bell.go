package runner

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// A keeper sleeps until something happens. To make it look at the database, ring its bell: a named
// pipe, which costs nothing while it is silent.
const bellPrefix = "bell."

// bellName is that of the keeper of a host.
func bellName(host string) string { return bellPrefix + host }

// hangBell makes the bell, and opens it to listen.
func (s *state) hangBell(name string) (*os.File, error) {
	err := unix.Mkfifo(s.path+"/"+name, 0o600)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, &os.PathError{Op: "mkfifo", Path: s.path + "/" + name, Err: err}
	}
	// Open for writing, too: it never comes to its end.
	return s.epoch.OpenFile(name, os.O_RDWR|unix.O_NONBLOCK, 0)
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

// ringBell rings a bell. It reports whether there is one.
func ringBell(epoch *os.Root, name string) bool {
	bell, err := epoch.OpenFile(name, os.O_WRONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer bell.Close()
	bell.Write([]byte{1}) //nolint:errcheck // a full pipe rings
	return true
}
