package detect

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// Here returns the machine that this process runs on. run starts programs.
func Here(run func(words ...string) (string, error)) *Source {
	return &Source{Root: os.DirFS("/"), Run: run, Free: freeSpace}
}

// Recorded returns a tree of files copied from a machine: sys, proc, and the folder run with the output
// of programs. A file there is named after its program's words joined by _, such as nvidia-smi_-L.
func Recorded(dir string) *Source {
	root := os.DirFS(dir)
	return &Source{Root: root, Run: func(words ...string) (string, error) {
		b, err := fs.ReadFile(root, "run/"+strings.ReplaceAll(strings.Join(words, "_"), "/", "_"))
		return string(b), err
	}}
}

// File systems that are not on this machine, or on none: NFS, SMB, CIFS, FUSE, Lustre, and overlays,
// which belong to containers.
var elsewhere = map[int64]bool{0x6969: true, 0x517b: true, 0xff534d42: true, 0xfe534d42: true, 0x65735546: true,
	0x0bd00bd0: true, 0x794c7630: true}

// freeSpace returns the free space of a local file system in kB. From 1 GiB on it is in whole GiB, so
// that the node does not change with every detection.
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
