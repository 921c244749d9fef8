package file

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/placectl/placectl/internal/row"
)

// Salvaged describes what could be read of a damaged file.
type Salvaged struct {
	Format   uint32
	Rows     [row.TableCount]uint64 // rows read, of tables that are not derived
	Want     *row.Sums              // the sums to expect; nil if they cannot be read, or the format has none
	Losses   []Loss
	Older    bool // the newest state could not be read; this is the one before
	Unsigned bool // no meta page is valid: the state was found from the pages
}

// Salvage calls take for every row of a damaged file that is whole and can be decoded, except
// derived rows. It does not use bbolt, which trusts what it reads. It fails with ErrNotOurs if
// nothing in the file looks like a database.
func Salvage(path string, timeout time.Duration, take func(t row.Table, key, payload []byte) error) (*Salvaged, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, noDatabase(path)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %s is not a regular file", ErrNotOurs, path)
	}
	lock, err := acquire(context.Background(), path, sharing, timeout)
	if err != nil {
		return nil, err
	}
	defer lock.release() //nolint:errcheck // nothing was changed
	f, err := openFile(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return salvage(f, info.Size(), take)
}

// salvage tries the possible states of the file, the newest first, and uses the first one
// whose list of tables can be read.
func salvage(f *os.File, size int64, take func(t row.Table, key, payload []byte) error) (*Salvaged, error) {
	metas := readMetas(f, size)
	unsigned := len(metas) == 0
	if unsigned {
		metas = guessMetas(f, size)
	}
	for i, meta := range metas {
		out := &Salvaged{Older: i > 0, Unsigned: unsigned}
		if !out.listed(f, meta) {
			continue
		}
		return out, out.read(f, meta, take)
	}
	return nil, fmt.Errorf("%w: nothing in %s leads to its tables", ErrNotOurs, f.Name())
}

// listed reports whether the list of tables of a state can be read, and finds the format.
func (out *Salvaged) listed(f *os.File, meta boltMeta) bool {
	whole := true
	s := &scan{pages: newPages(f, meta), row: func(t row.Table, key, value []byte) error {
		if isFormat(t, key) {
			if format, ok := row.DecodeFormat(value); ok {
				out.Format = format
			}
		}
		return nil
	}, lost: func(l Loss) { whole = whole && l.Table != row.TableCount }}
	s.only = func(t row.Table) bool { return t == row.Meta }
	s.tables(meta.root, 0)
	return whole && s.listed > 0
}

// read reads the rows of a state.
func (out *Salvaged) read(f *os.File, meta boltMeta, take func(t row.Table, key, payload []byte) error) error {
	if out.Format == 0 { // the row is lost: it is one of the last formats with that many tables
		out.Format = row.Format
	}
	if err := refused(out.Format); err != nil {
		return err
	}
	lost := func(l Loss) {
		if l.Table == row.TableCount || !l.Table.Derived() {
			out.Losses = append(out.Losses, l)
		}
	}
	rows := func(t row.Table, key, value []byte) error {
		payload, err := readable(t, key, value)
		switch {
		case t.Derived() || isFormat(t, key):
			return nil
		case err != nil:
			lost(Loss{Table: t, Why: err.Error()})
			return nil
		case !row.Counted(t, key):
			out.Want = new(row.Sums)
			return row.SumsRow.Read(out.Want, row.KeySums, payload)
		}
		out.Rows[t]++
		return take(t, key, payload)
	}
	s, err := scanFile(f, meta, rows, lost)
	if err != nil {
		return err
	}
	return s.adopt(out.Losses, lost)
}

// readable verifies a row, and that it can be decoded.
func readable(t row.Table, key, value []byte) ([]byte, error) {
	if isFormat(t, key) {
		return nil, nil
	}
	payload, err := row.Unseal(t, key, value)
	if err == nil && row.Counted(t, key) && !t.Derived() {
		err = row.Readable(t, key, payload)
	}
	return payload, err
}

