package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/placectl/placectl/internal/row"
)

// SupplantOptions configure Supplant.
type SupplantOptions struct {
	LockTimeout time.Duration // how long to wait for the existing database
	DryRun      bool          // do everything but the last step
	Watch       Watch
}

// Supplant replaces a database with a copy of a backup, once finish has prepared the copy. It keeps
// an existing database under the name that it passes to finish and returns, or "" if there was
// none. It holds the lock, so no other process uses the database meanwhile.
func Supplant(path, backup string, opt SupplantOptions, finish func(tmp string, c Content, kept string) error) (
	kept string, err error) {
	if err := distinct(path, backup); err != nil {
		return "", err
	}
	source, err := Open(backup, Options{LockTimeout: opt.LockTimeout})
	if err != nil {
		return "", err
	}
	fill := func(tmp string) error {
		content, err := source.CopyTo(tmp, opt.Watch)
		if err != nil {
			return err
		}
		return finish(tmp, content, kept)
	}
	old, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if opt.DryRun {
			return "", Trial(path, fill)
		}
		return "", Fresh(path, fill)
	case err != nil:
		return "", err
	}
	if err := looksOurs(path, old); err != nil {
		return "", err
	}
	lock, err := acquire(context.Background(), path, writing, opt.LockTimeout)
	if err != nil {
		return "", err
	}
	defer lock.release() //nolint:errcheck // what was done is done
	if opt.DryRun {
		return "", beside(path, fill, os.Remove)
	}
	if kept, err = nameAside(path); err != nil {
		return "", err
	}
	return kept, keepAside(path, kept, old, fill)
}

// distinct refuses a database and a backup that are the same file.
func distinct(path, backup string) error {
	a, err := os.Stat(path)
	if err != nil {
		return nil
	}
	if b, err := os.Stat(backup); err == nil && os.SameFile(a, b) {
		return fmt.Errorf("%s and %s are the same file%w", path, backup, Wordless(row.ErrConflict))
	}
	return nil
}

// looksOurs refuses to replace a file that is not a database. It may be damaged.
func looksOurs(path string, info fs.FileInfo) error {
	_, err := preflight(path)
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: %s is not a regular file", ErrNotOurs, path)
	case errors.Is(err, ErrNotOurs):
		return fmt.Errorf("%w; if it was one, give it another name, and restore again", err)
	}
	return nil
}

// keepAside replaces the file at path by a new one. The old one gets the name aside.
func keepAside(path, aside string, old fs.FileInfo, fill func(tmp string) error) error {
	return beside(path, func(tmp string) error {
		if err := fill(tmp); err != nil {
			return err
		}
		return takeAfter(tmp, old)
	}, func(tmp string) error { return swap(tmp, path, aside) })
}

// swap gives a file the name of another, and that one an unused name. If it is interrupted,
// both exist under two of these names.
func swap(tmp, path, aside string) (err error) {
	if err = rename(tmp, aside, noReplace); err == nil {
		if err = rename(aside, path, exchange); err == nil {
			return nil
		}
		if err := rename(aside, tmp, noReplace); err != nil {
			return err
		}
	}
	if !cannot(err) {
		return err
	}
	if err := os.Link(path, aside); err != nil {
		return fmt.Errorf("the database that is there cannot be kept: %w; give it another name, and do it again", err)
	}
	return rename(tmp, path, replace)
}

// nameAside finds an unused name for the file at a path.
func nameAside(path string) (string, error) {
	for n := 1; ; n++ {
		aside := fmt.Sprintf("%s.replaced-%d", path, n)
		if _, err := os.Lstat(aside); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return aside, err
		}
	}
}
