package file

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/placectl/placectl/internal/row"
)

// Errors that callers branch on, besides those of package row. Package store says when they
// occur.
var (
	ErrExists   = errors.New("exists already")
	ErrLocked   = errors.New("the database is in use")
	ErrNotOurs  = errors.New("not a placectl database")
	ErrUnsafe   = errors.New("not safe to open")
	ErrNewer    = errors.New("the database was written by a newer placectl")
	ErrUnknown  = errors.New("the outcome is unknown")
	ErrReadOnly = errors.New("read-only transaction")
	ErrClosed   = errors.New("the handle on the database is closed")
	// ErrNoDatabase is an ErrNotFound, and an fs.ErrNotExist.
	ErrNoDatabase = fmt.Errorf("there is no database%w%w", Wordless(row.ErrNotFound), Wordless(fs.ErrNotExist))
)

// Wordless returns an error without text that errors.Is matches to another. Append it with %w
// to words that already say everything.
func Wordless(is error) error { return wordless{is} }

type wordless struct{ is error }

func (wordless) Error() string   { return "" }
func (w wordless) Unwrap() error { return w.is }
