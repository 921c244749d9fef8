package kernel

import (
	"fmt"

	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/fairshare"
)

// The class shares of a store are two rows. One holds the settings. The other holds the time
// since when the shares are out of balance, which each cycle stores for the next.

// Shares returns a copy of the settings of class shares. Change it by its methods and pass it to
// Shares.Set. A store without class shares has no classes.
func (tx *Tx) Shares() (*fairshare.Settings, error) {
	payload, err := tx.File.Get(row.Shares, row.KeyShareSettings)
	if err != nil || payload == nil {
		return new(fairshare.Settings), err
	}
	return row.ShareSettingsRow.Decode(row.KeyShareSettings, payload)
}

// ShareTimer returns the time since when classes are as far apart as the threshold of
// rebalancing, as the last cycle left it.
func (tx *Tx) ShareTimer() (fairshare.Timer, error) {
	var t fairshare.Timer
	payload, err := tx.File.Get(row.Shares, row.KeyShareState)
	if err == nil && payload != nil {
		err = row.ShareTimerRow.Read(&t, row.KeyShareState, payload)
	}
	return t, err
}

// ClassOf returns the class of a requestor's jobs: that of the first mapping that matches, else the
// default class; "" in a store without classes.
func (tx *Tx) ClassOf(requestor string) (string, error) {
	if tx.Loaded.Matcher == nil {
		s, err := tx.Shares()
		if err != nil {
			return "", err
		}
		if tx.Loaded.Matcher, err = s.Matcher(); err != nil {
			return "", fmt.Errorf("%w: class shares: %v", row.ErrDamaged, err)
		}
	}
	class, _ := tx.Loaded.Matcher.Class(requestor)
	return class, nil
}
