package kernel

import (
	"fmt"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// Once binds a change to an idempotency key, so that it happens once, however often it is
// requested. If the outcome of an Update is unknown, because its commit failed on its way to
// disk, or the process died, repeat it with the same key and the same request.
//
// The answer is kept for the time of the setting keep_keys, and until the jobs that the change made
// have ended.
type Once struct {
	Key     string // 1 to MaxKey bytes
	Request []byte // everything the change depends on; another request with the key fails with ErrKey
	// Answer is the function's answer. The first call sets it; later calls with the key find it
	// here.
	Answer []byte
	// Repeated means that the change was made before, so the function did not run.
	Repeated bool
	// First and Jobs are the first number and the count of the jobs that the change made, if it is repeated.
	First, Jobs uint64
	// A function sets Refused if its transaction must be kept, but not its answer. A repeated
	// call then runs it again.
	Refused bool
}

// Valid fails with ErrInvalid if the key is empty or too long.
func (o *Once) Valid() error {
	if o.Key == "" || len(o.Key) > MaxKey {
		return fmt.Errorf("%w key: it has %d bytes, and must have from 1 to %d", row.ErrInvalid, len(o.Key), MaxKey)
	}
	return nil
}

// MaxKey is the longest idempotency key, in bytes.
const MaxKey = 1000

// ErrKey says that an idempotency key belongs to another request. It is an ErrConflict, too.
var ErrKey = fmt.Errorf("the key belongs to another request%w", file.Wordless(row.ErrConflict))