// adopt finds the leaves below unreadable pages: they are neither in use nor free. Their table
// is the one in whose lost range their keys lie and whose rows they decode as. If several
// tables are possible, the leaf is left out.
func (s *scan) adopt(losses []Loss, lost func(Loss)) error {
	broken := slices.DeleteFunc(slices.Clone(losses), func(l Loss) bool {
		return !l.branch || l.Table == row.TableCount
	})
	if s.free == nil || len(broken) == 0 {
		return nil
	}
	for id := uint64(2); id < s.meta.pages; id++ {
		if s.seen.has(id) || s.free.has(id) {
			continue
		}
		page, err := s.read(id)
		if err != nil || pageFlags(page) != leafFlag {
			continue
		}
		of := owners(page, broken)
		switch {
		case len(of) > 1:
			lost(
				Loss{Table: row.TableCount,
					Why: fmt.Sprintf("page %d holds rows of table %s or %s, and nothing tells which", id, of[0],
						of[1])})
		case len(of) == 1:
			if err := eachElement(page, func(key, value []byte) error { return s.row(of[0], key, value) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// owners lists the tables that a leaf could belong to.
func owners(page []byte, broken []Loss) (of []row.Table) {
	for _, l := range broken {
		rows := 0
		err := eachElement(page, func(key, value []byte) error {
			if bytes.Compare(key, l.low) < 0 || l.high != nil && bytes.Compare(key, l.high) >= 0 {
				return errElsewhere
			}
			rows++
			_, err := readable(l.Table, key, value)
			return err
		})
		if err == nil && rows > 0 && !slices.Contains(of, l.Table) {
			of = append(of, l.Table)
		}
	}
	return of
}

var errElsewhere = errors.New("the row is of another part")

// eachElement calls fn for the rows of a leaf. All must lie within it.
func eachElement(page []byte, fn func(key, value []byte) error) error {
	for i := range pageElements(page) {
		at := elementAt(i)
		if at+elementSize > len(page) || isBucket(page, at) {
			return errElsewhere
		}
		key, ok := leafKey(page, at)
		value, whole := leafValue(page, at)
		if !ok || !whole {
			return errElsewhere
		}
		if err := fn(key, value); err != nil {
			return err
		}
	}
	return nil
}

// guessMetas finds pages that list the tables if no meta page leads to them: that of the last
// transaction, and earlier ones that were not overwritten. The row of the sums tells them
// apart.
func guessMetas(f *os.File, size int64) (metas []boltMeta) {
	for pageSize := int64(4096); pageSize <= 64<<10 && metas == nil; pageSize *= 2 {
		count := uint64(size / pageSize)
		p := newPages(f, boltMeta{metaPage: metaPage{pages: count, pageSize: pageSize}})
		for id := uint64(2); id < count; id++ {
			page, err := p.read(id)
			if err != nil || pageFlags(page) != leafFlag || !listsTables(page) {
				continue
			}
			meta := boltMeta{metaPage: metaPage{root: id, pages: count, pageSize: pageSize}}
			meta.transaction = sumsTransaction(f, meta)
			metas = append(metas, meta)
		}
	}
	slices.SortStableFunc(metas, func(a, b boltMeta) int { return cmp.Compare(b.transaction, a.transaction) })
	return metas
}

// listsTables reports whether a leaf lists our tables.
func listsTables(page []byte) bool {
	for i := range pageElements(page) {
		at := elementAt(i)
		if at+elementSize > len(page) || !isBucket(page, at) {
			return false
		}
		name, ok := leafKey(page, at)
		if !ok {
			return false
		}
		if _, known := row.TableNamed(string(name)); !known {
			return false
		}
	}
	return pageElements(page) > 0
}

// sumsTransaction returns the transaction that wrote the row of the sums in a state, or 0 if
// that cannot be read.
func sumsTransaction(f *os.File, meta boltMeta) (transaction uint64) {
	s := &scan{pages: newPages(f, meta), lost: func(Loss) {}, row: func(t row.Table, key, value []byte) error {
		if row.Counted(t, key) || isFormat(t, key) {
			return nil
		}
		if payload, err := row.Unseal(t, key, value); err == nil {
			transaction, _ = row.SumsTransaction(payload)
		}
		return nil
	}}
	s.only = func(t row.Table) bool { return t == row.Meta }
	s.tables(meta.root, 0)
	return transaction
}
