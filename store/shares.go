package store

import (
	"fmt"

	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/store/internal/row"
)

// The class shares of a store are two rows: what an administrator has set, and
// since when the shares have been out of balance, which a scheduling cycle keeps
// for the next one.

// Shares are the settings of class shares, a copy to be changed by its methods and
// handed to SetShares. A store where nobody set any has no classes.
func (tx *Tx) Shares() (*fairshare.Settings, error) {
	payload, err := tx.file.Get(row.Shares, row.KeyShareSettings)
	if err != nil || payload == nil {
		return new(fairshare.Settings), err
	}
	return row.DecodeShareSettings(payload)
}

// SetShares replaces the settings of class shares; those without anything in them
// forget all. It fails with ErrInvalid and the *fairshare.SettingError where they
// would not work. The timer of rebalancing begins anew where what it measures
// changes: the classes, their loads, the threshold or the duration.
func (tx *Tx) SetShares(s *fairshare.Settings) error {
	if !tx.Writable() {
		return ErrReadOnly
	}
	if err := s.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	was, err := tx.Shares()
	if err != nil {
		return err
	}
	tx.loaded.matcher = nil
	if was.Rebalance != s.Rebalance || !sameLoads(was.Loads, s.Loads) {
		if err := tx.SetShareTimer(fairshare.Timer{}); err != nil {
			return err
		}
	}
	if len(s.Loads) == 0 && s.Rebalance == (fairshare.Rebalance{}) {
		return tx.file.Remove(row.Shares, row.KeyShareSettings)
	}
	return tx.file.Put(row.Shares, row.KeyShareSettings, row.EncodeShareSettings(s))
}

func sameLoads(a, b []fairshare.ClassLoad) bool {
	if len(a) != len(b) {
		return false
	}
	loads := make(map[string]int, len(a))
	for _, c := range a {
		loads[c.Class] = c.Load
	}
	for _, c := range b {
		if load, ok := loads[c.Class]; !ok || load != c.Load {
			return false
		}
	}
	return true
}

// ShareTimer is since when classes have been as far apart as the threshold of
// rebalancing says, as the last cycle left it.
func (tx *Tx) ShareTimer() (fairshare.Timer, error) {
	payload, err := tx.file.Get(row.Shares, row.KeyShareState)
	if err != nil || payload == nil {
		return fairshare.Timer{}, err
	}
	return row.DecodeShareTimer(payload)
}

// SetShareTimer keeps a timer for the next cycle. One that has not changed writes
// nothing.
func (tx *Tx) SetShareTimer(t fairshare.Timer) error {
	if !tx.Writable() {
		return ErrReadOnly
	}
	was, err := tx.ShareTimer()
	switch {
	case err != nil || was == t:
		return err
	case !t.Running:
		return tx.file.Remove(row.Shares, row.KeyShareState)
	}
	return tx.file.Put(row.Shares, row.KeyShareState, row.EncodeShareTimer(t))
}

// ClassOf is the class that a requestor's jobs are in: that of the first mapping
// which matches, else the default class; "" in a store without classes.
func (tx *Tx) ClassOf(requestor string) (string, error) {
	if tx.loaded.matcher == nil {
		s, err := tx.Shares()
		if err != nil {
			return "", err
		}
		if tx.loaded.matcher, err = s.Matcher(); err != nil {
			return "", fmt.Errorf("%w: class shares: %v", ErrDamaged, err)
		}
	}
	class, _ := tx.loaded.matcher.Class(requestor)
	return class, nil
}
