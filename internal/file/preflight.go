package file

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/placectl/placectl/internal/row"
)

// bbolt trusts the file that it maps, and a truncated one ends the process. So the file is
// checked before bbolt opens it: what kind of file it is, whether one of the two meta pages is
// whole, and whether the pages that it refers to exist.

// Layout of a bbolt meta page (go.etcd.io/bbolt internal/common).
const (
	boltMagic      = 0xED0CDAED
	pageHeaderSize = 16
	metaSize       = 64
	metaFlag       = 0x04
)

// looks is how often meta pages are read before one counts as invalid.
const looks = 3

// preflight refuses files that are truncated or not databases. It warns of a file that is
// usable but may have lost its newest transaction. It needs no lock: if others commit
// meanwhile, it reads a half-written meta page again.
func preflight(path string) (warning string, err error) {
	f, err := openData(path, false)
	if err != nil {
		return "", err
	}
	defer f.Close()
	for range looks {
		found, _, err := preflightMetas(f)
		if warning = found.warning(f); err != nil || warning == "" {
			return "", err
		}
	}
	return warning, nil
}

// openData opens a database file if that is safe: if it is neither a link nor writable by all.
func openData(path string, write bool) (f *os.File, err error) {
	if info, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, noDatabase(path)
	} else if err != nil {
		return nil, err
	} else if err := safe(path, info); err != nil {
		return nil, err
	}
	flags := os.O_RDONLY
	if write {
		flags = os.O_RDWR
	}
	f, err = openFile(path, flags)
	if isLoop(err) {
		return nil, isLink(path)
	}
	return f, err
}

func noDatabase(path string) error {
	return fmt.Errorf("there is no database %s; make one with placectl init%w", path, Wordless(ErrNoDatabase))
}

func isLink(path string) error {
	return fmt.Errorf("%w: %s is a symbolic link; name the file itself", ErrUnsafe, path)
}

// safe refuses files that others may have put in place of a database.
func safe(path string, info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return isLink(path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: %s is not a regular file", ErrNotOurs, path)
	case permissions(info)&0o002 != 0:
		return fmt.Errorf("%w: %s may be written by everybody; chmod o-w it if you trust its contents", ErrUnsafe, path)
	case statusOf(info).links > 1 && !ownFolder(path):
		return fmt.Errorf("%w: %s is a hard link to a file with other names, in a folder that others may write: it "+
			"may be theirs; copy it if you trust its contents", ErrUnsafe, path)
	}
	return nil
}

// preflightFile refuses files that bbolt must not map or, for a writer, write to.
func preflightFile(f *os.File, write bool) (fs.FileInfo, error) {
	found, info, err := preflightMetas(f)
	if err != nil {
		return nil, err
	}
	newest := found.newest()
	if err = preflightRoot(f, newest.pageSize, newest.root, newest.pages, 0); err == nil && write {
		err = preflightFree(f, newest)
	}
	return info, err
}

// pageSize finds the page size of a file, from a whole meta page.
func pageSize(f *os.File) (int64, error) {
	head := make([]byte, pageHeaderSize+metaSize)
	switch err := readAt(f, head, 0); {
	case errors.Is(err, io.EOF):
		return 0, fmt.Errorf("%w: %s is too short", ErrNotOurs, f.Name())
	case err != nil:
		return 0, err
	}
	m, ok := parseMeta(head)
	if (ok || binary.NativeEndian.Uint32(head[pageHeaderSize:]) == boltMagic) && m.pageSize >= 512 &&
		m.pageSize <= 1<<20 {
		return m.pageSize, nil
	}
	return pageSizeOfSecond(f)
}

// pageSizeOfSecond looks for the second meta page if the first does not tell the page size.
func pageSizeOfSecond(f *os.File) (int64, error) {
	b := make([]byte, pageHeaderSize+metaSize)
	for size := int64(1024); size <= 64<<10; size *= 2 {
		if err := readAt(f, b, size); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return 0, err
		}
		if m, ok := parseMeta(b); ok && m.pageSize == size {
			return size, nil
		}
	}
	return 0, fmt.Errorf("%w: %s has no valid meta page", ErrNotOurs, f.Name())
}

// metaPage holds the fields of a valid meta page.
type metaPage struct {
	transaction uint64
	root, pages uint64 // the page of tables, and the number of pages
	freelist    uint64 // the page that lists free pages
	pageSize    int64
	at          int64 // its offset in the file
}

type metaPages []metaPage

// newest returns the meta page that counts.
func (found metaPages) newest() metaPage {
	return slices.MaxFunc(found, func(a, b metaPage) int { return cmp.Compare(a.transaction, b.transaction) })
}

// validMetas returns the meta pages that are whole.
func validMetas(f *os.File) (found metaPages, err error) {
	size, err := pageSize(f)
	if err != nil {
		return nil, err
	}
	for i := range int64(2) {
		b := make([]byte, pageHeaderSize+metaSize)
		switch err := readAt(f, b, i*size); {
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("%w: %s is cut off in its meta pages", row.ErrDamaged, f.Name())
		case err != nil:
			return nil, err
		}
		if m, ok := parseMeta(b); ok && m.pageSize == size {
			m.at = i * size
			found = append(found, m)
		}
	}
	return found, nil
}

func noMeta(f *os.File) error {
	return fmt.Errorf("%w: neither meta page of %s is valid", row.ErrDamaged, f.Name())
}

// warning says what is wrong with a file that can be used.
func (found metaPages) warning(f *os.File) string {
	if len(found) != 1 {
		return ""
	}
	return fmt.Sprintf("one of the two meta pages of %s is not valid: it was cut short in a commit, or damaged "+
		"since; the newest transaction may be missing", f.Name())
}

// preflightMetas checks that the pages of every valid meta page are in the file. It reads the
// file's size afterwards, because a file may grow meanwhile, and then its meta pages refer to
// the new size.
func preflightMetas(f *os.File) (found metaPages, info fs.FileInfo, err error) {
	if found, err = validMetas(f); err != nil {
		return nil, nil, err
	}
	if len(found) == 0 {
		return nil, nil, noMeta(f)
	}
	if info, err = f.Stat(); err != nil {
		return nil, nil, err
	}
	for _, m := range found {
		if size := info.Size(); m.pages > uint64(size/m.pageSize) {
			return nil, nil, fmt.Errorf("%w: %s is cut off: it has %d bytes and should have at least %d",
				row.ErrDamaged, f.Name(), size, m.pages*uint64(m.pageSize))
		}
	}
	return found, info, nil
}

// parseMeta reads a meta page. ok is false if the magic or the checksum is wrong.
func parseMeta(b []byte) (m metaPage, ok bool) {
	meta := b[pageHeaderSize:]
	sum := fnv.New64a()
	sum.Write(meta[:metaSize-8])
	ok = binary.NativeEndian.Uint32(meta) == boltMagic &&
		binary.NativeEndian.Uint16(b[8:])&metaFlag != 0 &&
		binary.NativeEndian.Uint64(meta[metaSize-8:]) == sum.Sum64()
	return metaPage{
		transaction: binary.NativeEndian.Uint64(meta[48:]),
		root:        binary.NativeEndian.Uint64(meta[16:]),
		freelist:    binary.NativeEndian.Uint64(meta[32:]),
		pages:       binary.NativeEndian.Uint64(meta[40:]),
		pageSize:    int64(binary.NativeEndian.Uint32(meta[8:])),
	}, ok
}

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
