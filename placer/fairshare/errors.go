package fairshare

import (
	"errors"
	"fmt"
)

var (
	// ErrState is wrapped by what Plan returns for a State that cannot be: a negative
	// number, one above its limit, jobs that do not add up to their class, no load
	// above 0. *StateError says what.
	ErrState = errors.New("fairshare: impossible state")

	// ErrSetting is wrapped by what setting returns for a value that is refused; the
	// settings stay as they were. *SettingError says what.
	ErrSetting = errors.New("fairshare: refused setting")
)

// StateError says which part of a State cannot be.
type StateError struct {
	Class string // the class, "" when it is about all of them
	Why   string // what is wrong, and what would be right
}

func (e *StateError) Error() string {
	if e.Class == "" {
		return "fairshare: " + e.Why
	}
	return fmt.Sprintf("fairshare: class %q: %s", e.Class, e.Why)
}

// Unwrap makes errors.Is see ErrState.
func (e *StateError) Unwrap() error { return ErrState }

// SettingError says which setting was refused, and where it is wrong.
type SettingError struct {
	What  string // "class loads", "requestor map", "default class", "rebalance threshold", "rebalance minimum duration"
	Entry int    // which entry of a list, from 0; -1 where there is none
	Text  string // the text that was not understood, "" if it is not about a text
	Pos   int    // byte in Text where it goes wrong; -1 where that is not known
	Why   string // what is wrong, and what would be right
}

func (e *SettingError) Error() string {
	where := e.What
	if e.Entry >= 0 {
		where += fmt.Sprintf(", entry %d", e.Entry+1)
	}
	if e.Text != "" {
		where += fmt.Sprintf(" %q", e.Text)
	}
	if e.Pos >= 0 {
		where += fmt.Sprintf(", at byte %d", e.Pos+1)
	}
	return where + ": " + e.Why
}

// Unwrap makes errors.Is see ErrSetting.
func (e *SettingError) Unwrap() error { return ErrSetting }
