package kernel

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// ErrCopy means that a database executes nothing, because its file is a copy of it.
var ErrCopy = errors.New("the database is a copy")

// copyError is an ErrCopy, and an ErrConflict.
type copyError struct{ path, why string }

func (e *copyError) Error() string {
	return fmt.Sprintf("%s: nothing is executed from it, because %s; placectl adopt makes it a database of its own",
		e.path, e.why)
}

// Is makes errors.Is see what it is.
func (e *copyError) Is(target error) bool { return target == ErrCopy || target == row.ErrConflict }

// DefaultState returns the directory of what is executed for a user, if the setting state_dir is
// empty.
func DefaultState(uid int) string { return fmt.Sprintf("/var/tmp/placectl-%d", uid) }

// standing is what a transaction has found out about its file.
type standing struct {
	file.Standing
	executed file.Executed
	older    bool // an older state was copied over the file
}

// Copy says why nothing may be executed from the database: its file is a copy. It returns "" for
// the database itself.
func (tx *Tx) Copy() (why string, err error) {
	s, err := tx.standsAs()
	return s.Copy, err
}

// Executing fails with ErrCopy if the database is a copy.
func (tx *Tx) Executing() error {
	why, err := tx.Copy()
	if err == nil && why != "" {
		err = &copyError{tx.Path, why}
	}
	return err
}

func (tx *Tx) standsAs() (s standing, err error) {
	if tx.stands != nil || tx.Logged {
		return *cmp.Or(tx.stands, new(standing)), nil
	}
	if s.Standing, err = tx.File.Standing(); err != nil {
		return s, err
	}
	set, err := tx.Settings()
	if err != nil {
		return s, err
	}
	s.executed = file.Executed{Dir: cmp.Or(set.StateDir, DefaultState(os.Getuid())), Number: s.Number}
	if s.Copy == "" && s.Number != [16]byte{} {
		if s.older, err = tx.File.Precedes(s.executed); err == nil && s.older {
			s.Copy = "it is an older state of the database, which has executed jobs since"
		}
	}
	tx.stands = &s
	return s, err
}

// Executed records that the transaction gives an attempt to a process. Once it is committed, its
// number is kept, so that an older state of the file is recognised.
func (tx *Tx) Executed() { tx.executed = true }

// Parted makes a file for good the copy that it is, before it changes: its number would soon be as
// high as the one by which it is recognised, also when it is copied over the database.
func (tx *Tx) Parted() error {
	s, err := tx.standsAs()
	if err != nil || !s.older && !s.Made {
		return err
	}
	return tx.File.Unsettle()
}

// Committed is called after the commit of the transaction, or of a later one of the handle.
func (tx *Tx) Committed(last uint64) {
	if tx.executed && tx.stands != nil && tx.stands.Number != [16]byte{} {
		tx.stands.executed.Note(last)
	}
}

// Adopt makes the file the database itself, in another epoch.
func (tx *Tx) Adopt() error {
	tx.stands = nil
	if err := tx.File.DrawEpoch(); err != nil {
		return err
	}
	return tx.File.Settle("")
}
