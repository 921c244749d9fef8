package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/placectl/placectl/internal/file"
)

// Change describes an entry for people.
type Change struct {
	Head
	Bytes   int      // of the entry, in the log
	Rows    int      // rows that it changes
	Tables  []string // the tables of those rows
	Chain   [8]byte  // of the entry
	Cleared bool     // a table was emptied first
}

// Each calls fn for the entries of the log after a position, the oldest existing one first.
func (rep *Replica) Each(since uint64, fn func(*Change) error) error {
	return rep.eachEntry(since, func(n uint64, b []byte) error {
		c, err := changeOf(b)
		if err != nil {
			return fmt.Errorf("entry %d: %w", n, err)
		}
		return fn(c)
	})
}

// eachEntry is Each with the entries' bytes.
func (rep *Replica) eachEntry(since uint64, fn func(n uint64, entry []byte) error) error {
	ctx, cancel := within(rep.until())
	defer cancel()
	for at := (Position{N: since}); ; {
		tail, err := rep.driver.After(ctx, at, false)
		if err != nil {
			return rep.away(err)
		}
		if at.N+1 < tail.First {
			at.N = tail.First - 1
			continue
		}
		for _, b := range tail.Entries {
			at = at.After(b)
			if err := fn(at.N, b); err != nil {
				return err
			}
		}
		if len(tail.Entries) == 0 || at.N >= tail.Head.N {
			return nil
		}
	}
}

func changeOf(b []byte) (*Change, error) {
	e, err := decodeEntry(b)
	if err != nil {
		return nil, err
	}
	c := &Change{Head: e.Head, Bytes: len(b), Chain: ChainOf(b)}
	for i := range e.tables {
		t := &e.tables[i]
		c.Rows += len(t.ops)
		c.Tables = append(c.Tables, t.name)
		c.Cleared = c.Cleared || t.cleared
	}
	return c, nil
}

// Audit looks for faults in the log, and compares this replica with a new one made from the
// log. It reports to find. A replica that differs is made again.
func (rep *Replica) Audit(find func(string)) error {
	if err := rep.auditEntries(find); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "placectl-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := rep.auditSnapshots(dir, find); err != nil {
		return err
	}
	other := &Replica{Name: rep.Name, driver: rep.driver, opt: rep.opt, link: dir + "/log"}
	other.opt.Folder, other.opt.Stale = dir, 0
	if err := other.join(rep.until()); err != nil {
		return err
	}
	for range 20 { // others may write meanwhile
		ours, err := rep.snapshot()
		if err != nil {
			return err
		}
		anew, err := other.snapshot()
		if err != nil {
			return err
		}
		if ours.At != anew.At {
			continue
		}
		if !bytes.Equal(ours.Body, anew.Body) {
			find(fmt.Sprintf("this machine's replica differs at position %v from one that is made anew of the log: "+
				"it is made anew", ours.At))
			return rep.join(rep.until())
		}
		return nil
	}
	return fmt.Errorf("%w: others wrote all the time, and no two replicas stood at one position", file.ErrLocked)
}

// auditSnapshots rebuilds the newest snapshot from the one before and the entries between the
// two, and compares, because a machine with a damaged replica may have made it.
func (rep *Replica) auditSnapshots(dir string, find func(string)) error {
	ctx, cancel := within(time.Now().Add(max(rep.opt.LockTimeout, joinTime)))
	defer cancel()
	earlier, err := rep.driver.Snapshot(ctx, true)
	if earlier == nil || err != nil {
		return rep.away(err)
	}
	newest, err := rep.driver.Snapshot(ctx, false)
	var was *Snapshot
	if err == nil {
		was, err = rep.replay(ctx, dir+"/newest.db", newest, newest.At)
	}
	if errors.Is(err, ErrSnapshot) {
		find(fmt.Sprintf("the newest snapshot: %v; put another in its place: placectl log trim", err))
		return nil
	}
	if err != nil {
		return err
	}
	is, err := rep.replay(ctx, dir+"/earlier.db", earlier, newest.At)
	if errors.Is(err, errTrimmed) { // another machine made a snapshot meanwhile
		return nil
	}
	if err == nil && !bytes.Equal(was.Body, is.Body) {
		find(fmt.Sprintf("the newest snapshot, at %v, is not what the snapshot at %v and the entries behind that "+
			"make; put another in its place from a machine that has not joined since: placectl log trim", newest.At,
			earlier.At))
	}
	return err
}

