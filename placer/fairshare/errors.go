package fairshare

import (
	"errors"
	"fmt"
)

var (
	// ErrState is wrapped by the error of Plan for an impossible State: a negative number, one above its
	// limit, jobs that do not add up to their class, or no load above 0. *StateError says which.
	ErrState = errors.New("fairshare: impossible state")

	// ErrSetting is wrapped by the error for a refused value. The settings stay as they were.
	// *SettingError says why.
	ErrSetting = errors.New("fairshare: refused setting")
)

// StateError says which part of a State is impossible.
type StateError struct {
	Class string // the class, "" if it is about all of them
	Why   string // the mistake, and the right form
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
	Entry int    // the entry of a list, from 0; -1 for none
	Text  string // the text with the fault, "" if it is not about a text
	Pos   int    // byte in Text where the fault is; -1 if unknown
	Why   string // the mistake, and the right form
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
