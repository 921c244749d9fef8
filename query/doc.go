// Package query is the room for SQL about the present and the planned future of
// a database: text to syntax, to a plan that turns predicates into operations on
// the bitmaps of package index, to rows. It knows tables only through a small
// interface that store provides.
//
// Nothing of it is written yet.
package query
