package tables

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/query/tables"
)

// Jobs by time. Their numbers ascend in order of submission, so the jobs of some hours are
// found by binary search. The file lists ended jobs by their end. The others are few, and are
// examined. A finished job began before its end.

// worthRange: listing ends pays off if they are at most this fraction of all jobs, or twice as
// many together with the jobs that have not ended. Looking up a row takes longer than reading
// the next one.
const worthRange = 8

// Between finds jobs by submit, start and end.
func (t *jobs) Between(column int, from, to int64) (tables.Range, bool) {
	if t.c.src.NextJob > math.MaxUint32 {
		return tables.Range{}, false
	}
	from = max(from, 1) // 0 is NULL
	switch t.columns[column].Name {
	case "submit":
		return t.submitted(from, to), true
	case "start":
		return t.ended(from, to, math.MaxInt64, row.JobFailed, row.JobCancelled)
	case "end":
		return t.ended(from, to, to)
	}
	return tables.Range{}, false
}

// submitted returns the numbers of the jobs submitted in from..to.
func (t *jobs) submitted(from, to int64) tables.Range {
	switch {
	case from > to:
		return tables.Range{From: 1, To: 0}
	case to == math.MaxInt64:
		return tables.Range{From: int64(t.since(from)), To: math.MaxInt64}
	}
	return tables.Range{From: int64(t.since(from)), To: int64(t.since(to+1)) - 1}
}

// since returns the first number of the jobs submitted at or after an instant.
func (t *jobs) since(at int64) uint64 {
	low, high := uint64(1), t.c.src.NextJob
	var view row.JobView
	for low < high {
		middle := low + (high-low)/2
		rows := t.c.src.Rows.Numbers(row.Jobs, int64(middle), int64(high)-1)
		if !rows.Next() { // there are none from there on
			t.c.fail(rows.Err)
			high = middle
			continue
		}
		t.c.fail(view.Open(rows.Key, rows.Payload))
		if view.Submit() >= at {
			high = middle
		} else {
			low = view.ID() + 1
		}
	}
	return low
}

// ended returns the jobs that ended in from..last, and those that have not ended or are in one
// of the given states. It returns none if no instant is in from..to.
func (t *jobs) ended(from, to, last int64, also ...row.JobState) (tables.Range, bool) {
	out := roaring.New()
	if from > to {
		return tables.Range{Rows: out}, true
	}
	most := t.c.src.NextJob / worthRange
	rows := t.c.src.Rows.Range(row.Ended, row.TimeKey(from, 0), row.TimeKey(last, math.MaxUint64))
	for n := uint64(0); rows.Next(); n++ {
		if n > most {
			return tables.Range{}, false
		}
		if len(rows.Key) != 16 {
			t.c.fail(fmt.Errorf("%w: the end of a job has the key %x", row.ErrDamaged, rows.Key))
			break
		}
		out.Add(uint32(binary.BigEndian.Uint64(rows.Key[8:])))
	}
	t.c.fail(rows.Err)
	for _, s := range row.AllJobStates() {
		if s.Live() {
			also = append(also, s)
		}
	}
	for _, s := range also {
		out.Or(t.inState(s))
	}
	return tables.Range{Rows: out}, out.GetCardinality()*worthRange <= 2*t.c.src.NextJob
}

// jobsAfter returns the numbers of the jobs that have not ended, or ended after an instant,
// ascending. No other job has had a node since.
func (c *Catalog) jobsAfter(at int64) ([]uint64, error) {
	var out []uint64
	add := func(key []byte) (bool, error) {
		if len(key) < 8 {
			return false, fmt.Errorf("%w: a job is listed as %x", row.ErrDamaged, key)
		}
		out = append(out, binary.BigEndian.Uint64(key[len(key)-8:]))
		return true, nil
	}
	for _, s := range row.AllJobStates() {
		if !s.Live() {
			continue
		}
		if err := c.src.Rows.Each(row.JobStates, []byte{byte(s)},
			func(key, _ []byte) (bool, error) { return add(key) }); err != nil {
			return nil, err
		}
	}
	err := c.src.Rows.EachFrom(row.Ended, row.TimeKey(at+1, 0), nil, func(key, _ []byte) (bool, error) {
		return add(key)
	})
	slices.Sort(out)
	return out, err
}
