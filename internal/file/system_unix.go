//go:build unix

package file

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// status is what the system tells of a file.
type status struct {
	uid, gid int
	links    int
	inode    uint64
}

func statusOf(info fs.FileInfo) status {
	is, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return status{uid: -1, gid: -1, links: 1}
	}
	return status{uid: int(is.Uid), gid: int(is.Gid), links: int(is.Nlink), inode: is.Ino}
}

// identify returns what tells a file from all others.
func identify(_ *os.File, info fs.FileInfo) (device, inode uint64) {
	is := info.Sys().(*syscall.Stat_t)
	return uint64(is.Dev), is.Ino
}

// permissions returns the mode bits that say who may do what with a file.
func permissions(info fs.FileInfo) fs.FileMode { return info.Mode().Perm() }

// syncFolder writes the names in a folder to disk.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func isLoop(err error) bool     { return errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EMLINK) }
func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }
func isLocked(err error) bool {
	return errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EACCES)
}
func isFull(err error) bool     { return errors.Is(err, syscall.ENOSPC) }
func isNoFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// cannot reports whether a file system does not support a kind of rename.
func cannot(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP)
}

func openNoFollow(path string, flags int) (*os.File, error) {
	fd, err := syscall.Open(path, flags|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o600)
	for err == syscall.EINTR { // some network file systems do that
		fd, err = syscall.Open(path, flags|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o600)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// lockWhole takes bbolt's own lock.
func lockWhole(f *os.File, how lockHow) error {
	kind := unix.LOCK_EX
	if how == forReading {
		kind = unix.LOCK_SH
	}
	return unix.Flock(int(f.Fd()), kind|unix.LOCK_NB)
}

func unlockWhole(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

func freeBytes(dir string) (n uint64, known bool) {
	var disk unix.Statfs_t
	if unix.Statfs(dir, &disk) != nil {
		return 0, false
	}
	return uint64(disk.Bavail) * uint64(disk.Bsize), true
}

// ofAnother reports whether a process exists that we may not signal.
func ofAnother(pid int) bool { return syscall.Kill(pid, 0) == syscall.EPERM }

// mapFixed maps the beginning of a file to an address at which something is mapped.
func mapFixed(at uintptr, length int64, f *os.File) error {
	_, _, errno := syscall.Syscall6(syscall.SYS_MMAP, at, uintptr(length), syscall.PROT_READ,
		syscall.MAP_SHARED|syscall.MAP_FIXED, f.Fd(), 0)
	if errno != 0 {
		return errno
	}
	return nil
}
