package file

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	ofdSetLk  = unix.F_OFD_SETLK
	ofdSetLkW = unix.F_OFD_SETLKW
	ofdGetLk  = unix.F_OFD_GETLK
)

// openAgain opens a file that is open already, whatever its name leads to.
func openAgain(f *os.File, flags int, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), flags, mode)
}

func renameAs(from, to string, how renameHow) error {
	flags := [...]uint{replace: 0, noReplace: unix.RENAME_NOREPLACE, exchange: unix.RENAME_EXCHANGE}
	return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, flags[how])
}

// clone lets a file share the blocks of another, if the file system can.
func clone(to, from *os.File) bool { return unix.IoctlFileClone(int(to.Fd()), int(from.Fd())) == nil }

// copyInKernel copies a part of a file. n is 0 without an error if the kernel cannot.
func copyInKernel(to, from *os.File, at, length int64) (n int64, err error) {
	in, out := at, at
	got, err := unix.CopyFileRange(int(from.Fd()), &in, int(to.Fd()), &out, int(length), 0)
	if got > 0 {
		return int64(got), nil
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EIO) {
		return 0, err
	}
	return 0, nil
}

// openNameless makes a file without a name in a folder.
func openNameless(dir string) (*os.File, error) {
	f, err := os.OpenFile(dir, os.O_RDWR|unix.O_TMPFILE, 0o600)
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.EISDIR) {
		return removedTemp(dir)
	}
	return f, err
}

func syncData(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }

// born returns when a file was made, in nanoseconds, or 0 if unknown.
func born(f *os.File) int64 {
	var x unix.Statx_t
	if unix.Statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &x) != nil || x.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return x.Btime.Sec*1e9 + int64(x.Btime.Nsec)
}

// fileSystems are the known kinds, by their magic numbers. The locks of all others are tried.
var fileSystems = map[uint32]fileSystem{
	unix.NFS_SUPER_MAGIC:   {name: "NFS", shared: true},
	0x0BD00BD0:             {name: "Lustre", shared: true},
	unix.SMB_SUPER_MAGIC:   {name: "SMB", shared: true, redraws: true},
	unix.CIFS_SUPER_MAGIC:  {name: "SMB", shared: true, redraws: true},
	unix.SMB2_SUPER_MAGIC:  {name: "SMB", shared: true, redraws: true},
	0x47504653:             {name: "GPFS", shared: true},
	unix.CEPH_SUPER_MAGIC:  {name: "Ceph", shared: true},
	unix.FUSE_SUPER_MAGIC:  {name: "FUSE", layered: true, redraws: true},
	unix.V9FS_MAGIC:        {name: "9p", layered: true, redraws: true},
	unix.MSDOS_SUPER_MAGIC: {name: "FAT", redraws: true},
	unix.EXFAT_SUPER_MAGIC: {name: "exFAT", redraws: true},

	unix.EXT4_SUPER_MAGIC:      {name: "ext4"},
	unix.XFS_SUPER_MAGIC:       {name: "XFS"},
	unix.BTRFS_SUPER_MAGIC:     {name: "Btrfs"},
	unix.F2FS_SUPER_MAGIC:      {name: "F2FS"},
	unix.TMPFS_MAGIC:           {name: "tmpfs"},
	unix.RAMFS_MAGIC:           {name: "ramfs"},
	unix.OVERLAYFS_SUPER_MAGIC: {name: "overlayfs", layers: true},
	0x2FC12FC1:                 {name: "ZFS"},
	0xCA451A4E:                 {name: "bcachefs"},
}

// fileSystemOf returns the kind of a folder's file system, without a name if it is unknown.
func fileSystemOf(dir string) fileSystem {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return fileSystem{}
	}
	return fileSystems[uint32(st.Type)]
}

// fileSystemOfFile returns the kind of a file's file system, without a name if it is unknown.
func fileSystemOfFile(f *os.File) fileSystem {
	var st unix.Statfs_t
	if unix.Fstatfs(int(f.Fd()), &st) != nil {
		return fileSystem{redraws: true}
	}
	return fileSystems[uint32(st.Type)]
}

// keepFromChildren lets processes that are forked not have a mapping: it would hold the file, and the locks
// of its file description.
func keepFromChildren(mapping []byte) error { return unix.Madvise(mapping, unix.MADV_DONTFORK) }

// pathOf returns the path of an open file.
func pathOf(f *os.File) (string, error) {
	path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil { // there is no /proc
		return realPath(f.Name())
	}
	return path, nil
}
