package check

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/placectl/placectl/store/internal/row"
)

// jobStates are the jobs by state, as the table of that name lists them. There may be
// millions that have ended: they are bitmaps.
type jobStates map[row.JobState]*roaring64.Bitmap

func (s jobStates) add(j *row.Job) {
	if s[j.State] == nil {
		s[j.State] = roaring64.New()
	}
	s[j.State].Add(j.ID)
}

// each goes through the keys of the table, in their order.
func (s jobStates) each(fn func(key []byte) error) error {
	for _, state := range slices.Sorted(maps.Keys(s)) {
		for ids := s[state].Iterator(); ids.HasNext(); {
			if err := fn(row.JobStateKey(state, ids.Next())); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareStates tells how the table differs from what it should hold.
func (d *derived) compareStates() error {
	missing := make(jobStates)
	for state, ids := range d.states {
		missing[state] = ids.Clone()
	}
	err := d.store.Rows.Each(row.JobStates, nil, func(key, payload []byte) (bool, error) {
		var ids *roaring64.Bitmap
		if len(key) == 9 {
			ids = missing[row.JobState(key[0])]
		}
		switch {
		case ids == nil || !ids.CheckedRemove(binary.BigEndian.Uint64(key[1:])):
			d.Find("table %s has %x, which should not be there", row.JobStates, key)
		case string(payload) != string(row.EncodeMark()):
			d.Find("table %s: %x is not what the rows say", row.JobStates, key)
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	return missing.each(func(key []byte) error {
		d.Find("table %s lacks %x", row.JobStates, key)
		return nil
	})
}

// jobsOf is the jobs of a queue that are in a state.
type jobsOf struct {
	state row.JobState
	queue string
}

// counts writes down how many jobs of each queue are in which state.
func (d *derived) counts() {
	for of, n := range d.perQueue {
		d.rows[row.JobCounts][string(row.JobCountKey(of.state, of.queue))] = row.EncodeCount(n)
	}
}
