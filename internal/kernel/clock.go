package kernel

import (
	"fmt"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
)

// Skew is how many seconds a writer's clock may be behind the file's time: machines that share a
// file disagree a little.
const Skew = 5

// Stamp returns an instant, in Unix seconds, as messages show it.
func Stamp(t int64) string { return row.Stamp(t) }

// NodeIndex is the part of a transaction that keeps the index of nodes up to date.
type NodeIndex struct{ tx *Tx }

func (tx *Tx) NodeIndex() NodeIndex { return NodeIndex{tx} }

// Reclass updates the bitmaps of nodes that follow from the calendar, after stretches beginning at
// an instant have come or gone. If that instant is in the future, what is left of a node now stays
// the same.
func (ni NodeIndex) Reclass(nodes []uint32, begin int64) error {
	ix, err := ni.tx.Index()
	if err != nil {
		return err
	}
	begun := begin <= ni.tx.Calendar().Now()
	for _, number := range nodes {
		bucket, state, err := ni.tx.Loaded.Nodes.Head(number)
		if err != nil {
			return err
		}
		b := ix.Bucket(bucket)
		if b == nil {
			return fmt.Errorf("%w: node %d says it is in bucket %d", row.ErrDamaged, number, bucket)
		}
		class := index.None
		if state == index.Up {
			class = ni.ClassOf(number)
			ix.Move(b, number, ix.ClassOf(b, number), class)
		}
		if !begun {
			continue
		}
		if err := ni.tx.Loaded.Rooms.Measure(ix, number, class == index.Busy); err != nil {
			return err
		}
	}
	return ix.Err()
}

// ClassOf returns the class of a node that is up, by the calendar.
func (ni NodeIndex) ClassOf(node uint32) index.Class { return placer.ClassNow(ni.tx.Calendar(), node) }

// Rows, the calendar and the placer use whole Unix seconds, with 0 for none. The package's callers
// use time.Time, whose zero value means none, and time.Duration.

// Instant converts Unix seconds to a time.Time, 0 to the zero time.
func Instant(unix int64) time.Time {
	if unix == 0 {
		return time.Time{}
	}
	return time.Unix(unix, 0)
}

// Unix converts a caller's time to Unix seconds.
func Unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// Lasting converts seconds to a duration.
func Lasting(seconds int64) time.Duration { return time.Duration(seconds) * time.Second }

// Seconds converts a duration to whole seconds, rounded away from 0, as the placer reads a
// walltime.
func Seconds(d time.Duration) int64 {
	s := int64(d / time.Second)
	switch rest := d % time.Second; {
	case rest > 0:
		s++
	case rest < 0:
		s--
	}
	return s
}

// The file records a current time, and no writer may be behind it. So a writer with a wrong
// clock, or with a chosen time, would lock out all others and end jobs early. Databases for
// tests and simulations are marked when they are made, and accept any time. Databases of older
// formats have no mark and count as production, because a wrong guess would harm production
// more than a test.

// Ahead is how far, in seconds, a writer's clock may be ahead of this machine's.
const Ahead = 60

// AllowAnyTime marks a file as one for tests, which any clock may write to.
func AllowAnyTime(r *file.Recorder) (bool, error) {
	id, err := r.Identity()
	if err != nil {
		return false, err
	}
	id.AnyTime = true
	return true, r.PutIdentity(id)
}

// Timeless takes a new file back to no instant, so that a writer may begin at any. With nodes, jobs or
// reservations it stays where it is.
func Timeless(r *file.Recorder) (bool, error) {
	var s row.State
	payload, err := r.Get(row.Meta, row.KeyState)
	if err == nil && payload != nil {
		err = row.StateRow.Read(&s, row.KeyState, payload)
	}
	if err != nil || s.NextNode > 0 || s.NextJob > 1 || s.NextReservation > 1 {
		return false, err
	}
	s.AsOf = 0
	return payload != nil, r.Put(row.Meta, row.KeyState, row.StateRow.Encode(&s))
}
