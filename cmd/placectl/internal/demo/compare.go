package demo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/placectl/placectl/cmd/placectl/internal/group"
	"github.com/placectl/placectl/store"
)

// Others are the policies that the demo's days are compared with, those that differ
// most from the default: the comparison must not take longer than what it is about.
var Others = []string{"tetris", "cpuload"}

// Compare replays the same days with other policies, all at once, each into a database of
// its own that is thrown away. seen is told how many jobs were submitted, by one
// goroutine after the other.
func (d *Data) Compare(ctx context.Context, seen func(jobs int)) ([]Outcome, error) {
	dir, err := scratchDir()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var replays group.Group
	var telling sync.Mutex
	out, errs := make([]Outcome, len(Others)), make([]error, len(Others))
	for i, policy := range Others {
		replays.Go(func() {
			p, err := d.Replay(ctx, filepath.Join(dir, strconv.Itoa(i)), &store.Options{}, policy, func(n int) {
				telling.Lock()
				defer telling.Unlock()
				seen(n)
			})
			if err == nil {
				var past *past
				if past, err = p.past(d); err == nil {
					out[i] = past.Outcome
				}
				err = errors.Join(err, p.DB.Close())
			}
			errs[i] = err
		})
	}
	replays.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err // once, not for each of them
	}
	return out, errors.Join(errs...)
}

// memoryDisk is where Linux keeps files in memory. What is thrown away anyhow need
// not wait for a disk.
const memoryDisk = "/dev/shm"

// scratchDir makes a folder for what is thrown away.
func scratchDir() (string, error) {
	if dir, err := os.MkdirTemp(memoryDisk, "placectl-"); err == nil {
		return dir, nil
	}
	return os.MkdirTemp("", "placectl-")
}
