// Package recovery makes databases from rows that come from elsewhere: a dump, the readable
// part of a damaged file, or old rows that go into an archive. It also writes dumps. It works
// on rows, table by table, without transactions. check.Store tells it what rows mean. It makes
// a database in a scratch file, recomputes what is derived, verifies it, and only then gives
// it its name.
//
// After a clock was ahead, the rows of a file are set back to an earlier instant (rewind.go). For each kind of row,
// the list of its fields says how its instants move. Package check rebuilds what is derived.
package recovery

import (
	"errors"
	"fmt"
	"strings"

	"github.com/placectl/placectl/internal/check"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// Open opens a scratch file, which no other process uses: its commits are not durable.
type Open func(path string) (Scratch, error)

// Scratch is a database in a scratch file.
type Scratch interface {
	File() *file.File
	// AsOf returns the database for checking, at the file's instant. It migrates a file of an
	// older format.
	AsOf(r *file.Recorder) (*check.Store, error)
	// Check reports each contradiction.
	Check(report func(finding string)) error
	Close() error
}

// complete turns a scratch file with all rows that are not derived into a database: it derives
// the others, draws an epoch, and verifies everything. from is the source of the rows, for
// messages.
func complete(db Scratch, from string) error {
	if err := derive(db, from); err != nil {
		return err
	}
	if err := db.File().Update(func(r *file.Recorder) (bool, error) { return true, r.DrawEpoch() }); err != nil {
		return err
	}
	list, more := []string(nil), 0
	err := db.Check(func(finding string) {
		if len(list) == maxReasons {
			more++
			return
		}
		list = append(list, finding)
	})
	if err != nil {
		return err
	}
	return contradicts(from, list, more)
}

// maxReasons is the most findings in an error.
const maxReasons = 5

// contradicts returns an error that says why rows do not make a database, or nil without
// reasons.
func contradicts(from string, reasons []string, more int) error {
	if len(reasons) == 0 {
		return nil
	}
	if more > 0 {
		reasons = append(reasons, fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("%w: the rows of %s contradict each other: %s", row.ErrDamaged, from, strings.Join(reasons, "; "))
}

// derive fills the empty derived tables of a scratch file. For a file of an older format, the
// migration fills them.
func derive(db Scratch, from string) error {
	var made *check.Derived
	var state row.State
	err := db.File().Update(func(r *file.Recorder) (bool, error) {
		is, err := db.AsOf(r)
		if err != nil || r.Migrated() {
			return true, err
		}
		var list []string
		made, err = check.Derive(is, func(finding string) { list = append(list, finding) })
		state = *is.State
		if errors.Is(err, row.ErrNotFound) {
			err = contradicts(from, []string{err.Error()}, 0)
		}
		if err == nil && len(made.Blamed) > 0 {
			err = contradicts(from, list[:min(len(list), maxReasons)], max(0, len(list)-maxReasons))
		}
		return false, err
	})
	if err != nil || made == nil {
		return err
	}
	return db.File().Bulk(func(b *file.Bulk) error {
		if err := made.Each(b.Put); err != nil {
			return err
		}
		state.NextBucket = max(state.NextBucket, made.Buckets())
		return b.Put(row.Meta, row.KeyState, row.StateRow.Encode(&state))
	})
}
