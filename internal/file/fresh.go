package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"
)

// A new file is made beside its final name, synced and renamed. So a file with that name is
// complete or does not exist, whenever the work is interrupted. A leftover is recognised by
// its name and has no lock. The next process that makes a file of that name removes it.

// litterAge is how long a file beside a name must be unchanged before it counts as a leftover,
// because a process locks such a file only a moment after making it.
const litterAge = 10 * time.Second

// Fresh makes a new file: make fills a temporary one, which then gets the name. It fails with
// ErrExists if a file has the name, and never replaces it.
func Fresh(path string, make func(tmp string) error) error {
	if err := vacant(path); err != nil {
		return err
	}
	return beside(path, make, func(tmp string) error {
		err := rename(tmp, path, noReplace)
		if cannot(err) {
			err = os.Link(tmp, path)
		}
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s: %w", path, ErrExists)
		}
		return err
	})
}

// Trial makes a file as Fresh does, in the same folder, and deletes it.
func Trial(path string, make func(tmp string) error) error {
	if err := vacant(path); err != nil {
		return err
	}
	return beside(path, make, os.Remove)
}

// vacant returns ErrExists if a name is taken.
func vacant(path string) error {
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return fmt.Errorf("%s: %w", path, ErrExists)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// beside makes a file beside a name, syncs it, and calls take to give it its name.
func beside(path string, make, take func(tmp string) error) error {
	sweep(path)
	tmp, err := os.CreateTemp(filepath.Dir(path), litterOf(path))
	if err != nil {
		return notMade(path, err)
	}
	defer os.Remove(tmp.Name())
	defer os.Remove(lockPath(tmp.Name()))
	defer tmp.Close()
	if err := make(tmp.Name()); err != nil {
		return noRoom(path, err)
	}
	if err := calls.Do(Operation{Kind: "sync", Path: tmp.Name()}, tmp.Sync); err != nil {
		return noRoom(path, err)
	}
	if err := tmp.Close(); err != nil { // an open file cannot be renamed everywhere
		return noRoom(path, err)
	}
	if err := take(tmp.Name()); err != nil {
		return err
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("%w: %s was made, and its name may not be on disk: %v", ErrUnknown, path, err)
	}
	return nil
}

// renameHow is a kind of rename.
type renameHow int

const (
	replace   renameHow = iota // what has the name, if anything
	noReplace                  // fail if something has it
	exchange                   // the two files exchange their names
)

// rename gives a file another name.
func rename(from, to string, how renameHow) error {
	return calls.Do(Operation{Kind: "rename", Path: to}, func() error { return renameAs(from, to, how) })
}

// litterOf returns the pattern of names for temporary files that become a file.
func litterOf(path string) string { return "." + filepath.Base(path) + ".new-*" }

// litterName matches names by litterOf, and their lock files.
var litterName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\.(.+)\.new-[0-9]+(\.lock|-lock)?$`)
})

// sweep removes the leftovers of interrupted runs in a folder, for any name there, because a
// backup may have another name each day. A leftover of another name than path's is only
// removed if its content is ours or it is empty. Files that cannot be removed stay.
func sweep(path string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return
	}
	for _, e := range entries {
		parts := litterName().FindStringSubmatch(e.Name())
		if parts == nil {
			continue
		}
		name := filepath.Join(filepath.Dir(path), e.Name())
		info, err := os.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) <= litterAge || !abandoned(name) {
			continue
		}
		if parts[1] == filepath.Base(path) || info.Size() == 0 || isLitter(name, info) {
			os.Remove(name)
		}
	}
}

// isLitter reports whether a file is this user's, and a database or the beginning of one.
func isLitter(name string, info fs.FileInfo) bool {
	if statusOf(info).uid != os.Geteuid() {
		return false
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = pageSize(f)
	return err == nil
}

// abandoned reports whether no process works on a file. Such a process would have locked it.
func abandoned(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	return lockWhole(f, forWriting) == nil
}

// notMade returns the error that a folder does not accept a file, with the final name instead
// of the temporary one.
func notMade(path string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("%s cannot be made in folder %s: %w", path, filepath.Dir(path), err)
}

// noRoom adds to the error of a full disk how much room there is.
func noRoom(path string, err error) error {
	free, known := freeBytes(filepath.Dir(path))
	if !isFull(err) || !known {
		return err
	}
	return fmt.Errorf("%w; %d KiB are free there", notMade(path, err), free>>10)
}

// Watch receives the progress of a long operation: n more bytes or rows. Its error ends the
// operation. It may be nil.
type Watch func(n int64) error

func (w Watch) more(n int64) error {
	if w == nil {
		return nil
	}
	return w(n)
}

// takeAfter gives a file the mode of the one that it replaces and, if permitted, its owner and
// group.
func takeAfter(path string, old os.FileInfo) error {
	if is := statusOf(old); os.Chown(path, is.uid, is.gid) != nil {
		_ = os.Chown(path, -1, is.gid) // members of the group may change the group only
	}
	return os.Chmod(path, old.Mode().Perm())
}

// Rewrite makes a file, and replaces the existing one, was, which is nil if there is none.
func Rewrite(path string, fill func(was, tmp *os.File) error) error {
	was, err := openFile(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		was = nil
	} else if err != nil {
		return err
	} else {
		defer was.Close()
	}
	return beside(path, func(name string) error {
		tmp, err := openFile(name, os.O_RDWR)
		if err != nil {
			return err
		}
		return errors.Join(fill(was, tmp), tmp.Close())
	}, func(tmp string) error { return rename(tmp, path, replace) })
}
