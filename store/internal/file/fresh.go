package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A new file is made beside its final name, synced and renamed: a file of that name is whole or not
// there, whenever the work is interrupted. A leftover has a name that says so and no lock; the next
// process that makes a file of that name removes it.

// litterAge is how long a file beside a name has to have lain still before it is taken to
// be left behind: whoever makes one locks it a moment after.
const litterAge = 10 * time.Second

// Fresh makes a file that is not there yet: make fills the one that is to become it. It
// fails with ErrExists when there is one, and never replaces it.
func Fresh(path string, make func(tmp string) error) error {
	if err := vacant(path); err != nil {
		return err
	}
	return beside(path, make, func(tmp string) error {
		err := rename(tmp, path, unix.RENAME_NOREPLACE)
		if cannot(err) {
			err = os.Link(tmp, path)
		}
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s: %w", path, ErrExists)
		}
		return err
	})
}

// Trial makes a file as Fresh does, in the same folder, and forgets it.
func Trial(path string, make func(tmp string) error) error {
	if err := vacant(path); err != nil {
		return err
	}
	return beside(path, make, os.Remove)
}

// vacant is ErrExists where a name is taken.
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

// beside makes a file beside a name, syncs it, and lets take give it its own.
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
	if err := take(tmp.Name()); err != nil {
		return err
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("%w: %s was made, and its name may not be on disk: %v", ErrUnknown, path, err)
	}
	return nil
}

// rename gives a file another name; how is one of unix.RENAME_*.
func rename(from, to string, how uint) error {
	return calls.Do(Operation{Kind: "rename", Path: to}, func() error {
		return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, how)
	})
}

// cannot reports whether a file system has no such kind of rename.
func cannot(err error) bool { return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) }

// litterOf returns how the files are called that are to become one.
func litterOf(path string) string { return "." + filepath.Base(path) + ".new-*" }

// litterName is what litterOf makes, and the lock file of that.
var litterName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.(.+)\.new-[0-9]+(\.lock|-lock)?$`) })

// sweep removes what runs that were cut off have left in a folder, of any name there: a backup
// may be called otherwise each day. A name that is not path's is only ours if its content
// is, or it is empty. What cannot be removed stays.
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
	if info.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) {
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

// abandoned reports whether no process works on a file: one that does has locked it.
func abandoned(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}

// notMade says of a file, and not of the one that was to become it, that its
// folder does not take it.
func notMade(path string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("%s cannot be made in folder %s: %w", path, filepath.Dir(path), err)
}

// noRoom says of a full disk how much there is.
func noRoom(path string, err error) error {
	var disk unix.Statfs_t
	if !errors.Is(err, unix.ENOSPC) || unix.Statfs(filepath.Dir(path), &disk) != nil {
		return err
	}
	return fmt.Errorf("%w; %d KiB are free there", notMade(path, err), disk.Bavail*uint64(disk.Bsize)>>10)
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

// takeAfter gives a file the mode of the one whose place it takes and, where that is
// allowed, its owner and group.
func takeAfter(path string, old os.FileInfo) error {
	if is, ok := old.Sys().(*syscall.Stat_t); ok {
		if os.Chown(path, int(is.Uid), int(is.Gid)) != nil {
			_ = os.Chown(path, -1, int(is.Gid)) // members of the group may
		}
	}
	return os.Chmod(path, old.Mode().Perm())
}

// Renew makes a database again and puts it in the place of the one that is there, if any.
func Renew(path string, fill func(tmp string) error) error {
	return beside(path, empty(fill), func(tmp string) error { return rename(tmp, path, 0) })
}

// Rewrite makes a file again and puts it in the place of the one that is there: was, which
// is nil if there is none.
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
	}, func(tmp string) error { return rename(tmp, path, 0) })
}
