package attend

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// hearWithin is how long an attendant that goes on takes at most to hear its bell.
const hearWithin = time.Second

// ring wakes the attendant, if it listens, and reports whether it was rung long ago and has
// not heard that. One that does not yet listen has yet to look at the database for the first
// time. A bell that still rings is heard after this change, too.
func (p Place) ring(does bool) (unheard bool) {
	fd, err := p.descriptor(".bell", os.O_WRONLY|unix.O_NONBLOCK)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if n, err := unix.IoctlGetInt(fd, unix.TIOCINQ); err == nil && n > 0 {
		var bell unix.Stat_t
		return unix.Fstat(fd, &bell) == nil && time.Since(time.Unix(bell.Mtim.Unix())) > hearWithin
	}
	if does {
		unix.Write(fd, []byte{1}) //nolint:errcheck // the attendant has ended
	}
	return false
}

// Listen tells from now on when the bell is rung.
func (l *Lock) Listen() (rung <-chan struct{}, err error) {
	name := l.place.name(".bell")
	if err := unix.Mkfifo(name, 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, &os.PathError{Op: "mkfifo", Path: name, Err: err}
	}
	f, err := l.place.open(".bell", os.O_RDWR|unix.O_NONBLOCK) // for writing, too: then it never comes to its end
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
