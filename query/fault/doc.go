// Package fault holds the errors of queries: those of a text, with their place, and those of
// limits. Parsers and planners panic with an Abort, and their doors rescue it.
package fault
