package store

import "github.com/placectl/placectl/store/internal/file"

// Compacted is the size of a file before Compact and afterwards, in bytes.
type Compacted = file.Compacted

// Compact writes the database anew without the pages that are free, verified and in one
// step: killed at any point, the file is the old one or the new one. It has the database
// to itself meanwhile. It fails with ErrDamaged, and changes nothing, when the file is not
// sound.
func (db *DB) Compact(watch Watch) (Compacted, error) { return db.file.Compact(false, watch) }

// CompactTrial does what Compact does, and changes nothing.
func (db *DB) CompactTrial(watch Watch) (Compacted, error) { return db.file.Compact(true, watch) }
