package store

import "github.com/placectl/placectl/index"

// Bucket is nodes that are alike in queue, priority and the resources of the setting
// signature, and how many of them are in which class.
type Bucket struct {
	ID        uint32
	Signature string // as text: ncpus=8:color=red
	Queue     string // "" for none
	Priority  int32
	Up        int // Free, Later and Busy together
	Free      int // nothing is on them or planned for them
	Later     int // nothing is on them, something is planned
	Busy      int // something is on them
	Open      int // of those that are busy: some of them could be had
	NotUp     int
}

// Buckets lists the buckets that have nodes, in the order in which they are tried.
func (tx *Tx) Buckets() ([]Bucket, error) {
	ix, err := tx.index()
	if err != nil {
		return nil, err
	}
	var out []Bucket
	for _, b := range ix.Buckets() {
		out = append(out, Bucket{b.ID, ix.Describe(b), b.Queue, b.Priority, b.Up(), int(b.Count[index.Free]),
			int(b.Count[index.Later]), int(b.Count[index.Busy]), ix.OpenNodes(b), int(b.Count[index.None])})
	}
	return out, ix.Err()
}
