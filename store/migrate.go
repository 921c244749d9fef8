package store

import (
	"fmt"

	"github.com/placectl/placectl/store/internal/row"
	"go.etcd.io/bbolt"
)

// Format is the file format this version writes. Older ones are migrated in one
// transaction when first written to; newer ones are refused.
const Format = row.Format

// createTables lays out an empty file.
func createTables(b *bbolt.Tx) error {
	r := &recorder{bolt: b}
	for t := range row.TableCount {
		if err := r.create(t); err != nil {
			return err
		}
	}
	return writeFormat(r, Format)
}

func writeFormat(r *recorder, format uint32) error {
	return r.put(row.Meta, row.KeyFormat, row.EncodeFormat(format))
}

// readFormat tells the format of a file, ErrNotOurs when it has none.
func readFormat(r *recorder) (uint32, error) {
	meta := r.table(row.Meta)
	if meta == nil {
		return 0, fmt.Errorf("%w: it has no table %q", ErrNotOurs, row.Meta)
	}
	format, ok := row.DecodeFormat(meta.Get(row.KeyFormat))
	if !ok {
		return 0, fmt.Errorf("%w: it has no format row", ErrNotOurs)
	}
	return format, nil
}

// migrations holds, by the format they lead from, the steps to the next one. A
// step makes room; what is derived is rebuilt from the rows when all are taken.
var migrations = map[uint32]func(*recorder) error{1: addTables(2), 2: addTables(3)}

// addTables makes the tables that a format brought.
func addTables(format uint32) func(*recorder) error {
	return func(r *recorder) error {
		for t := range row.TableCount {
			if t.Since() != format {
				continue
			}
			if err := r.create(t); err != nil {
				return err
			}
		}
		return nil
	}
}

// migrate brings an older file to Format, inside the transaction that will
// write to it. Readers of an older file that they understand leave it alone.
func migrate(r *recorder, from uint32) error {
	for ; from < Format; from++ {
		step := migrations[from]
		if step == nil {
			return fmt.Errorf("%w: no way from format %d to %d", ErrDamaged, from, from+1)
		}
		if err := step(r); err != nil {
			return fmt.Errorf("migrating from format %d: %w", from, err)
		}
		if err := writeFormat(r, from+1); err != nil {
			return err
		}
	}
	return nil
}
