//go:build !linux

package file

import (
	"errors"
	"os"
)

// openAgain opens a file that is open already, by its name.
func openAgain(f *os.File, flags int, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(f.Name(), flags, mode)
}

// clone and copyInKernel leave the work to io.Copy.
func clone(_, _ *os.File) bool                                    { return false }
func copyInKernel(_, _ *os.File, _, _ int64) (n int64, err error) { return 0, nil }

func syncData(f *os.File) error { return f.Sync() }

// openNameless makes a file without a name in a folder.
func openNameless(dir string) (*os.File, error) { return removedTemp(dir) }

// born does not know when a file was made.
func born(*os.File) int64 { return 0 }

// pathOf returns the path of an open file.
func pathOf(f *os.File) (string, error) { return realPath(f.Name()) }

// fileSystemOf knows no kinds: the locks of all are tried, and inodes are taken to keep their numbers.
func fileSystemOf(string) fileSystem       { return fileSystem{} }
func fileSystemOfFile(*os.File) fileSystem { return fileSystem{} }

func keepFromChildren([]byte) error { return errors.ErrUnsupported }
