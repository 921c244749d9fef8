package check

import (
	"errors"

	"github.com/placectl/placectl/placer/fairshare"
)

// shares verifies the settings of class shares: that SetShares would accept them, and that
// what runs and waits by class can be planned with.
func (f *Findings) shares(s *Store) error {
	set, err := s.Shares()
	if err == nil {
		err = set.Check()
	}
	if err != nil {
		f.Find("class shares: %v", err)
		return nil
	}
	timer, err := s.shareTimer()
	switch {
	case err != nil:
		f.Find("class shares: %v", err)
	case timer.Running && timer.Since > s.State.AsOf:
		f.Find("class shares: out of balance since @%d, and it is @%d", timer.Since, s.State.AsOf)
	}
	state, err := s.shareState()
	if err == nil {
		_, err = new(fairshare.Planner).Plan(state)
	}
	if errors.Is(err, fairshare.ErrState) {
		f.Find("class shares: %v", err)
		return nil
	}
	return err
}
