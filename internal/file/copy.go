package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"

	"go.etcd.io/bbolt"
)

// Writers wait for readers: bbolt reuses a page once no reader of its own process needs it, so
// a reader in another process has to keep writers out. A long read therefore uses a private
// copy of the file. If the file system supports it, the copy shares blocks with the file. It
// has no name, so it disappears with the process.

// Copy makes a handle on a private copy of the file as it is now. Reading it needs no lock and
// blocks no one; Update fails. Close deletes the copy. It fails if there is no room for a copy.
func (f *File) Copy() (*File, error) {
	if f.shut.Load() {
		return nil, ErrClosed
	}
	o, err := f.open(context.Background(), sharing)
	if err != nil {
		return nil, err
	}
	var copied *os.File
	_, err = o.where.find() // while it is open
	if err != nil {
		return nil, errors.Join(err, o.close())
	}
	err = o.bolt.View(func(tx *bbolt.Tx) (err error) {
		copied, err = copyFile(o.data, tx.Size(), new(atomic.Bool))
		return err
	})
	f.closed(f.give(o))
	if err != nil {
		return nil, fmt.Errorf("a copy of %s to read: %w", f.Path(), err)
	}
	bolt, err := openBolt(copied, false, 0)
	if err != nil {
		return nil, openError(f.Path(), err)
	}
	return &File{path: f.path, full: f.full, opt: f.opt, copied: &opened{bolt: bolt, data: copied, lock: new(fileLock),
		where: o.where}}, nil
}

// errOver means that the copy is no longer needed.
var errOver = errors.New("it is over")

// copyFile copies the used part of a file into one without a name: beside it or, if that
// fails, in the folder for temporary files. It gives up once over is set.
func copyFile(from *os.File, used int64, over *atomic.Bool) (to *os.File, err error) {
	var failed []error
	for _, dir := range []string{filepath.Dir(from.Name()), os.TempDir()} {
		if to, err = nameless(dir); err == nil {
			if err = fill(to, from, used, over); err == nil {
				return to, nil
			}
			to.Close()
		}
		if failed = append(failed, err); over.Load() {
			break
		}
	}
	return nil, errors.Join(failed...)
}

// nameless makes a file without a name in a folder.
func nameless(dir string) (f *os.File, err error) {
	err = calls.Do(Operation{Kind: "open", Path: dir}, func() error {
		f, err = openNameless(dir)
		return err
	})
	return f, err
}

// removedTemp makes a file and removes its name, which some systems keep until it is closed.
func removedTemp(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".placectl-*")
	if err == nil {
		_ = os.Remove(f.Name())
	}
	return f, err
}

// copyChunk is how much is copied at a time.
const copyChunk = 8 << 20

// fill copies the content of one file to another, by sharing its blocks if possible.
func fill(to, from *os.File, used int64, over *atomic.Bool) error {
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if clone(to, from) {
		return nil
	}
	if err := to.Truncate(info.Size()); err != nil {
		return err
	}
	for at := int64(0); at < used; {
		if over.Load() {
			return errOver
		}
		var n int64
		err := calls.Do(Operation{Kind: "copy", Path: from.Name(), At: at}, func() (err error) {
			n, err = copyRange(to, from, at, min(copyChunk, used-at))
			return err
		})
		if err != nil {
			return err
		}
		at += n
	}
	return nil
}

// copyRange copies a part of a file to the same place in another, in the kernel if that can
// copy between the two.
func copyRange(to, from *os.File, at, length int64) (int64, error) {
	if n, err := copyInKernel(to, from, at, length); n > 0 || err != nil {
		return n, err
	}
	return io.Copy(io.NewOffsetWriter(to, at), io.NewSectionReader(from, at, length))
}
