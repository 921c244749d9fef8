package store

import (
	"iter"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/query"
)

// Parts tells how many nodes of each bucket are in which state from the counts that the
// buckets keep. Sets of nodes are looked into for those that are not up alone.
func (t *nodes) Parts(columns []int) (iter.Seq2[query.Row, func() uint64], bool) {
	byState := false
	for _, i := range columns {
		col := &t.columns[i]
		byState = byState || col.Name == "state"
		if col.Name != "state" && col.bucket == nil {
			return nil, false
		}
	}
	if t.at != t.c.tx.now { // the counts are of now
		return nil, false
	}
	return func(yield func(query.Row, func() uint64) bool) {
		row := &bucketRow{t: t}
		for _, b := range t.ix.Buckets() {
			row.bucket = b
			if !byState {
				if !yield(row, func() uint64 { return uint64(b.Total) }) {
					return
				}
			} else if !t.stateParts(row, b, yield) {
				return
			}
		}
	}, true
}

// stateParts yields a bucket's parts by state.
func (t *nodes) stateParts(row *bucketRow, b *index.Bucket, yield func(query.Row, func() uint64) bool) bool {
	for _, s := range [...]struct {
		word  string
		class index.Class
		nodes func() *roaring.Bitmap // of those that are not up
	}{
		{"free", index.Free, nil}, {"later", index.Later, nil}, {"busy", index.Busy, nil},
		{"down", index.None, func() *roaring.Bitmap { return t.classes().down }},
		{"offline", index.None, func() *roaring.Bitmap { return t.classes().offline }},
		{"drained", index.None, func() *roaring.Bitmap { return t.classes().drained }},
	} {
		if b.Count[s.class] == 0 {
			continue
		}
		row.state = s.word
		size := func() uint64 { return uint64(b.Count[s.class]) }
		if s.nodes != nil {
			size = func() uint64 { return t.ix.Nodes(b, index.None).AndCardinality(s.nodes()) }
		}
		if !yield(row, size) {
			return false
		}
	}
	return true
}
