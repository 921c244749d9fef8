package keeper

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A keeper sleeps until something happens. Its bell makes it look at the database. The bell is a
// named pipe, which costs nothing while it is silent.
const bellPrefix = "bell."

// bellName returns the name of the bell of a host's keeper.
func bellName(host string) string { return bellPrefix + host }

// hangBell makes the bell, and opens it to listen.
func (s *state) hangBell(name string) (*os.File, error) {
	err := unix.Mkfifo(s.path+"/"+name, 0o600)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, &os.PathError{Op: "mkfifo", Path: s.path + "/" + name, Err: err}
	}
	// It is also open for writing, so that reads never end.
	return s.epoch.OpenFile(name, os.O_RDWR|unix.O_NONBLOCK, 0)
}

// ring returns a channel that receives when a bell is rung.
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

// ringBell rings a bell unless it rings already. It reports whether the bell exists, and for how long it has
// been ringing.
func ringBell(epoch *os.Root, name string) (exists bool, unheard time.Duration) {
	bell, err := epoch.OpenFile(name, os.O_WRONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return false, 0
	}
	defer bell.Close()
	if n, err := unix.IoctlGetInt(int(bell.Fd()), inPipe); err == nil && n > 0 {
		if is, err := bell.Stat(); err == nil && !is.ModTime().After(time.Now()) { // else the clock was set back
			return true, time.Since(is.ModTime())
		}
	}
	bell.Write([]byte{1}) //nolint:errcheck // a full pipe already rings
	return true, 0
}
