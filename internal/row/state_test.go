package row

import (
	"errors"
	"testing"

	"github.com/placectl/placectl/index"
)

// TestStateBounds: loops over the months up to an instant, or over the numbers below a counter, must end,
// and each counter must have a next number. So a state beyond its bounds is damaged.
func TestStateBounds(t *testing.T) {
	for name, set := range map[string]func(*State, uint64){
		"as of":       func(s *State, n uint64) { s.AsOf = int64(n) },
		"node":        func(s *State, n uint64) { s.NextNode = uint32(n) },
		"bucket":      func(s *State, n uint64) { s.NextBucket = uint32(n) },
		"resource":    func(s *State, n uint64) { s.NextResource = index.ResID(n) },
		"job":         func(s *State, n uint64) { s.NextJob = n },
		"reservation": func(s *State, n uint64) { s.NextReservation = n },
		"event":       func(s *State, n uint64) { s.Events = n },
		"room":        func(s *State, n uint64) { s.Invalidations = n },
		"startable":   func(s *State, n uint64) { s.Startable = n },
	} {
		last := map[string]uint64{"as of": LastInstant, "node": mostNodes, "bucket": mostBuckets,
			"resource": mostResources}[name]
		if last == 0 {
			last = mostNumbers
		}
		for at, sound := range map[uint64]bool{0: true, 1000: true, last: true, last + 1: false} {
			var was, s State
			set(&was, at)
			if err := StateRow.Read(&s, KeyState, StateRow.Encode(&was)); errors.Is(err, ErrDamaged) == sound {
				t.Errorf("%s %d: %v", name, at, err)
			}
		}
	}
	var s State
	if err := StateRow.Read(&s, KeyState, StateRow.Encode(&State{AsOf: -1})); !errors.Is(err, ErrDamaged) {
		t.Errorf("as of -1: %v", err)
	}
}
