package front

import (
	"errors"
	"os"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"golang.org/x/sys/unix"
)

// takeCPUs locks a byte for each cpu. What it has locked is free again when the file is closed.
func takeCPUs(f *os.File, cpus []fronts.CPUs) (bool, error) {
	const perNode, turn = 1 << 20, 1 << 40
	lock := func(how int, at int64, kind int16) error {
		return unix.FcntlFlock(f.Fd(), how, &unix.Flock_t{Type: kind, Start: at, Len: 1})
	}
	if err := lock(unix.F_OFD_SETLKW, turn, unix.F_WRLCK); err != nil { // one at a time: others may need the same
		return false, err
	}
	for _, c := range cpus {
		wants := c.Wants
		for i := 0; i < c.Has && wants > 0; i++ {
			err := lock(unix.F_OFD_SETLK, int64(c.Node)*perNode+int64(i), unix.F_WRLCK)
			switch {
			case err == nil:
				wants--
			case !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EACCES):
				return false, err
			}
		}
		if wants > 0 {
			return false, nil
		}
	}
	return true, lock(unix.F_OFD_SETLK, turn, unix.F_UNLCK)
}
