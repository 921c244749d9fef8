package file

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"

	"github.com/placectl/placectl/internal/row"
)

// A writer puts new pages where the list of free pages says there is room. A wrong number in
// it would lead into pages in use, or far beyond the end of the file. Neither bbolt nor our
// checksums find that in time.

// preflightFree verifies the list of free pages, which is in ascending order.
func preflightFree(f *os.File, m metaPage) error {
	if m.freelist == math.MaxUint64 { // no list: bbolt makes it from the pages in use
		return nil
	}
	list, n, err := listedFree(f, m)
	if err != nil {
		return err
	}
	last := uint64(1)
	for i := range n {
		id := binary.NativeEndian.Uint64(list[8*i:])
		if id <= last || id >= m.pages {
			return badFree(f, m)
		}
		last = id
	}
	return nil
}

// listedFree reads the list of free pages, and their number.
func listedFree(f *os.File, m metaPage) (list []byte, n uint64, err error) {
	page, err := readPage(f, m.pageSize, m.freelist, m.pages)
	if err != nil {
		return nil, 0, err
	}
	at := uint64(pageHeaderSize)
	if n = uint64(binary.NativeEndian.Uint16(page[10:])); n == manyFree {
		n, at = binary.NativeEndian.Uint64(page[at:]), at+8
	}
	if binary.NativeEndian.Uint16(page[8:]) != freelistFlag || n > (uint64(len(page))-at)/8 {
		return nil, 0, badFree(f, m)
	}
	return page[at:], n, nil
}

func badFree(f *os.File, m metaPage) error {
	return fmt.Errorf("%w: page %d of %s, which lists the free pages, is damaged; salvage reads the others",
		row.ErrDamaged, m.freelist, f.Name())
}

// FreeBytes returns the size of the file's free pages, as of the newest commit. Writers use
// these first.
func (r *Recorder) FreeBytes() (int64, error) {
	data, err := openData(r.bolt.DB().Path(), false)
	if err != nil {
		return 0, err
	}
	defer data.Close()
	found, err := validMetas(data)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	m := found.newest()
	if m.freelist == math.MaxUint64 {
		return 0, nil
	}
	_, n, err := listedFree(data, m)
	return int64(n) * m.pageSize, err
}
