package file

import (
	"os"
	"syscall"
)

// State identifies a state of a database file without a lock: by the file, and the
// transactions of its meta pages. If two are equal, nothing was committed between them.
type State struct {
	Device, Inode uint64
	Born          int64 // when the file was made, in nanoseconds, if the file system tells
	Transactions  [2]uint64
}

// StateOf reads the state of the file at a path.
func StateOf(path string) (State, error) {
	f, err := os.Open(path)
	if err != nil {
		return State{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return State{}, err
	}
	is := info.Sys().(*syscall.Stat_t)
	s := State{Device: is.Dev, Inode: is.Ino, Born: bornAt(f)}
	for i, m := range readMetas(f, info.Size()) {
		s.Transactions[i] = m.transaction
	}
	return s, nil
}
