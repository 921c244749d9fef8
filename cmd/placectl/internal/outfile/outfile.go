// Package outfile writes files that the user names, completely or not at all.
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

// Replace replaces the content of a file, completely or not at all: it writes a new file beside it and
// renames that. A symbolic link keeps its target, and a file its mode. What is no regular file, such as a
// pipe or /dev/stdout, is written to.
func Replace(path string, data []byte) error { return replace(path, data, 0) }

// ReplaceAs is Replace, but also sets the file's mode.
func ReplaceAs(path string, data []byte, mode fs.FileMode) error { return replace(path, data, mode) }

// replace replaces a file. A mode of 0 keeps that of the file.
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

// notWritten says that the file's folder is not writable, with the name of the requested file and not
// that of the temporary one.
func notWritten(path string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("%s cannot be written in folder %s: %w", text.Quoted(path), text.Quoted(filepath.Dir(path)), err)
}
