package store

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// derived is what the derived tables should hold, by table and key, recomputed
// from the rows alone.
type derived [tableCount]map[string][]byte

// derive recomputes every derived table from the rows that are not. Findings
// are contradictions among those rows: a node taken twice, a number that does
// not exist.
func (tx *Tx) derive(find func(format string, args ...any)) (*derived, error) {
	d := new(derived)
	for t := range tables {
		if tables[t].derived {
			d[t] = make(map[string][]byte)
		}
	}
	cal := timeline.NewCalendar(nil, tx.now, overdueGrace)
	if err := tx.deriveJobs(d, cal, find); err != nil {
		return nil, err
	}
	if err := tx.deriveReservations(d, cal, find); err != nil {
		return nil, err
	}
	for number, block := range cal.Changed() {
		if row := encodeBlock(block); row != nil {
			d[tableCalendar][string(key32(number))] = row
		}
	}
	return d, tx.deriveIndex(d, cal, find)
}

func (tx *Tx) deriveJobs(d *derived, cal *timeline.Calendar, find func(string, ...any)) error {
	return tx.EachJob(func(j *Job) error {
		if j.ID >= tx.state.nextJob {
			find("job %d: the next job number is %d", j.ID, tx.state.nextJob)
		}
		if j.State < JobHeld || j.State > JobCancelled {
			find("job %d has no legal state: %d", j.ID, j.State)
		}
		d[tableJobStates][string(jobStateKey(j.State, j.ID))] = []byte{1}
		if j.State != JobRunning {
			return nil
		}
		d[tableEndings][string(timeKey(j.End, jobOwner(j.ID)))] = []byte{1}
		for i, c := range j.Chunks {
			have := 0
			for _, n := range c.Nodes {
				have += n.Chunks
			}
			if have != c.Count {
				find("job %d: chunk %d is on nodes %d times, asked for %d", j.ID, i+1, have, c.Count)
			}
		}
		span := timeline.Busy{Start: j.Start, End: j.End, Owner: jobOwner(j.ID), Held: true}
		tx.deriveSpan(cal, fmt.Sprintf("job %d", j.ID), j.NodeNumbers(), span, find)
		return nil
	})
}

func (tx *Tx) deriveReservations(d *derived, cal *timeline.Calendar, find func(string, ...any)) error {
	return tx.EachReservation(func(r *Reservation) error {
		if r.ID >= tx.state.nextReservation {
			find("reservation %s: its number is %d, the next one %d", r.Name, r.ID, tx.state.nextReservation)
		}
		d[tableReservationIDs][string(key64(r.ID))] = append([]byte{1}, r.Name...)
		if r.End <= tx.now {
			return nil
		}
		owner := reservationOwner(r.ID)
		d[tableEndings][string(timeKey(r.End, owner))] = []byte{1}
		for _, t := range []int64{r.Start, r.End} {
			if t > tx.now {
				d[tableChanges][string(timeKey(t, owner))] = []byte{1}
			}
		}
		tx.deriveSpan(cal, "reservation "+r.Name, r.Nodes, timeline.Busy{Start: r.Start, End: r.End, Owner: owner}, find)
		return nil
	})
}

// deriveSpan puts a stretch on nodes. An overdue job may lie under what was
// planned after it, so stretches are compared by their planned ends.
func (tx *Tx) deriveSpan(cal *timeline.Calendar, who string, nodes []uint32, span timeline.Busy, find func(string, ...any)) {
	for _, n := range nodes {
		if _, _, err := tx.nodeHead(n); err != nil {
			find("%s is on node number %d, which does not exist", who, n)
		}
		for _, b := range cal.At(n) {
			if b.Start < span.End && span.Start < b.End {
				find("%s and %d share node number %d", who, b.Owner, n)
			}
		}
		if err := cal.Put(n, span); err != nil {
			find("%s: %v", who, err)
		}
	}
}

// deriveIndex sorts the nodes into the buckets that the rows speak of, and
// recomputes every bitmap.
func (tx *Tx) deriveIndex(d *derived, cal *timeline.Calendar, find func(string, ...any)) error {
	defs, err := tx.Resources()
	if err != nil {
		return err
	}
	set, err := tx.Settings()
	if err != nil {
		return err
	}
	ix := index.New(defs, set.signature(defs), nil, index.Limits{Nodes: tx.state.nextNode})
	if err := tx.adoptBuckets(ix, find); err != nil {
		return err
	}
	err = tx.EachNode(func(n *index.Node) error {
		d[tableNodeNames][n.Name] = append([]byte{1}, key32(n.Number)...)
		if n.Number >= tx.state.nextNode {
			find("node %s: its number is %d, the next one %d", n.Name, n.Number, tx.state.nextNode)
		}
		bucket := n.Bucket
		ix.Insert(n, classIn(cal, n.Number))
		if n.Bucket != bucket {
			find("node %s says it is in bucket %d, its values put it into %d", n.Name, bucket, n.Bucket)
		}
		return ix.Err()
	})
	if err != nil {
		return err
	}
	for k, bm := range ix.Changed() {
		if !bm.IsEmpty() {
			if d[tableBitmaps][string(bitsKey(k))], err = encodeBits(bm); err != nil {
				return err
			}
		}
	}
	for _, b := range ix.ChangedBuckets() {
		d[tableBuckets][string(key32(b.ID))] = encodeBucket(b)
	}
	return nil
}

// adoptBuckets gives the recomputed index the stored buckets' numbers.
func (tx *Tx) adoptBuckets(ix *index.Index, find func(string, ...any)) error {
	return tx.each(tableBuckets, nil, func(key, row []byte) (bool, error) {
		if len(key) != 4 {
			find("bucket key %x is not a number", key)
			return true, nil
		}
		id := uint32(key[0])<<24 | uint32(key[1])<<16 | uint32(key[2])<<8 | uint32(key[3])
		b, err := decodeBucket(id, key, row)
		if err != nil {
			return false, err
		}
		ix.Adopt(id, b.Signature, b.Queue, b.Priority)
		return true, ix.Err()
	})
}

// classIn is the class of a node that is up, by a calendar.
func classIn(c *timeline.Calendar, node uint32) index.Class {
	if _, on := c.On(node); on {
		return index.Busy
	}
	if c.Planned(node) {
		return index.Later
	}
	return index.Free
}

// compare tells how a derived table differs from what it should hold.
func (tx *Tx) compare(t table, want map[string][]byte, find func(string, ...any)) error {
	seen := make(map[string]bool, len(want))
	err := tx.each(t, nil, func(key, row []byte) (bool, error) {
		seen[string(key)] = true
		expected, ok := want[string(key)]
		switch {
		case !ok:
			find("table %s has %x, which should not be there", tables[t].name, key)
		case t == tableBitmaps:
			if err := sameBits(key, row, expected); err != nil {
				find("%v", err)
			}
		case !bytes.Equal(row, expected):
			find("table %s: %x is not what the rows say", tables[t].name, key)
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if !seen[key] {
			find("table %s lacks %x", tables[t].name, key)
		}
	}
	return nil
}

// sameBits compares bitmaps by what they hold: one may be encoded in several
// ways.
func sameBits(key, row, expected []byte) error {
	a, err := decodeBits(key, row)
	if err != nil {
		return err
	}
	b, err := decodeBits(key, expected)
	if err != nil {
		return err
	}
	if diff := roaring.Xor(a, b); !diff.IsEmpty() {
		return fmt.Errorf("bitmap %x differs from what the rows say in %d places, first at %d", key, diff.GetCardinality(), diff.Minimum())
	}
	return nil
}
