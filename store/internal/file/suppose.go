package file

import "errors"

// errSupposes means that only a reader can suppose changes.
var errSupposes = errors.New("a writer changes the file, and supposes nothing")

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
