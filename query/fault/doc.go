// Package fault holds the errors of queries: errors in a text, with their place, and limits. Parsers and
// planners panic with an Abort, and the functions that call them rescue it.
package fault
