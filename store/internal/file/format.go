package file

import (
	"fmt"

	"github.com/placectl/placectl/store/internal/row"
	"go.etcd.io/bbolt"
)

// Files of an older format are migrated in one transaction when they are first written to.
// Readers leave them unchanged. Newer ones are refused.

// createTables lays out an empty file.
func createTables(tx *bbolt.Tx) error {
	r := &Recorder{bolt: tx}
	for t := range row.TableCount {
		if err := r.create(t); err != nil {
			return err
		}
	}
	if err := r.writeFormat(row.Format); err != nil {
		return err
	}
	if err := r.identify(); err != nil {
		return err
	}
	return r.writeSums()
}

func (r *Recorder) writeFormat(format uint32) error {
	r.format = format
	return r.put(row.Meta, row.KeyFormat, row.EncodeFormat(format))
}

// readFormat reads the format of a file. It fails with ErrNotOurs if there is none.
func (r *Recorder) readFormat() error {
	meta := r.bucket(row.Meta)
	if meta == nil {
		return fmt.Errorf("%w: it has no table %q", ErrNotOurs, row.Meta)
	}
	format, ok := row.DecodeFormat(meta.Get(row.KeyFormat))
	if !ok {
		return fmt.Errorf("%w: it has no format row", ErrNotOurs)
	}
	r.format = format
	return nil
}

// migrations holds the steps to the next format, by the format that they start from. A step
// makes room. After the last one, derived rows are rebuilt.
var migrations = map[uint32]func(*Recorder) error{1: addTables(2), 2: addTables(3), 3: addSums, 4: addTables(5),
	5: addTables(6), 6: addTables(7), 7: addTables(8), 8: addTables(9), 9: dropKick}

// addTables makes the tables that a format introduced.
func addTables(format uint32) func(*Recorder) error {
	return func(r *Recorder) error {
		for t := range row.TableCount {
			if t.Since() != format {
				continue
			}
			if err := r.create(t); err != nil {
				return err
			}
		}
		if format == row.IndexSums.Since() {
			r.format = format // the rows count from now on
			return r.countParts()
		}
		return nil
	}
}

// dropKick migrates to the format in which the setting start replaces kick. If kick was never,
// qsub and sbatch continue to start nothing.
func dropKick(r *Recorder) error {
	kick, err := r.Get(row.Config, []byte("kick"))
	if err == nil && kick != nil && row.DecodeText(kick) == "never" {
		err = r.Put(row.Config, []byte("start"), row.EncodeText("manual"))
	}
	if err == nil && kick != nil {
		err = r.Remove(row.Config, []byte("kick"))
	}
	if err != nil {
		return err
	}
	return addTables(10)(r)
}

// addSums migrates to the format with an identity and sums of rows. It verifies every row, so
// that nothing is built on damage.
func addSums(r *Recorder) error {
	if err := addTables(4)(r); err != nil {
		return err
	}
	for _, t := range []row.Table{row.Invalidations, row.Decided} { // caches of cycles, in another form
		if err := r.Clear(t); err != nil {
			return err
		}
	}
	if err := r.sumUp(); err != nil {
		return err
	}
	if err := r.identify(); err != nil {
		return err
	}
	return r.PutOwner(nil)
}

// migrate brings an older file up to date, inside the transaction that will write to it.
func (r *Recorder) migrate() error {
	r.older = r.format
	for r.format < row.Format {
		from := r.format
		step := migrations[from]
		if step == nil {
			return fmt.Errorf("%w: no way from format %d to %d", row.ErrDamaged, from, from+1)
		}
		if err := step(r); err != nil {
			return fmt.Errorf("migrating from format %d: %w", from, err)
		}
		if err := r.writeFormat(from + 1); err != nil {
			return err
		}
	}
	return nil
}
