// Package tables is the interface between queries and tables. A table knows its columns and rows, and
// may implement further interfaces, which find rows without reading the others. There are tables in
// memory, too.
package tables
