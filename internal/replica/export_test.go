package replica

import (
	"time"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// What the tests with a log in memory see of the package: the log's driver imports it.

var (
	ErrAgain  = errAgain
	MachineID = machineID
	Touch     = touch
	Nowhere   = nowhere
)

const (
	LongSilent = longSilent
	CrowdedFor = crowdedFor
	DueEntries = dueEntries
)

func (rep *Replica) Opt() *Options           { return &rep.opt }
func (rep *Replica) Path() string            { return rep.path(rep.ID()) }
func (rep *Replica) FreshPath() string       { return rep.freshPath() }
func (rep *Replica) LinePath() string        { return rep.linePath() }
func (rep *Replica) NoteCrowd(waited bool)   { rep.noteCrowd(waited) }
func (rep *Replica) SetBeat(d time.Duration) { rep.beat = d }
func (rep *Replica) Join() error             { return rep.join(rep.until()) }

// CatchUp applies a tail that was read for a position.
func (rep *Replica) CatchUp(from Position, tail *Tail) error {
	return (&session{rep: rep, until: rep.until()}).catchUp(from, tail)
}

// MakeReplica makes a replica from a snapshot.
func (s *Snapshot) MakeReplica(path string, log ID) error { return s.make(path, log, time.Minute) }

// TakeSnapshotOf makes a snapshot of rows that are not examined.
func TakeSnapshotOf(r *file.Recorder, at Position, each func(row.Table, func(key, value []byte) error) error) (
	*Snapshot, error) {
	return takeSnapshot(r, at, each)
}
