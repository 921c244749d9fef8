package file

import (
	"github.com/placectl/placectl/store/internal/row"
	"go.etcd.io/bbolt"
)

// Check looks for damage to the file below its rows, its meta pages and bbolt's own
// structure, and tells find. Where it finds nothing it lets fn look at the rows: those
// below a broken page tell nothing more.
func (f *File) Check(find func(format string, args ...any), fn func(*Recorder) error) error {
	return f.run(false, func(o *opened) error {
		return f.read(o, 0, func(tx *bbolt.Tx) error {
			found, err := validMetas(o.data)
			if err != nil {
				return err
			}
			warning := found.warning(o.data)
			sound := warning == ""
			if !sound {
				find("%s", warning)
			}
			for err := range tx.Check() {
				find("structure: %v", err)
				sound = false
			}
			if !sound {
				return nil
			}
			r, err := f.begin(tx)
			if err != nil {
				return err
			}
			return fn(r)
		})
	})
}

// CheckRows verifies that all tables are there and no others, the checksum of every row,
// and that the rows are those that the last transaction left.
func (r *Recorder) CheckRows(find func(format string, args ...any)) error {
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
			find("table %s has %d rows with the sum %x, and should have %d with %x: a page is lost or stale", t, sum.Count, sum.Sum, want.Count, want.Sum)
		}
	}
	return r.bolt.ForEach(func(name []byte, _ *bbolt.Bucket) error {
		if !known[string(name)] {
			find("there is a table %q that this version does not know", name)
		}
		return nil
	})
}

// checkTable verifies the checksum of every row of a table, and adds them up.
func (r *Recorder) checkTable(t row.Table, find func(format string, args ...any)) (sum row.Sum, err error) {
	b := r.bucket(t)
	if b == nil {
		if r.format >= t.Since() {
			find("table %s is missing", t)
		}
		return sum, nil
	}
	return sum, b.ForEach(func(key, value []byte) error {
		if t == row.Meta && string(key) == string(row.KeyFormat) {
			return nil
		}
		if _, err := row.Unseal(t, key, value); err != nil {
			find("%v", err)
		}
		if row.Counted(t, key) {
			sum.Add(value)
		}
		return nil
	})
}
