package nodes

import (
	"iter"

	"github.com/placectl/placectl/internal/row"
)

// PlannedFrom returns the instants, from the given one on, at which something planned begins
// or ends, with its nodes: a reservation or a job's start. It reads them as the caller
// iterates.
func (b Base) PlannedFrom(from int64) iter.Seq2[int64, []uint32] {
	return func(yield func(int64, []uint32) bool) {
		err := b.Rows.EachFrom(row.Changes, row.TimeKey(from, 0), nil, func(k, _ []byte) (bool, error) {
			at, owner := row.SplitTimeKey(k)
			nodes, err := b.OwnerNodes(owner)
			return err == nil && yield(at, nodes), err
		})
		if err != nil {
			b.Fail(err)
		}
	}
}
