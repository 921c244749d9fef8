package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/store"
)

// writeFile writes an answer into the file that a flag names, standard output for "-".
// The flag may not name a database.
func (r *runner) writeFile(flag, path string, data []byte) error {
	if path == "-" {
		return r.answer(data)
	}
	if err := r.notDatabase("--"+flag, path); err != nil {
		return usagef("%w", err)
	}
	return replaceFile(path, data)
}

// answer writes an answer that needs no printer.
func (r *runner) answer(data []byte) error {
	if _, err := r.stdout.Write(data); err != nil {
		return fmt.Errorf("the answer could not be written: %w", err)
	}
	return nil
}

// notDatabase refuses to write over a database: ours, its lock, or any other.
func (r *runner) notDatabase(flag, path string) error {
	there, err := os.Stat(path)
	if err != nil {
		return nil
	}
	for _, ours := range []string{r.DB, r.DB + ".lock"} {
		if info, err := os.Stat(ours); err == nil && os.SameFile(info, there) {
			return fmt.Errorf("%s %s would write over the database", flag, spell.Quoted(path))
		}
	}
	if there.Mode().IsRegular() {
		if _, err := store.Open(path, nil); err == nil {
			return fmt.Errorf("%s %s would write over a database", flag, spell.Quoted(path))
		}
	}
	return nil
}

// replaceFile puts data into a file, whole or not at all: it is written beside
// the name and then renamed. A link keeps pointing to where it does, a file
// keeps its mode, and what is no file (a pipe, /dev/stdout) is written to.
func replaceFile(path string, data []byte) (err error) {
	mode := fs.FileMode(0o644)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	switch info, err := os.Stat(path); {
	case err == nil && info.Mode().IsRegular():
		mode = info.Mode().Perm()
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
	return fmt.Errorf("%s cannot be written in folder %s: %w", spell.Quoted(path), spell.Quoted(filepath.Dir(path)), err)
}
