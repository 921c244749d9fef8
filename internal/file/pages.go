package file

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// bbolt trusts the pages that it maps, and a damaged one ends the process or makes it loop for
// ever. So code that verifies or salvages a file does not use bbolt. It reads page by page,
// and trusts none.

// Layout of bbolt's pages, besides the constants in preflight.go and preflight_root.go.
const (
	freelistFlag = 0x10
	manyFree     = 0xFFFF // entries of a freelist whose number does not fit: the number comes first
	maxDepth     = 64     // of a tree of pages; a sound one with 2^40 rows has less than 20 levels
)

// boltMeta is a meta page, with the page that lists free pages.
type boltMeta struct {
	metaPage
	freelist uint64
}

// readMetas reads the meta pages that are valid, the newest first.
func readMetas(f io.ReaderAt, size int64) []boltMeta {
	var metas []boltMeta
	read := func(slot int, at int64) bool {
		b := make([]byte, pageHeaderSize+metaSize)
		if _, err := f.ReadAt(b, at); err != nil {
			return false
		}
		m, ok := parseMeta(b)
		if !ok || m.pageSize < 512 || int64(slot)*m.pageSize != at {
			return false
		}
		m.at, m.pages = at, min(m.pages, uint64(size/m.pageSize))
		metas = append(metas, boltMeta{m, binary.NativeEndian.Uint64(b[pageHeaderSize+32:])})
		return true
	}
	if read(0, 0) {
		read(1, metas[0].pageSize)
	} else {
		for pageSize := int64(512); pageSize <= 64<<10 && !read(1, pageSize); pageSize *= 2 {
		}
	}
	slices.SortFunc(metas, func(a, b boltMeta) int { return cmp.Compare(b.transaction, a.transaction) })
	return metas
}

// pages are the pages that a meta page leads to.
type pages struct {
	from io.ReaderAt
	meta boltMeta
	seen bitset // reached from the root
	free bitset // listed as free; nil if that list cannot be read
}

// bitset is a set of page numbers.
type bitset []uint64

func (s bitset) has(id uint64) bool { return s[id/64]&(1<<(id%64)) != 0 }
func (s bitset) add(id uint64)      { s[id/64] |= 1 << (id % 64) }

func newPages(from io.ReaderAt, meta boltMeta) *pages {
	return &pages{from: from, meta: meta, seen: make(bitset, meta.pages/64+1)}
}

// read reads a page with its overflow pages. The page must have its own number.
func (p *pages) read(id uint64) ([]byte, error) {
	if id < 2 || id >= p.meta.pages {
		return nil, fmt.Errorf("page %d is not in the file", id)
	}
	head := make([]byte, pageHeaderSize)
	if _, err := p.from.ReadAt(head, int64(id)*p.meta.pageSize); err != nil {
		return nil, fmt.Errorf("page %d cannot be read: %w", id, err)
	}
	more := uint64(binary.NativeEndian.Uint32(head[12:]))
	if is := binary.NativeEndian.Uint64(head); is != id || more >= p.meta.pages-id {
		return nil, fmt.Errorf("page %d says that it is page %d, with %d more", id, is, more)
	}
	page := make([]byte, int64(more+1)*p.meta.pageSize)
	if _, err := p.from.ReadAt(page, int64(id)*p.meta.pageSize); err != nil {
		return nil, fmt.Errorf("page %d cannot be read: %w", id, err)
	}
	return page, nil
}

// reach is read for a page of the tree. No page may be reached twice.
func (p *pages) reach(id uint64) ([]byte, error) {
	page, err := p.read(id)
	if err != nil {
		if id < p.meta.pages {
			p.seen.add(id)
		}
		return nil, err
	}
	for i := range uint64(len(page)) / uint64(p.meta.pageSize) {
		if p.seen.has(id + i) {
			return nil, fmt.Errorf("page %d is reached twice", id+i)
		}
		p.seen.add(id + i)
	}
	return page, nil
}

func pageFlags(page []byte) uint16   { return binary.NativeEndian.Uint16(page[8:]) }
func pageElements(page []byte) int   { return int(binary.NativeEndian.Uint16(page[10:])) }
func elementAt(i int) int            { return pageHeaderSize + i*elementSize }
func isBucket(p []byte, at int) bool { return binary.NativeEndian.Uint32(p[at:])&bucketFlag != 0 }

// leafKey returns the key of a leaf element, if it lies within the page.
func leafKey(page []byte, at int) ([]byte, bool) {
	from := uint64(at) + uint64(binary.NativeEndian.Uint32(page[at+4:]))
	return within(page, from, from+uint64(binary.NativeEndian.Uint32(page[at+8:])))
}

// branchElement returns the key of a branch element, and the page that it leads to.
func branchElement(page []byte, at int) (key []byte, child uint64, ok bool) {
	from := uint64(at) + uint64(binary.NativeEndian.Uint32(page[at:]))
	key, ok = within(page, from, from+uint64(binary.NativeEndian.Uint32(page[at+4:])))
	return key, binary.NativeEndian.Uint64(page[at+8:]), ok
}

func within(page []byte, from, to uint64) ([]byte, bool) {
	if to > uint64(len(page)) {
		return nil, false
	}
	return page[from:to], true
}

// readFree reads the list of free pages. The set is nil if the list is damaged. The pages of
// the list itself do not belong to the tree.
func (p *pages) readFree() error {
	page, err := p.reach(p.meta.freelist)
	if err != nil {
		return err
	}
	n, at := uint64(pageElements(page)), uint64(pageHeaderSize)
	if n == manyFree {
		n, at = binary.NativeEndian.Uint64(page[at:]), at+8
	}
	if pageFlags(page) != freelistFlag || n > (uint64(len(page))-at)/8 {
		return fmt.Errorf("page %d is no list of free pages", p.meta.freelist)
	}
	free := make(bitset, len(p.seen))
	for i := range n {
		id := binary.NativeEndian.Uint64(page[at+8*i:])
		if id < 2 || id >= p.meta.pages || free.has(id) {
			return fmt.Errorf("page %d of the file is listed as free, and cannot be, or twice", id)
		}
		free.add(id)
	}
	p.free = free
	return nil
}
