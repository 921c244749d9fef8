package store

import (
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store/internal/row"
)

// Stats are a store's numbers.
type Stats struct {
	Format     uint32
	Bytes      int64 // of the file
	Nodes      int
	ByState    [NodeStates]int // by NodeState
	Buckets    int
	Jobs       map[JobState]int
	Reserved   int // reservations that have not ended
	CPUs       int64
	CPUsTaken  int64 // by jobs that run now
	UsageSince time.Time
}

// Stats counts. It costs what it counts: nodes that are not up, jobs by state, and the
// jobs that run.
func (tx *Tx) Stats() (*Stats, error) {
	ix, err := tx.index()
	if err != nil {
		return nil, err
	}
	s := &Stats{Format: tx.file.Format(), Bytes: tx.file.Size(), Jobs: make(map[JobState]int),
		CPUs: ix.Configured(index.NCPUs), UsageSince: tx.UsageSince()}
	notUp := roaring.New()
	for _, b := range ix.Buckets() {
		s.Buckets++
		s.Nodes += int(b.Total)
		s.ByState[NodeFree] += int(b.Count[index.Free] + b.Count[index.Later])
		s.ByState[NodeBusy] += int(b.Count[index.Busy])
		if b.Count[index.None] > 0 {
			notUp.Or(roaring.AndNot(ix.Nodes(b, index.None), roaring.FastOr(ix.Nodes(b, index.Free), ix.Nodes(b, index.Later), ix.Nodes(b, index.Busy))))
		}
	}
	s.ByState[NodePartly] = int(ix.Partly().GetCardinality())
	s.ByState[NodeBusy] -= s.ByState[NodePartly]
	if err := tx.loaded.nodes.notUp(notUp, func(_ uint32, state NodeState) { s.ByState[state]++ }); err != nil {
		return nil, err
	}
	for _, state := range JobStates() {
		err := tx.file.Each(row.JobStates, []byte{byte(state)}, func(_, _ []byte) (bool, error) {
			s.Jobs[state]++
			return true, nil
		})
		if err != nil {
			return nil, err
		}
	}
	err = tx.eachReservation(func(r *row.Reservation) error {
		if r.End > tx.now {
			s.Reserved++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = tx.eachJob(func(j *row.Job) error {
		spans, err := tx.spansOf(j)
		for _, span := range spans {
			cpus, failed := tx.loaded.usage.cpusOf(span.node, span.Busy)
			if failed != nil {
				return failed
			}
			s.CPUsTaken += cpus
		}
		return err
	}, JobRunning)
	if err != nil {
		return nil, err
	}
	return s, ix.Err()
}
