package detect

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// Here is the machine that this runs on; run starts programs.
func Here(run func(words ...string) (string, error)) *Source {
	return &Source{Root: os.DirFS("/"), Run: run, Free: freeSpace}
}

// Recorded is a tree of files that were copied from a machine: sys, proc, and in the folder
// run what programs have printed there, in files called after their words joined by _, such
// as nvidia-smi_-L.
func Recorded(dir string) *Source {
	root := os.DirFS(dir)
	return &Source{Root: root, Run: func(words ...string) (string, error) {
		b, err := fs.ReadFile(root, "run/"+strings.ReplaceAll(strings.Join(words, "_"), "/", "_"))
		return string(b), err
	}}
}

// The file systems that are not of this machine, or not of any: NFS, SMB, CIFS, FUSE, Lustre, and
// overlays, which are a container's.
var elsewhere = map[int64]bool{0x6969: true, 0x517b: true, 0xff534d42: true, 0xfe534d42: true, 0x65735546: true, 0x0bd00bd0: true, 0x794c7630: true}

// freeSpace is the free space of a file system of this machine, in kb. It is in whole GiB if there
// is at least one, so that the node does not change with every look.
func freeSpace(dir string) int64 {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil || elsewhere[int64(s.Type)&0xffffffff] {
		return 0
	}
	return wholeGiB(int64(s.Bavail) * int64(s.Bsize) / 1024)
}

func wholeGiB(kb int64) int64 {
	const gib = 1 << 20
	if kb < gib {
		return kb
	}
	return kb / gib * gib
}
