package tables

import (
	"iter"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/query"
)

// Parts returns the number of nodes of each bucket in each state, from the counts of the
// buckets. It reads sets of nodes only for nodes that are in use, or not up.
func (t *nodes) Parts(columns []int) (iter.Seq2[query.Row, func() uint64], bool) {
	byState := false
	for _, i := range columns {
		col := &t.columns[i]
		byState = byState || col.Name == "state"
		if col.Name != "state" && col.bucket == nil {
			return nil, false
		}
	}
	if t.at != t.c.src.Now { // the counts are those of now
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
	free, busy, notUp := uint64(b.Count[index.Free]+b.Count[index.Later]), uint64(b.Count[index.Busy]),
		b.Count[index.None]
	partly := func() uint64 {
		if t.partly().IsEmpty() {
			return 0
		}
		return t.ix.Nodes(b, index.Busy).AndCardinality(t.partly())
	}
	for state := range index.NodeStates {
		var size func() uint64
		switch state {
		case index.NodeFree:
			size = func() uint64 { return free }
		case index.NodePartly:
			size = partly
		case index.NodeBusy:
			size = func() uint64 { return busy - partly() }
		default:
			size = func() uint64 { return t.ix.Nodes(b, index.None).AndCardinality(t.states().in[state]) }
		}
		switch {
		case state == index.NodeFree && free == 0, (state == index.NodePartly || state == index.NodeBusy) && busy == 0,
			state >= index.NodeDown && notUp == 0:
			continue
		}
		if row.state = state; !yield(row, size) {
			return false
		}
	}
	return true
}
