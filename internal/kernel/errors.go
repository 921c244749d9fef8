package kernel

import (
	"errors"
	"fmt"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// Errors that callers branch on, besides those of packages row and file.
var (
	ErrClock   = errors.New("the clock is behind the database") // a writer's clock is before the file's time
	ErrAnyTime = fmt.Errorf("only a database made with init --any-time allows it%w", file.Wordless(row.ErrInvalid))
	ErrNested  = errors.New("a transaction inside another one") // on the same handle, as far as that is known
)

// Taken returns an ErrExists, which is also a conflict with the present state; more adds details.
func Taken(what, more string) error {
	return fmt.Errorf("%s: %w%s%w", what, file.ErrExists, more, file.Wordless(row.ErrConflict))
}

// ErrNotPermitted is an action or request that needs a permission the caller lacks.
var ErrNotPermitted = errors.New("not permitted")
