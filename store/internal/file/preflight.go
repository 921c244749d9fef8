package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"

	"github.com/placectl/placectl/store/internal/row"
)

// bbolt trusts the file it maps: a truncated one ends the process. So the file
// is looked at before bbolt opens it: what kind of file it is, whether one of
// the two meta pages is whole, and whether the pages it speaks of are there.

// Layout of a bbolt meta page (go.etcd.io/bbolt internal/common).
const (
	boltMagic      = 0xED0CDAED
	pageHeaderSize = 16
	metaSize       = 64
	metaFlag       = 0x04
)

// preflight refuses files that are unsafe to map. It warns of a file that can be
// used but may have lost its newest transaction.
func preflight(path string) (warning string, err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no database %s; make one with placectl init%w", path, Wordless(row.ErrNotFound))
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink != 0:
		return "", fmt.Errorf("%w: %s is a symbolic link; name the file itself", ErrUnsafe, path)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%w: %s is not a regular file", ErrNotOurs, path)
	case info.Mode().Perm()&0o002 != 0:
		return "", fmt.Errorf("%w: %s may be written by everybody; chmod o-w it if you trust what it holds", ErrUnsafe, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return preflightPages(f, info.Size())
}

func preflightPages(f *os.File, size int64) (string, error) {
	head := make([]byte, pageHeaderSize+metaSize)
	if _, err := f.ReadAt(head, 0); err != nil {
		return "", fmt.Errorf("%w: %s is too short", ErrNotOurs, f.Name())
	}
	if _, _, ok := parseMeta(head); !ok && binary.NativeEndian.Uint32(head[pageHeaderSize:]) != boltMagic {
		return preflightSecond(f, size)
	}
	pageSize := int64(binary.NativeEndian.Uint32(head[pageHeaderSize+8:]))
	if pageSize < 512 || pageSize > 1<<20 {
		return preflightSecond(f, size)
	}
	return preflightMetas(f, size, pageSize)
}

// preflightSecond looks for the second meta page where the first does not tell
// the page size.
func preflightSecond(f *os.File, size int64) (string, error) {
	for pageSize := int64(1024); pageSize <= 64<<10; pageSize *= 2 {
		b := make([]byte, pageHeaderSize+metaSize)
		if _, err := f.ReadAt(b, pageSize); err != nil {
			break
		}
		if _, at, ok := parseMeta(b); ok && at == pageSize {
			return preflightMetas(f, size, pageSize)
		}
	}
	return "", fmt.Errorf("%w: %s has no valid meta page", ErrNotOurs, f.Name())
}

// preflightMetas checks that the pages of every valid meta are in the file.
func preflightMetas(f *os.File, size, pageSize int64) (string, error) {
	valid := 0
	var newest, root, count uint64
	for i := range int64(2) {
		b := make([]byte, pageHeaderSize+metaSize)
		if _, err := f.ReadAt(b, i*pageSize); err != nil {
			return "", fmt.Errorf("%w: %s is cut off in its meta pages", row.ErrDamaged, f.Name())
		}
		pages, at, ok := parseMeta(b)
		if !ok || at != pageSize {
			continue
		}
		valid++
		if pages > uint64(size/pageSize) {
			return "", fmt.Errorf("%w: %s is cut off: it has %d bytes and should have at least %d",
				row.ErrDamaged, f.Name(), size, pages*uint64(pageSize))
		}
		if tx := binary.NativeEndian.Uint64(b[pageHeaderSize+48:]); valid == 1 || tx > newest {
			newest, root, count = tx, binary.NativeEndian.Uint64(b[pageHeaderSize+16:]), pages
		}
	}
	if valid > 0 {
		if err := preflightRoot(f, pageSize, root, count, 0); err != nil {
			return "", err
		}
	}
	switch valid {
	case 0:
		return "", fmt.Errorf("%w: neither meta page of %s is valid", row.ErrDamaged, f.Name())
	case 1:
		return fmt.Sprintf("one of the two meta pages of %s is not valid: it was cut short in a commit, or damaged since; the newest transaction may be missing", f.Name()), nil
	}
	return "", nil
}

// parseMeta reads a meta page: how many pages the file has, and their size. It
// is not ok when the magic or the checksum is wrong.
func parseMeta(b []byte) (pages uint64, pageSize int64, ok bool) {
	meta := b[pageHeaderSize:]
	sum := fnv.New64a()
	sum.Write(meta[:metaSize-8])
	ok = binary.NativeEndian.Uint32(meta) == boltMagic &&
		binary.NativeEndian.Uint16(b[8:])&metaFlag != 0 &&
		binary.NativeEndian.Uint64(meta[metaSize-8:]) == sum.Sum64()
	return binary.NativeEndian.Uint64(meta[40:]), int64(binary.NativeEndian.Uint32(meta[8:])), ok
}
