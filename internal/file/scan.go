package file

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/placectl/placectl/internal/row"
)

// scan reads all rows of a file that may be damaged, table by table, and skips what cannot be
// read.
type scan struct {
	*pages
	row  func(t row.Table, key, value []byte) error // as it is stored; its error ends the scan
	lost func(Loss)
	only func(row.Table) bool // the tables to scan; nil for all

	listed int    // number of tables
	last   []byte // the previous key in the table
	err    error  // the error of row
}

// Loss is a part of a file that cannot be read: a page, and everything below it.
type Loss struct {
	Table     row.Table // TableCount if unknown
	Why       string
	low, high []byte // its keys are from low, if not nil, to high
	branch    bool   // it may be more than one page
}

func (l Loss) String() string {
	if l.Table == row.TableCount {
		return l.Why
	}
	return fmt.Sprintf("table %s: %s", l.Table, l.Why)
}

// scanFile scans the state of a meta page. It also reports pages that are neither in use nor
// free.
func scanFile(from io.ReaderAt, meta boltMeta, fn func(t row.Table, key, value []byte) error, lost func(Loss)) (*scan,
	error) {
	s := &scan{pages: newPages(from, meta), row: fn, lost: lost}
	if err := s.readFree(); err != nil {
		s.lost(Loss{Table: row.TableCount, Why: err.Error()})
	}
	s.tables(meta.root, 0)
	if s.err == nil {
		s.unreached()
	}
	return s, s.err
}

// tables scans the page that lists the tables.
func (s *scan) tables(id uint64, depth int) {
	page, err := s.reach(id)
	if err != nil || depth > maxDepth {
		s.lost(Loss{Table: row.TableCount, Why: fmt.Sprintf("of the list of tables: %v", err)})
		return
	}
	for i := range pageElements(page) {
		at := elementAt(i)
		if at+elementSize > len(page) {
			break
		}
		switch pageFlags(page) {
		case branchFlag:
			if _, child, ok := branchElement(page, at); ok {
				s.tables(child, depth+1)
				continue
			}
		case leafFlag:
			name, ok := leafKey(page, at)
			header, whole := leafValue(page, at)
			if ok && whole && isBucket(page, at) && len(header) >= bucketHeader {
				s.table(string(name), header)
				continue
			}
		}
		s.lost(Loss{Table: row.TableCount, Why: fmt.Sprintf("page %d, which lists the tables, is not what it should be",
			id)})
	}
}

// table scans the rows of a table, which may be inline in the page of tables.
func (s *scan) table(name string, header []byte) {
	t, ok := row.TableNamed(name)
	if !ok {
		s.lost(Loss{Table: row.TableCount, Why: fmt.Sprintf("there is a table %q that this version does not know",
			name)})
		return
	}
	s.listed++
	if s.only != nil && !s.only(t) {
		return
	}
	s.last = nil
	if root := binary.NativeEndian.Uint64(header); root != 0 {
		s.tree(t, root, Loss{Table: t}, 0)
		return
	}
	inline := header[bucketHeader:]
	if len(inline) < pageHeaderSize || pageFlags(inline) != leafFlag {
		s.lost(Loss{Table: t, Why: "its rows are not where they should be"})
		return
	}
	s.leaf(t, inline, Loss{Table: t, Why: "it is cut off"})
}

// tree scans the rows below a page, whose keys lie in the range of in.
func (s *scan) tree(t row.Table, id uint64, in Loss, depth int) {
	page, err := s.reach(id)
	if err == nil && depth > maxDepth {
		err = fmt.Errorf("page %d lies too deep", id)
	}
	if err != nil {
		in.Why, in.branch = err.Error(), true
		s.lost(in)
		return
	}
	in.Why = fmt.Sprintf("page %d is not what it should be", id)
	switch pageFlags(page) {
	case leafFlag:
		s.leaf(t, page, in)
	case branchFlag:
		s.branch(t, page, in, depth)
	default:
		in.branch = true
		s.lost(in)
	}
}

// branch scans the pages that a page leads to.
func (s *scan) branch(t row.Table, page []byte, in Loss, depth int) {
	for i := range pageElements(page) {
		at := elementAt(i)
		below := in
		below.branch = true
		if at+elementSize > len(page) {
			s.lost(below)
			return
		}
		key, child, ok := branchElement(page, at)
		if !ok || i > 0 && bytes.Compare(key, in.low) <= 0 || in.high != nil && bytes.Compare(key, in.high) >= 0 {
			s.lost(below)
			return
		}
		below.low, in.low = key, key
		if next := elementAt(i + 1); i+1 < pageElements(page) && next+elementSize <= len(page) {
			if key, _, ok := branchElement(page, next); ok {
				below.high = key
			}
		}
		if s.tree(t, child, below, depth+1); s.err != nil {
			return
		}
	}
}

// leaf scans the rows of a page. Keys must be in order, and in the range given above.
func (s *scan) leaf(t row.Table, page []byte, in Loss) {
	for i := range pageElements(page) {
		at := elementAt(i)
		if at+elementSize > len(page) {
			s.lost(in)
			return
		}
		key, ok := leafKey(page, at)
		value, whole := leafValue(page, at)
		switch {
		case !ok || !whole || isBucket(page, at):
			in.Why = fmt.Sprintf("the row %x cannot be read", key)
			s.lost(in)
			continue
		case s.last != nil && bytes.Compare(key, s.last) <= 0, bytes.Compare(key, in.low) < 0,
			in.high != nil && bytes.Compare(key, in.high) >= 0:
			in.Why = fmt.Sprintf("the row %x stands where it does not belong", key)
			s.lost(in)
			continue
		}
		s.last = append(s.last[:0], key...)
		if s.err = s.row(t, key, value); s.err != nil {
			return
		}
	}
}

// unreached reports pages that are neither reached nor free.
func (s *scan) unreached() {
	if s.free == nil {
		return
	}
	lost, first := 0, uint64(0)
	for id := uint64(2); id < s.meta.pages; id++ {
		switch {
		case s.seen.has(id) && s.free.has(id):
			s.lost(Loss{Table: row.TableCount, Why: fmt.Sprintf("page %d is in use, and listed as free", id)})
		case !s.seen.has(id) && !s.free.has(id):
			if lost++; lost == 1 {
				first = id
			}
		}
	}
	if lost > 0 {
		s.lost(
			Loss{Table: row.TableCount, Why: fmt.Sprintf("%d pages are neither in use nor free, the first is page %d",
				lost, first)})
	}
}
