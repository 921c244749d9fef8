package file

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Others says why a user other than the caller or root may have written the file or put it
// there, or returns "" if none could.
func Others(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return err.Error()
	}
	for _, name := range []string{path, filepath.Dir(path)} {
		info, err := os.Stat(name)
		if err != nil {
			return err.Error()
		}
		if !ours(info) {
			return fmt.Sprintf("%s belongs to another user", name)
		}
		if permissions(info)&0o022 != 0 {
			return fmt.Sprintf("others may write %s", name)
		}
	}
	return ""
}

// ours reports whether a file or folder belongs to us or to root.
func ours(info fs.FileInfo) bool {
	owner := statusOf(info).uid
	return owner == 0 || owner == os.Geteuid()
}

// ownFolder reports whether only we and root may create names in a file's folder.
func ownFolder(path string) bool {
	info, err := os.Stat(filepath.Dir(path))
	return err == nil && ours(info) && permissions(info)&0o022 == 0
}
