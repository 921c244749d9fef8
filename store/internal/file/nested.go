package file

import (
	"errors"
	"maps"
	"slices"
)

// errNotBeside says that only a writer beside readers has transactions within its own.
var errNotBeside = errors.New("a transaction within another needs a writer beside readers")

// errSupposes says that only a reader supposes anything.
var errSupposes = errors.New("a writer changes the file, and supposes nothing")

// Nested runs fn as a transaction within this one: if it fails, nothing that it has changed is
// kept, and the transaction goes on as it was. It is for a writer beside readers, whose changes
// are in memory alone, while no walk is under way.
func (r *Recorder) Nested(fn func() error) error {
	if !r.beside {
		return errNotBeside
	}
	was, changed, different := r.changes.clone(), r.changed, maps.Clone(r.was)
	err := fn()
	if err != nil {
		r.changes, r.changed, r.was = was, changed, different
	}
	return err
}

// Suppose returns a recorder of the same rows, for whoever supposes that they are changed: its changes are
// in memory alone, and never written down. It is for readers.
func (r *Recorder) Suppose() (*Recorder, error) {
	if r.bolt.Writable() {
		return nil, errSupposes
	}
	return &Recorder{bolt: r.bolt, format: r.format, beside: true, supposed: true, changed: true, changes: new(ChangeSet)}, nil
}

// Supposed reports whether that has made the recorder.
func (r *Recorder) Supposed() bool { return r.supposed }

// clone copies a change-set. The rows stay shared: they are replaced, never changed.
func (s *ChangeSet) clone() *ChangeSet {
	copied := *s
	for t := range copied {
		pages := slices.Clone(copied[t].pages)
		for i, p := range pages {
			pages[i] = slices.Clone(p)
		}
		copied[t].pages = pages
	}
	return &copied
}
