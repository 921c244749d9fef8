package store

import (
	"fmt"

	"github.com/placectl/placectl/placer/fairshare"
)

// The class shares of a store are two rows: what an administrator has set, and
// since when the shares have been out of balance, which a scheduling cycle keeps
// for the next one.

var (
	keyShareSettings = []byte("settings")
	keyShareState    = []byte("state")
)

const (
	shareSettingsVersion = 1
	shareStateVersion    = 1
)

// Shares are the settings of class shares, a copy to be changed by its methods and
// handed to SetShares. A store where nobody set any has no classes.
func (tx *Tx) Shares() (*fairshare.Settings, error) {
	s := new(fairshare.Settings)
	row, err := tx.shareRow(keyShareSettings)
	if err != nil || row == nil {
		return s, err
	}
	return s, decodeShareSettings(row, s)
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
		return tx.remove(tableShares, keyShareSettings)
	}
	return tx.put(tableShares, keyShareSettings, encodeShareSettings(s))
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
	row, err := tx.shareRow(keyShareState)
	if err != nil || row == nil {
		return fairshare.Timer{}, err
	}
	d := decoder{b: row}
	d.byte()
	return fairshare.Timer{Running: true, Since: d.int()}, d.done(tableShares, keyShareState)
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
		return tx.remove(tableShares, keyShareState)
	}
	e := encoder{}
	e.byte(shareStateVersion)
	e.int(t.Since)
	return tx.put(tableShares, keyShareState, e.b)
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

// shareRow finds a row of the shares, nil where there is none or the file is of a
// format that had none.
func (tx *Tx) shareRow(key []byte) ([]byte, error) {
	if tx.file.table(tableShares) == nil && tx.format < tables[tableShares].since {
		return nil, nil
	}
	return tx.get(tableShares, key)
}

func encodeShareSettings(s *fairshare.Settings) []byte {
	e := encoder{}
	e.byte(shareSettingsVersion)
	e.uint(uint64(len(s.Loads)))
	for _, c := range s.Loads {
		e.string(c.Class)
		e.int(int64(c.Load))
	}
	e.uint(uint64(len(s.Map)))
	for _, m := range s.Map {
		e.string(m.Class)
		e.string(m.Requestor)
	}
	e.string(s.Default)
	e.int(int64(s.Rebalance.Threshold))
	e.int(s.Rebalance.MinDuration)
	return e.b
}

func decodeShareSettings(row []byte, s *fairshare.Settings) error {
	d := decoder{b: row}
	d.byte()
	if n := d.count(); n > 0 {
		s.Loads = make([]fairshare.ClassLoad, n)
	}
	for i := range s.Loads {
		s.Loads[i] = fairshare.ClassLoad{Class: d.string(), Load: int(d.int())}
	}
	if n := d.count(); n > 0 {
		s.Map = make([]fairshare.Mapping, n)
	}
	for i := range s.Map {
		s.Map[i] = fairshare.Mapping{Class: d.string(), Requestor: d.string()}
	}
	s.Default = d.string()
	s.Rebalance = fairshare.Rebalance{Threshold: int(d.int()), MinDuration: d.int()}
	return d.done(tableShares, keyShareSettings)
}
