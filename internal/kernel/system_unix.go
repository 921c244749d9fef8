//go:build unix

package kernel

import (
	"errors"
	"io/fs"
	"syscall"
)

// ownerOf returns the uid of a file's owner.
func ownerOf(info fs.FileInfo) (uint32, error) {
	is, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	return is.Uid, nil
}
