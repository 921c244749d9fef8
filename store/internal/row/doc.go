// Package row says what is in the file: the tables, their keys, and one layout for each
// kind of row. A row is a payload, which begins with a version byte, and a CRC32C over
// key and payload behind it: see Seal.
//
// For each kind of row there is a function that encodes values and one that decodes
// them; rows of nodes and jobs, which are many and long, have views besides, which read
// in place what is asked for. Layouts are on disk and do not change but by appending
// fields: rows of older versions are shorter, and what newer ones have appended is
// passed over.
//
// The package knows what rows look like, and not where they are kept: it is pure, and
// knows nothing of bbolt, transactions or the clock. Where a type of package store has a
// row, the type of that name here has the same fields, so that one converts into the
// other.
package row
