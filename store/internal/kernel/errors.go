package kernel

import (
	"errors"
	"fmt"

	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// Errors that callers branch on.
var (
	ErrExists     = file.ErrExists                                 // Create: the file exists; or a name is taken
	ErrNotFound   = row.ErrNotFound                                // no such file, job, node, reservation, queue, resource or setting
	ErrNoDatabase = file.ErrNoDatabase                             // an ErrNotFound: the database itself is not there, at least now
	ErrLocked     = file.ErrLocked                                 // timed out waiting for the lock
	ErrConflict   = row.ErrConflict                                // the change conflicts with the present state
	ErrClock      = errors.New("the clock is behind the database") // a writer's clock is before the file's time
	ErrAnyTime    = fmt.Errorf("only a database made with init --any-time allows it%w", file.Wordless(ErrInvalid))
	ErrDamaged    = row.ErrDamaged                                 // checksums, structure or invariants do not hold
	ErrNotOurs    = file.ErrNotOurs                                // the file is something else
	ErrUnsafe     = file.ErrUnsafe                                 // the file is not opened: anyone may write it, or it is a link
	ErrNewer      = file.ErrNewer                                  // the format is newer; the file is not touched
	ErrUnknown    = file.ErrUnknown                                // a commit failed on its way to disk: it may or may not be there
	ErrInvalid    = row.ErrInvalid                                 // an argument makes no sense
	ErrClosed     = file.ErrClosed                                 // a handle after its Close
	ErrReadOnly   = file.ErrReadOnly                               // a change inside View
	ErrNested     = errors.New("a transaction inside another one") // on the same handle, in the same goroutine
)

// Taken returns an ErrExists, which is also a conflict with the present state; more adds details.
func Taken(what, more string) error {
	return fmt.Errorf("%s: %w%s%w", what, ErrExists, more, file.Wordless(ErrConflict))
}

// ErrNotPermitted is an action or request that needs a permission the caller lacks.
var ErrNotPermitted = errors.New("not permitted")