// errTrimmed means that entries are no longer in the log.
var errTrimmed = errors.New("the entries have been trimmed meanwhile")

// replay makes a file from a snapshot and the entries after it, and returns a snapshot of the
// file.
func (rep *Replica) replay(ctx context.Context, path string, from *Snapshot, until Position) (out *Snapshot,
	err error) {
	if err := from.make(path, rep.ID(), rep.opt.LockTimeout); err != nil {
		return nil, err
	}
	f, err := file.Open(path, file.Options{LockTimeout: rep.opt.LockTimeout, Replica: true})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for at := from.At; at.N < until.N; {
		tail, err := rep.driver.After(ctx, at, false)
		if err != nil {
			return nil, rep.away(err)
		}
		if len(tail.Entries) == 0 {
			return nil, errTrimmed
		}
		tail.Entries = tail.Entries[:min(uint64(len(tail.Entries)), until.N-at.N)]
		err = f.Follow(func(r *file.Recorder) (bool, error) {
			r.Unrecorded()
			stands, err := r.Replica()
			if err == nil {
				err = applyAll(r, stands, tail)
			}
			if err != nil {
				return false, err
			}
			at = positionOf(stands)
			return true, r.PutReplica(stands)
		})
		if err != nil {
			return nil, err
		}
	}
	err = f.View(func(r *file.Recorder) (err error) {
		out, err = TakeSnapshot(r, until)
		return err
	})
	return out, err
}

// snapshot returns a snapshot of the replica, brought up to date.
func (rep *Replica) snapshot() (snap *Snapshot, err error) {
	err = rep.View(func(r *file.Recorder) error {
		at, err := r.Replica()
		if err != nil {
			return err
		}
		snap, err = TakeSnapshot(r, positionOf(at))
		return err
	})
	return snap, err
}

// auditEntries verifies that each entry can be read and follows the previous one, from the
// snapshot before the newest to the end.
func (rep *Replica) auditEntries(find func(string)) error {
	ctx, cancel := within(rep.until())
	defer cancel()
	end, err := rep.driver.After(ctx, nowhere, false)
	if err != nil {
		return rep.away(err)
	}
	var last *Change
	stop := errors.New("an entry cannot be read")
	err = rep.Each(end.First-1, func(c *Change) error {
		switch {
		case c.Log != [4]byte(end.Log[:4]):
			find(fmt.Sprintf("entry %d, %s, is of another log", c.Position, c.author()))
		case last != nil && (c.Position != last.Position+1 || c.Before != last.Chain):
			find(fmt.Sprintf("entry %d, %s, does not follow entry %d, %s", c.Position, c.author(), last.Position,
				last.author()))
		}
		last = c
		return nil
	})
	if errors.Is(err, errEntry) {
		find(err.Error())
		err = stop
	}
	if err != nil {
		return err
	}
	switch {
	case last == nil && end.Head.N >= end.First, last != nil && last.Position < end.Head.N:
		find(fmt.Sprintf("the log ends at entry %d, and not all of its entries are there", end.Head.N))
	case last != nil && last.Position == end.Head.N && last.Chain != end.Head.Chain:
		find(fmt.Sprintf("entry %d, %s, is not the one that the log ends with", last.Position, last.author()))
	}
	return nil
}

// Watch waits until the log's end differs from since, and returns it as text. For "" it
// returns at once. It fails when the context ends.
func (rep *Replica) Watch(ctx context.Context, since string) (string, error) {
	for at, wait := nowhere, false; ; wait = true {
		tail, err := rep.driver.After(ctx, at, wait)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil {
			return "", rep.away(err)
		}
		if now := tail.Head.String(); now != since {
			return now, nil
		}
		at = tail.Head
	}
}

// Size is how much a log holds, and what its servers say of themselves.
type Size struct {
	Prefix int64 // bytes of its entries and snapshots
	Members
}

// Size tells how much the log holds.
func (rep *Replica) Size() (s Size, err error) {
	ctx, cancel := within(rep.until())
	defer cancel()
	for _, before := range []bool{false, true} {
		snap, err := rep.driver.Snapshot(ctx, before)
		if err != nil && !errors.Is(err, ErrSnapshot) {
			return s, rep.away(err)
		}
		if snap != nil {
			s.Prefix += int64(len(snap.Body))
		}
	}
	err = rep.eachEntry(0, func(_ uint64, b []byte) error { s.Prefix += int64(len(b)); return nil })
	if err != nil {
		return s, err
	}
	s.Members, err = rep.driver.Members(ctx)
	return s, rep.away(err)
}
