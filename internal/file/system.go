package file

import "os"

// Operation is an operation of the operating system on one of our files.
type Operation struct {
	Kind string // open, read, write, sync, truncate, rename, lock, remove
	Path string
	At   int64  // for reads and writes: the offset in the file
	Data []byte // the bytes to write
}

// system performs operations. Tests replace it to let some fail. bbolt's own operations go to
// the same one (testdata/faults).
type system interface {
	Do(op Operation, fn func() error) error
}

// direct performs operations directly.
type direct struct{}

func (direct) Do(_ Operation, fn func() error) error { return fn() }

// calls is the system that all operations go to.
var calls system = direct{}

// openFile opens a file that is not a link. Unlike os.OpenFile, it does not register it with
// the poller, because it is a regular file.
func openFile(path string, flags int) (f *os.File, err error) {
	err = calls.Do(Operation{Kind: "open", Path: path}, func() error {
		f, err = openNoFollow(path, flags)
		return err
	})
	return f, err
}

// readAt reads a part of a file. If the file ends before, the error is io.EOF.
func readAt(f *os.File, b []byte, at int64) error {
	return calls.Do(Operation{Kind: "read", Path: f.Name(), At: at}, func() error {
		_, err := f.ReadAt(b, at)
		return err
	})
}

// writeAt writes a part of a file.
func writeAt(f *os.File, b []byte, at int64) error {
	return calls.Do(Operation{Kind: "write", Path: f.Name(), At: at, Data: b}, func() error {
		_, err := f.WriteAt(b, at)
		return err
	})
}
