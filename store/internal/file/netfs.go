package file

import (
	"os"

	"golang.org/x/sys/unix"
)

// keepsInodes reports whether the file system of a file keeps the numbers of its inodes. FUSE, 9p,
// FAT and SMB may draw them anew when a file is looked up again.
func keepsInodes(f *os.File) bool {
	var st unix.Statfs_t
	if unix.Fstatfs(int(f.Fd()), &st) != nil {
		return false
	}
	switch uint32(st.Type) {
	case unix.FUSE_SUPER_MAGIC, unix.V9FS_MAGIC, unix.MSDOS_SUPER_MAGIC, unix.EXFAT_SUPER_MAGIC,
		unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC:
		return false
	}
	return true
}

// NetworkFileSystem names the file system of a directory if several machines share it, so that
// locks may not exclude the others. Otherwise it returns "".
func NetworkFileSystem(dir string) string {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return ""
	}
	switch uint32(st.Type) {
	case unix.NFS_SUPER_MAGIC:
		return "NFS"
	case 0x0BD00BD0:
		return "Lustre"
	case unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC:
		return "SMB"
	case 0x47504653:
		return "GPFS"
	case unix.CEPH_SUPER_MAGIC:
		return "Ceph"
	}
	return ""
}
