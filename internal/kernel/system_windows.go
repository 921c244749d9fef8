package kernel

import (
	"errors"
	"io/fs"
)

// ownerOf knows no uids here.
func ownerOf(fs.FileInfo) (uint32, error) { return 0, errors.ErrUnsupported }
