package attend

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// hearWithin is the longest that a running attendant takes to hear its bell.
const hearWithin = time.Second

// ring wakes the attendant if it listens. It reports whether the bell was rung long ago and is still
// unheard. An attendant that does not listen yet has still to read the database for the first
// time. If the bell rings already, the attendant will hear it after this change, too.
func (p Place) ring(does bool) (unheard bool) {
	fd, err := p.descriptor(".bell", os.O_WRONLY|unix.O_NONBLOCK)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if n, err := unix.IoctlGetInt(fd, inPipe); err == nil && n > 0 {
		var bell unix.Stat_t
		return unix.Fstat(fd, &bell) == nil && time.Since(time.Unix(bell.Mtim.Unix())) > hearWithin
	}
	if does {
		unix.Write(fd, []byte{1}) //nolint:errcheck // the attendant has ended
	}
	return false
}

// Listen returns a channel that receives whenever the bell is rung.
func (l *Lock) Listen() (rung <-chan struct{}, err error) {
	name := l.place.name(".bell")
	if err := unix.Mkfifo(name, 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, &os.PathError{Op: "mkfifo", Path: name, Err: err}
	}
	f, err := l.place.open(".bell", os.O_RDWR|unix.O_NONBLOCK) // open for writing, too, so that reads never end
	if err != nil {
		return nil, err
	}
	l.bell = f
	c := make(chan struct{}, 1)
	go func() {
		b := make([]byte, 512)
		for {
			if _, err := f.Read(b); err != nil {
				return
			}
			select {
			case c <- struct{}{}:
			default:
			}
		}
	}()
	return c, nil
}
