package file

import "github.com/placectl/placectl/store/internal/row"

// Version is what the file is like: two transactions that have the same see the same rows,
// but for what a reader's clock has passed since (Patched). Not ok for a writer, whose
// rows change, and for a file of a format that has no sums.
func (r *Recorder) Version() (version row.Sums, ok bool) {
	if r.Writable() {
		return version, false
	}
	sums, err := r.storedSums()
	if sums == nil || err != nil {
		return version, false
	}
	return *sums, true
}

// Patched reports whether a reader sees rows of a table otherwise than they are in the file.
func (r *Recorder) Patched(t row.Table) bool {
	p := r.patch(t)
	return p != nil && (p.cleared || len(p.pages) > 0)
}
