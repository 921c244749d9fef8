package replica

import (
	"time"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// A snapshot is due if the entries since the last one are many, or are larger than twice the
// snapshot. For a small database, they must have a minimum size.
const (
	dueEntries = 2000
	dueWeight  = 2
	dueLeast   = 256 << 10
)

// due returns how many times over a snapshot is due.
func due(at *row.Replica) float64 {
	return max(float64(at.N-min(at.N, at.Since))/dueEntries,
		float64(at.Behind)/float64(max(dueWeight*at.SinceBytes, dueLeast)))
}

// newer records the position of the newest snapshot.
func newer(at *row.Replica, tail *Tail) bool {
	if tail.Snapshot.N <= at.Since {
		return false
	}
	at.Since, at.SinceBytes, at.Behind = tail.Snapshot.N, uint64(tail.SnapshotBytes), 0
	return true
}

// noteDue records how much a snapshot is due.
func (rep *Replica) noteDue(at *row.Replica) {
	rep.mu.Lock()
	defer rep.mu.Unlock()
	rep.due = due(at)
}

// Keep makes a snapshot if one is due times over, as far as the last transaction knows, and
// deletes the entries before the previous snapshot.
func (rep *Replica) Keep(times float64) error {
	rep.mu.Lock()
	least := rep.due
	rep.mu.Unlock()
	if least < times {
		return nil
	}
	return rep.keep(times)
}

// Trim makes a snapshot if there is an entry after the newest one, and deletes the entries
// before the previous snapshot.
func (rep *Replica) Trim() error { return rep.keep(0) }

// DryTrim returns the position of the snapshot that Trim would make, 0 if none, and the number
// of entries that it would delete.
func (rep *Replica) DryTrim() (snapshot, entries uint64, err error) {
	s := &session{rep: rep, until: rep.until()}
	ctx, cancel := within(s.until)
	defer cancel()
	tail, err := rep.driver.After(ctx, nowhere, false)
	if err != nil {
		return 0, 0, rep.away(err)
	}
	err = rep.File().View(func(r *file.Recorder) error {
		at, err := s.position(r)
		if err == nil && at.N > tail.Snapshot.N {
			snapshot, entries = at.N, max(tail.First, tail.Snapshot.N+1)-tail.First
		}
		return err
	})
	return snapshot, entries, err
}

// keep replaces the newest snapshot by one of the replica, unless the newest is newer. A damaged
// replica is made again first, because others start from the snapshot.
func (rep *Replica) keep(times float64) error {
	err := rep.keepOnce(times)
	if !isDamage(err) {
		return err
	}
	rep.detail("the replica is made anew: " + err.Error())
	if err := rep.join(rep.until()); err != nil {
		return err
	}
	if err := rep.View(func(*file.Recorder) error { return nil }); err != nil {
		return err
	}
	return rep.keepOnce(times)
}

func (rep *Replica) keepOnce(times float64) error {
	s := &session{rep: rep, until: time.Now().Add(max(rep.opt.LockTimeout, time.Minute))}
	ctx, cancel := within(s.until)
	defer cancel()
	tail, err := rep.driver.After(ctx, nowhere, false)
	if err != nil {
		return rep.away(err)
	}
	var snap *Snapshot
	err = rep.File().View(func(r *file.Recorder) error {
		at, err := s.position(r)
		if err != nil || at.N <= tail.Snapshot.N || newer(at, tail) && due(at) < times {
			return err
		}
		snap, err = TakeSnapshot(r, positionOf(at))
		return err
	})
	if err != nil {
		return err
	}
	if snap != nil {
		kept, err := rep.driver.Keep(ctx, rep.ID(), &tail.Snapshot, snap)
		if err != nil || !kept {
			return rep.away(err)
		}
		tail.Snapshot, tail.SnapshotBytes = snap.At, int64(len(snap.Body))
	}
	return rep.File().Follow(func(r *file.Recorder) (bool, error) {
		r.Unrecorded()
		at, err := s.position(r)
		if err != nil || !newer(at, tail) {
			return false, err
		}
		rep.noteDue(at)
		return true, r.PutReplica(at)
	})
}
