package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/placectl/placectl/internal/row"
)

// Small tables are inline in the page that lists the tables, and bbolt copies an unaligned
// inline page to the heap. A wrong offset in it then leads into other memory of the process,
// which our checksums do not find in time. So that page is checked before bbolt opens it:
// nothing in it may lie outside of it.

// Layout of bbolt's pages (go.etcd.io/bbolt internal/common).
const (
	branchFlag   = 0x01
	leafFlag     = 0x02
	elementSize  = 16
	bucketFlag   = 0x01 // flag of a leaf element
	bucketHeader = 16
	maxRootDepth = 4
)

// preflightRoot verifies the page of tables that a meta page leads to.
func preflightRoot(f *os.File, pageSize int64, root, pages uint64, depth int) error {
	page, err := readPage(f, pageSize, root, pages)
	if err != nil {
		return err
	}
	flags, elements := binary.NativeEndian.Uint16(page[8:]), int(binary.NativeEndian.Uint16(page[10:]))
	if !soundCount(page, elements) {
		return badPage(f, root)
	}
	for i := range elements {
		at := pageHeaderSize + i*elementSize
		switch {
		case flags == branchFlag && depth < maxRootDepth:
			err = preflightRoot(f, pageSize, binary.NativeEndian.Uint64(page[at+8:]), pages, depth+1)
		case flags == leafFlag:
			err = soundElement(f, root, page, at, pages)
		default:
			err = badPage(f, root)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func readPage(f *os.File, pageSize int64, id, pages uint64) ([]byte, error) {
	if id < 2 || id >= pages {
		return nil, badPage(f, id)
	}
	page := make([]byte, pageSize)
	if err := readAt(f, page, int64(id)*pageSize); err != nil {
		return nil, unread(f, id, err)
	}
	more := uint64(binary.NativeEndian.Uint32(page[12:]))
	if more == 0 {
		return page, nil
	}
	if more >= pages-id {
		return nil, badPage(f, id)
	}
	page = make([]byte, int64(more+1)*pageSize)
	if err := readAt(f, page, int64(id)*pageSize); err != nil {
		return nil, unread(f, id, err)
	}
	return page, nil
}

// unread says why a page could not be read: the file ends before it, or the system's error.
func unread(f *os.File, id uint64, err error) error {
	if errors.Is(err, io.EOF) {
		return badPage(f, id)
	}
	return err
}

// soundElement verifies an element of a leaf page, and the inline page in it.
func soundElement(f *os.File, id uint64, page []byte, at int, pages uint64) error {
	value, ok := leafValue(page, at)
	switch {
	case !ok:
		return badPage(f, id)
	case binary.NativeEndian.Uint32(page[at:])&bucketFlag == 0:
		return nil
	case len(value) < bucketHeader:
		return badPage(f, id)
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		if root >= pages || len(value) != bucketHeader { // a table has either its own page or an inline one
			return badPage(f, id)
		}
		return nil
	}
	inline := value[bucketHeader:]
	if len(inline) < pageHeaderSize || binary.NativeEndian.Uint16(inline[8:]) != leafFlag ||
		binary.NativeEndian.Uint32(inline[12:]) != 0 {
		return badPage(f, id)
	}
	elements := int(binary.NativeEndian.Uint16(inline[10:]))
	if elements == 0 && len(inline) > pageHeaderSize || !soundCount(inline, elements) {
		return badPage(f, id)
	}
	for i := range elements {
		if _, ok := leafValue(inline, pageHeaderSize+i*elementSize); !ok {
			return badPage(f, id)
		}
	}
	return nil
}

// soundCount verifies the number of a page's elements, from which tables or rows could be missing: the
// first key begins behind the last element.
func soundCount(page []byte, elements int) bool {
	keys := pageHeaderSize + elements*elementSize
	if elements == 0 || len(page) < keys {
		return elements == 0
	}
	offset := pageHeaderSize // of the field with the distance from the first element to its key
	if binary.NativeEndian.Uint16(page[8:]) == leafFlag {
		offset += 4
	}
	return pageHeaderSize+uint64(binary.NativeEndian.Uint32(page[offset:])) == uint64(keys)
}

// leafValue returns the value of a leaf element, if it lies within the page.
func leafValue(page []byte, at int) ([]byte, bool) {
	e := page[at:]
	from := uint64(at) + uint64(binary.NativeEndian.Uint32(e[4:])) + uint64(binary.NativeEndian.Uint32(e[8:]))
	to := from + uint64(binary.NativeEndian.Uint32(e[12:]))
	if to > uint64(len(page)) {
		return nil, false
	}
	return page[from:to], true
}

func badPage(f *os.File, id uint64) error {
	return fmt.Errorf("%w: page %d of %s, which lists the tables, is damaged", row.ErrDamaged, id, f.Name())
}
