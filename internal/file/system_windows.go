package file

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

type status struct {
	uid, gid int
	links    int
	inode    uint64
}

// statusOf knows no owners: access lists protect files here.
func statusOf(fs.FileInfo) status { return status{uid: os.Geteuid(), gid: os.Getegid(), links: 1} }

// permissions are in access lists, and not examined.
func permissions(fs.FileInfo) fs.FileMode { return 0o600 }

// syncFolder does nothing: the file system's own log has the names.
func syncFolder(string) error { return nil }

func isLoop(error) bool         { return false }
func isReadOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }
func isLocked(err error) bool   { return errors.Is(err, windows.ERROR_LOCK_VIOLATION) }
func isFull(err error) bool     { return errors.Is(err, windows.ERROR_DISK_FULL) }
func isNoFolder(err error) bool { return errors.Is(err, windows.ERROR_PATH_NOT_FOUND) }
func cannot(err error) bool     { return errors.Is(err, errors.ErrUnsupported) }

func openNoFollow(path string, flags int) (*os.File, error) { return os.OpenFile(path, flags, 0o600) }

// bbolt locks a byte at the end of the space of offsets.
func lockWhole(f *os.File, how lockHow) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if how == forWriting {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0,
		&windows.Overlapped{Offset: ^uint32(0), OffsetHigh: ^uint32(0)})
}

func unlockWhole(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0,
		&windows.Overlapped{Offset: ^uint32(0), OffsetHigh: ^uint32(0)})
}

// lockBase keeps locked bytes away from the text of the lock file: here a lock forbids access.
const lockBase = 1 << 30

func lockByte(f *os.File, how lockHow, at int64, wait bool) error {
	where := &windows.Overlapped{Offset: lockBase + uint32(at)}
	if how == unlocked {
		return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, where)
	}
	// A lock is not converted: the former one goes first, and another process may come between.
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{Offset: lockBase + uint32(at)})
	var flags uint32
	if how == forWriting {
		flags = windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	if !wait {
		flags |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, where)
}

func byteLocked(f *os.File, at int64) bool {
	probe, err := os.OpenFile(f.Name(), os.O_RDWR, 0)
	if err != nil {
		return true
	}
	defer probe.Close()
	return lockByte(probe, forWriting, at, false) != nil
}

func unlockBytes(*os.File) error { return nil } // closing it does

func freeBytes(dir string) (n uint64, known bool) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	return n, windows.GetDiskFreeSpaceEx(name, &n, nil, nil) == nil
}

func ofAnother(int) bool { return false }

// mapFixed cannot exchange a mapping for another: long reads keep writers waiting.
func mapFixed(uintptr, int64, *os.File) error { return errors.ErrUnsupported }

func renameAs(from, to string, how renameHow) error {
	if how == replace {
		return os.Rename(from, to)
	}
	if how == exchange {
		return errors.ErrUnsupported
	}
	a, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	b, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	return windows.MoveFileEx(a, b, 0) // without MOVEFILE_REPLACE_EXISTING it fails if the name is taken
}

func identify(f *os.File, _ fs.FileInfo) (device, inode uint64) {
	var is windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &is) != nil {
		return 0, 0
	}
	return uint64(is.VolumeSerialNumber), uint64(is.FileIndexHigh)<<32 | uint64(is.FileIndexLow)
}
