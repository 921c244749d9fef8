// Package outfile writes files that the user has named: whole, or not at all.
package outfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/placectl/placectl/internal/text"
)

// Replace puts data into a file, whole or not at all: it is written beside
// the name and then renamed. A link keeps pointing to where it does, a file
// keeps its mode, and what is no file (a pipe, /dev/stdout) is written to.
func Replace(path string, data []byte) error { return replace(path, data, 0) }

// ReplaceAs is Replace for a file that gets a mode, whatever it has.
func ReplaceAs(path string, data []byte, mode fs.FileMode) error { return replace(path, data, mode) }

// replace keeps the mode that the file has where it is told none.
func replace(path string, data []byte, as fs.FileMode) (err error) {
	mode := cmp.Or(as, 0o644)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	switch info, err := os.Stat(path); {
	case err == nil && info.Mode().IsRegular():
		mode = cmp.Or(as, info.Mode().Perm())
	case err == nil:
		return os.WriteFile(path, data, mode)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".new-*")
	if err != nil {
		return notWritten(path, err)
	}
	defer func() {
		if err != nil {
			os.Remove(tmp.Name())
		}
	}()
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Chmod(mode), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// notWritten says of the file that was asked for, and not of the one that was to
// become it, that its folder does not take it.
func notWritten(path string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("%s cannot be written in folder %s: %w", text.Quoted(path), text.Quoted(filepath.Dir(path)), err)
}
