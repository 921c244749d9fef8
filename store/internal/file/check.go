package file

import (
	"github.com/placectl/placectl/store/internal/row"
	"go.etcd.io/bbolt"
)

// Check looks for damage to the file below its rows, its meta pages and bbolt's own
// structure, and tells find. Where it finds nothing it lets fn look at the rows: those
// below a broken page tell nothing more.
func (f *File) Check(find func(format string, args ...any), fn func(*Recorder) error) error {
	return f.run(false, func(b *bbolt.DB) error {
		return b.View(func(tx *bbolt.Tx) error {
			warning, err := preflight(f.path)
			if err != nil {
				return err
			}
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

// CheckRows verifies that all tables are there and no others, and the checksum of every
// row.
func (r *Recorder) CheckRows(find func(format string, args ...any)) error {
	known := make(map[string]bool)
	for t := range row.TableCount {
		known[t.String()] = true
		b := r.bucket(t)
		if b == nil {
			find("table %s is missing", t)
			continue
		}
		err := b.ForEach(func(k, v []byte) error {
			if t == row.Meta && string(k) == string(row.KeyFormat) {
				return nil
			}
			if _, err := row.Unseal(t, k, v); err != nil {
				find("%v", err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return r.bolt.ForEach(func(name []byte, _ *bbolt.Bucket) error {
		if !known[string(name)] {
			find("there is a table %q that this version does not know", name)
		}
		return nil
	})
}
