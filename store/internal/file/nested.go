package file

import (
	"errors"
	"maps"
	"slices"
)

// errNotBeside means that only a writer beside readers can have nested transactions.
var errNotBeside = errors.New("a transaction within another needs a writer beside readers")

// errSupposes means that only a reader can suppose changes.
var errSupposes = errors.New("a writer changes the file, and supposes nothing")

// Nested runs fn as a transaction within this one. If it fails, its changes are dropped, and
// the outer transaction continues unchanged. It is only for a writer beside readers, whose
// changes are in memory, while no walk is under way.
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

// Suppose returns a recorder of the same rows whose changes stay in memory and are never
// written. It is only for readers.
func (r *Recorder) Suppose() (*Recorder, error) {
	if r.bolt.Writable() {
		return nil, errSupposes
	}
	return &Recorder{bolt: r.bolt, where: r.where, data: r.data, judged: r.judged, format: r.format, beside: true,
		supposed: true, changed: true, changes: new(ChangeSet)}, nil
}

// Supposed reports whether Suppose made the recorder.
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
