// Package row defines what is in the file: the tables, their keys, and one layout for each
// kind of row. A row is a payload, which begins with a version byte, followed by a CRC32C over
// key and payload: see Seal.
//
// For each kind of row, one function encodes values and another decodes them. Rows of nodes
// and jobs, which are many and long, also have views, which read single fields in place.
// Layouts are on disk. They change only by appending fields: rows of older versions are
// shorter, and readers skip fields that newer versions have appended.
//
// The package knows what rows look like, but not where they are stored. It is pure, and knows
// nothing of bbolt, transactions or the clock. If a type of package store has a row, the type
// of that name here has the same fields, so that one converts to the other.
package row
