package file

import (
	"bytes"
	"os"

	"github.com/placectl/placectl/internal/row"
	"go.etcd.io/bbolt"
)

// Check looks for damage below the rows and reports it to find: in the meta pages, and in the
// pages, each of which must be reached once or free, have its own number, and keep its keys in
// order. It does not use bbolt, which trusts what it reads and can run in a circle. If it
// finds nothing, fn checks the rows. Below a broken page, that would add nothing.
func (f *File) Check(find func(format string, args ...any), fn func(*Recorder) error) error {
	return f.run(sharing, func(o *opened) error {
		return f.readPages(o, func(tx *bbolt.Tx, pages *os.File) error {
			sound, err := checkPages(pages, find)
			if err != nil || !sound {
				return err
			}
			r, err := f.begin(o, tx)
			if err != nil {
				return err
			}
			return fn(r)
		})
	})
}

// checkPages looks for damage to the pages of a file.
func checkPages(f *os.File, find func(format string, args ...any)) (sound bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	metas := readMetas(f, info.Size())
	switch {
	case len(metas) == 0:
		return false, noMeta(f)
	case len(metas) == 1:
		find("one of the two meta pages is not valid: it was cut short in a commit, or damaged since; the newest " +
			"transaction may be missing")
		return false, nil
	}
	sound = true
	if a, b := metas[0].transaction, metas[1].transaction; a != b+1 {
		find("the meta pages are of transactions %d and %d, and should be of two that follow each other: one of "+
			"them is stale", b, a)
		sound = false
	}
	whole, err := scanPages(f, metas[0], find)
	return sound && whole, err
}

// scanPages looks for damage to the pages that a meta page leads to.
func scanPages(f *os.File, meta boltMeta, find func(format string, args ...any)) (whole bool, err error) {
	whole = true
	_, err = scanFile(f, meta, func(row.Table, []byte, []byte) error { return nil }, func(l Loss) {
		find("structure: %s", l)
		whole = false
	})
	return whole, err
}

// Whole reports whether the pages of the last committed state are sound, and reports damage to
// find. The caller must hold the lock.
func (f *File) Whole(find func(format string, args ...any)) (bool, error) {
	data, err := os.Open(f.Path())
	if err != nil {
		return false, err
	}
	defer data.Close()
	info, err := data.Stat()
	if err != nil {
		return false, err
	}
	metas := readMetas(data, info.Size())
	if len(metas) == 0 {
		return false, noMeta(data)
	}
	return scanPages(data, metas[0], find)
}

// CheckRows verifies that the file has all tables and no others, that every row has its
// checksum and can be decoded, and that the rows are those that the last transaction left.
func (r *Recorder) CheckRows(find func(t row.Table, format string, args ...any)) error {
	stored, err := r.storedSums()
	if err != nil {
		return err
	}
	known := make(map[string]bool)
	for t := range row.TableCount {
		known[t.String()] = true
		sum, err := r.checkTable(t, find)
		if err != nil {
			return err
		}
		if stored != nil && sum != stored.Tables[t] {
			want := stored.Tables[t]
			find(t, "table %s has %d rows with the sum %x, and should have %d with %x: a page is lost or stale", t,
				sum.Count, sum.Sum, want.Count, want.Sum)
		}
	}
	if err := r.checkParts(find); err != nil {
		return err
	}
	return r.bolt.ForEach(func(name []byte, _ *bbolt.Bucket) error {
		if !known[string(name)] {
			find(row.Meta, "there is a table %q that this version does not know", name)
		}
		return nil
	})
}

// checkParts verifies that IndexSums has the sums of the rows of each index.
func (r *Recorder) checkParts(find func(t row.Table, format string, args ...any)) error {
	b := r.bucket(row.IndexSums)
	if b == nil {
		return nil
	}
	counted := Recorder{bolt: r.bolt, format: r.format}
	if err := counted.countParts(); err != nil {
		return err
	}
	err := b.ForEach(func(key, value []byte) error {
		sum := counted.parts[string(key)]
		delete(counted.parts, string(key))
		switch {
		case sum == nil:
			find(row.IndexSums, "table %s has %x, which should not be there", row.IndexSums, key)
		case !bytes.Equal(value, row.Seal(key, sum.Encode())):
			find(row.IndexSums, "table %s: %x is not what the rows say", row.IndexSums, key)
		}
		return nil
	})
	for key := range counted.parts {
		find(row.IndexSums, "table %s lacks %x", row.IndexSums, key)
	}
	return err
}

// checkTable verifies the checksum of every row of a table, and adds them up.
func (r *Recorder) checkTable(t row.Table, find func(t row.Table, format string, args ...any)) (sum row.Sum,
	err error) {
	b := r.bucket(t)
	if b == nil {
		if !r.Lacks(t) {
			find(t, "table %s is missing", t)
		}
		return sum, nil
	}
	return sum, b.ForEach(func(key, value []byte) error {
		if t == row.Meta && string(key) == string(row.KeyFormat) {
			return nil
		}
		if _, err := readable(t, key, value); err != nil {
			find(t, "%v", err)
		}
		if row.Counted(t, key) {
			sum.Add(value)
		}
		return nil
	})
}
