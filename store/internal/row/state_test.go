package row

import (
	"errors"
	"testing"
)

// TestStateInstants: a state after the year 9999, or before 1970, is damaged, because loops
// over the months up to it would not end.
func TestStateInstants(t *testing.T) {
	for at, sound := range map[int64]bool{0: true, 1_700_000_000: true, LastInstant: true, LastInstant + 1: false, 1 << 53: false, -1: false} {
		var s State
		if err := s.Decode((&State{AsOf: at}).Encode()); errors.Is(err, ErrDamaged) == sound {
			t.Errorf("as of %d: %v", at, err)
		}
	}
}
