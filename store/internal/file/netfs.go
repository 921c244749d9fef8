package file

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// networkFileSystem names the file system that a file lies on when its locks
// may not exclude other machines, else "".
func networkFileSystem(path string) string {
	var st unix.Statfs_t
	if unix.Statfs(filepath.Dir(path), &st) != nil {
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
