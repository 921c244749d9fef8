package replica

import (
	"crypto/rand"
	"time"

	"github.com/placectl/placectl/internal/file"
)

// Create makes a log that begins with the content of a file.
func Create(d Driver, timeout time.Duration, f *file.File) error {
	var id ID
	rand.Read(id[:]) //nolint:errcheck // it never fails
	var first *Snapshot
	err := f.View(func(r *file.Recorder) (err error) {
		first, err = TakeSnapshot(r, id.Start())
		return err
	})
	if err != nil {
		return err
	}
	ctx, cancel := within(time.Now().Add(timeout))
	defer cancel()
	made, err := d.Keep(ctx, id, nil, first)
	if err == nil && !made {
		err = ErrLog
	}
	return away(err)
}
