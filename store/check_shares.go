package store

import (
	"errors"

	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/store/internal/row"
)

// shares verifies the settings of class shares: that they are what SetShares lets
// in, and that what runs and waits by class can be planned with.
func (c *checker) shares(tx *Tx) error {
	err := tx.file.Each(row.Shares, nil, func(key, _ []byte) (bool, error) {
		if k := string(key); k != string(row.KeyShareSettings) && k != string(row.KeyShareState) {
			c.find("table %s: a row %q that nobody reads", row.Shares, k)
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	s, err := tx.Shares()
	if err == nil {
		err = s.Check()
	}
	if err != nil {
		c.find("class shares: %v", err)
		return nil
	}
	timer, err := tx.ShareTimer()
	switch {
	case err != nil:
		c.find("class shares: %v", err)
	case timer.Running && timer.Since > tx.now:
		c.find("class shares: out of balance since @%d, and it is @%d", timer.Since, tx.now)
	}
	state, err := tx.ShareState()
	if err == nil {
		_, err = new(fairshare.Planner).Plan(state)
	}
	if errors.Is(err, fairshare.ErrState) {
		c.find("class shares: %v", err)
		return nil
	}
	return err
}
