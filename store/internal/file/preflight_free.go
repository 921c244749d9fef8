package file

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"

	"github.com/placectl/placectl/store/internal/row"
)

// A writer puts new pages where the list of free pages says there is room. A number in
// it that is wrong would lead into pages that are in use, or far behind the end of the
// file, and neither bbolt nor a checksum of ours finds that in time.

// preflightFree verifies the list of free pages, which is in ascending order.
func preflightFree(f *os.File, m metaPage) error {
	if m.freelist == math.MaxUint64 { // there is none: it is made of the pages in use
		return nil
	}
	page, err := readPage(f, m.pageSize, m.freelist, m.pages)
	if err != nil {
		return err
	}
	n, at := uint64(binary.NativeEndian.Uint16(page[10:])), uint64(pageHeaderSize)
	if n == manyFree {
		n, at = binary.NativeEndian.Uint64(page[at:]), at+8
	}
	if binary.NativeEndian.Uint16(page[8:]) != freelistFlag || n > (uint64(len(page))-at)/8 {
		return badFree(f, m)
	}
	last := uint64(1)
	for i := range n {
		id := binary.NativeEndian.Uint64(page[at+8*i:])
		if id <= last || id >= m.pages {
			return badFree(f, m)
		}
		last = id
	}
	return nil
}

func badFree(f *os.File, m metaPage) error {
	return fmt.Errorf("%w: page %d of %s, which lists the free pages, is not what it should be; salvage reads what the others hold", row.ErrDamaged, m.freelist, f.Name())
}
