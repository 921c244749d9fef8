package file

import (
	"fmt"
	"slices"

	"github.com/placectl/placectl/internal/row"
	"go.etcd.io/bbolt"
)

// Files of an older format are migrated in one transaction when they are first written to.
// Readers leave them unchanged. Newer ones are refused, and those from before the first release.

// createTables lays out an empty file.
func createTables(tx *bbolt.Tx) error {
	r := &Recorder{bolt: tx}
	for t := range row.TableCount {
		if err := r.create(t); err != nil {
			return err
		}
	}
	if err := r.writeFormat(Newest); err != nil {
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

// refused says why this version does not read a format; nil if it does.
func refused(format uint32) error {
	switch {
	case !row.WasReleased(format):
		return fmt.Errorf("%w of a released version: an older placectl wrote it: %s; %s", ErrNotOurs,
			row.FormatName(format), row.FormatKnown())
	case format > Newest:
		return fmt.Errorf("%w: %s; %s", ErrNewer, row.FormatName(format), row.FormatKnown())
	}
	return nil
}

// Newest is the format that this version writes. Only the tests of migrations change it.
var Newest uint32 = row.Format

// Migrations are the steps to the next format, by the format that they start from. A step makes room. After the last
// one, derived rows are rebuilt.
var Migrations = map[uint32]func(*Recorder) error{}

// Introduced are the tables that later formats than the first introduce, by format.
var Introduced = map[uint32][]row.Table{}

// introduce makes the tables that a format introduces.
func (r *Recorder) introduce(format uint32) error {
	for _, t := range Introduced[format] {
		if err := r.create(t); err != nil {
			return err
		}
	}
	return nil
}

// Lacks reports whether the format of the file does not have a table.
func (r *Recorder) Lacks(t row.Table) bool {
	for format := r.format + 1; format <= Newest; format++ {
		if slices.Contains(Introduced[format], t) {
			return true
		}
	}
	return false
}

// migrate brings an older file up to date, inside the transaction that will write to it.
func (r *Recorder) migrate() error {
	r.older = r.format
	for r.format < Newest {
		from := r.format
		step := Migrations[from]
		if step == nil {
			return fmt.Errorf("%w: no way from format %d to %d", row.ErrDamaged, from, from+1)
		}
		if err := r.introduce(from + 1); err != nil {
			return err
		}
		if err := r.writeFormat(from + 1); err != nil {
			return err
		}
		if err := step(r); err != nil {
			return fmt.Errorf("migrating from format %d: %w", from, err)
		}
	}
	return nil
}
