package ask

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/config"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/timeline"
)

// Bucket describes nodes with the same queue, priority and resources of the setting signature, and
// how many of them are in each class.
type Bucket struct {
	ID        uint32
	Signature string // as text: ncpus=8:color=red
	Queue     string // "" for none
	Priority  int32
	Up        int // Free, Later and Busy together
	Free      int // nothing is on them or planned for them
	Later     int // nothing is on them, something is planned
	Busy      int // something is on them
	Open      int // busy nodes with room for more jobs
	NotUp     int
}

// Buckets lists the buckets that have nodes, in the order in which the placer tries them.
func (ak Ask) Buckets() ([]Bucket, error) {
	ix, err := ak.tx.Index()
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

// PlacementSet is a placement set with its name, key=value.
type PlacementSet struct {
	*index.Set
	Name string
}

// PlacementSets lists the placement sets of a queue's nodes ("" for nodes of no
// queue) in the order they are tried, by the given keys or the configured ones.
func (ak Ask) PlacementSets(queue string, keys []string) ([]PlacementSet, error) {
	if queue != "" {
		if _, err := ak.tx.Queue(queue); err != nil {
			return nil, err
		}
	}
	snap, err := plan.Snapshot(ak.tx, queue)
	if err != nil {
		return nil, err
	}
	defs := snap.Index.Defs()
	ids := snap.Rules.GroupKey
	if len(keys) > 0 {
		var names []string
		for _, k := range keys {
			if err := config.Resources(defs, k, &names, kernel.Groupable); err != nil {
				return nil, fmt.Errorf("%w group key: %w", row.ErrInvalid, err)
			}
		}
		ids = kernel.ResIDs(defs, names)
	}
	var out []PlacementSet
	for _, s := range snap.Index.Sets(queue, ids, snap.Rules.ExplicitSets) {
		out = append(out, PlacementSet{s, placer.SetName(defs, s)})
	}
	return out, snap.Index.Err()
}

// WaitsFor lists the jobs and reservations whose end a plan's start waits for. There are none
// for a start now.
func (ak Ask) WaitsFor(plan *placer.Plan) ([]kernel.Owner, error) {
	var out []kernel.Owner
	if plan.Start <= ak.tx.Now {
		return nil, nil
	}
	seen := make(map[uint64]bool)
	for _, node := range plan.NodeNumbers() {
		for _, b := range ak.tx.Calendar().At(node) {
			if ak.tx.Calendar().End(b) != plan.Start || seen[b.Owner] {
				continue
			}
			seen[b.Owner] = true
			who, err := ak.tx.Owner(b)
			if err != nil {
				return nil, err
			}
			out = append(out, who)
		}
	}
	for _, d := range plan.Demands {
		for _, h := range slices.SortedFunc(d.Holders, func(a, b limits.Holder) int {
			return cmp.Compare(a.Owner, b.Owner)
		}) {
			if d.End(h) != plan.Start || seen[h.Owner] {
				continue
			}
			seen[h.Owner] = true
			who, err := ak.tx.Owner(timeline.Busy{Owner: h.Owner})
			if err != nil {
				return nil, err
			}
			out = append(out, who)
		}
	}
	return out, ak.tx.Calendar().Err()
}

// Guess returns the overdue job that a plan's start rests on, or 0 if there is none. How long that job
// goes on is a guess, and so is the start.
func (ak Ask) Guess(plan *placer.Plan) (job uint64, err error) {
	job = placer.RestsOn(ak.tx.Calendar(), plan) >> 1
	return job, ak.tx.Calendar().Err()
}

// Stats are the counts of a store's nodes and jobs.
type Stats struct {
	Format     uint32
	Bytes      int64 // of the file
	Nodes      int
	ByState    [index.NodeStates]int // by NodeState
	Buckets    int
	Jobs       map[row.JobState]int
	Reserved   int // reservations that have not ended
	CPUs       int64
	CPUsTaken  int64 // by running jobs
	UsageSince time.Time
}

// Stats counts nodes and jobs. Its cost grows with the nodes that are not up and the jobs that run.
func (ak Ask) Stats() (*Stats, error) {
	ix, err := ak.tx.Index()
	if err != nil {
		return nil, err
	}
	s := &Stats{Format: ak.tx.File.Format(), Bytes: ak.tx.File.Size(), Jobs: make(map[row.JobState]int),
		CPUs: ix.Configured(index.NCPUs), UsageSince: kernel.Instant(ak.tx.State.UsageSince)}
	notUp := roaring.New()
	for _, b := range ix.Buckets() {
		s.Buckets++
		s.Nodes += int(b.Total)
		s.ByState[index.NodeFree] += int(b.Count[index.Free] + b.Count[index.Later])
		s.ByState[index.NodeBusy] += int(b.Count[index.Busy])
		if b.Count[index.None] > 0 {
			notUp.Or(roaring.AndNot(ix.Nodes(b, index.None),
				roaring.FastOr(ix.Nodes(b, index.Free), ix.Nodes(b, index.Later), ix.Nodes(b, index.Busy))))
		}
	}
	s.ByState[index.NodePartly] = int(ix.Partly().GetCardinality())
	s.ByState[index.NodeBusy] -= s.ByState[index.NodePartly]
	if err := ak.tx.Loaded.Nodes.NotUp(notUp,
		func(_ uint32, state index.NodeState) { s.ByState[state]++ }); err != nil {
		return nil, err
	}
	for _, state := range row.AllJobStates() {
		err := ak.tx.File.Each(row.JobStates, []byte{byte(state)}, func(_, _ []byte) (bool, error) {
			s.Jobs[state]++
			return true, nil
		})
		if err != nil {
			return nil, err
		}
	}
	err = ak.tx.Reservations().Each(func(r *row.Reservation) error {
		if r.End > ak.tx.Now {
			s.Reserved++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = ak.tx.EachJob(func(j *row.Job) error {
		spans, err := ak.tx.Allocations().Spans(j)
		for _, span := range spans {
			cpus, failed := ak.tx.Loaded.Usage.CPUsOf(span.Node, span.Busy)
			if failed != nil {
				return failed
			}
			s.CPUsTaken += cpus
		}
		return err
	}, row.JobRunning)
	if err != nil {
		return nil, err
	}
	return s, ix.Err()
}
