package attend

import (
	"context"

	"github.com/fsnotify/fsnotify"
)

// Watch returns a channel that receives when a file is written to or replaced, until ctx ends. The kernel of this
// host may not see what other hosts write. Watch keeps no file open.
func Watch(ctx context.Context, path string) (changed <-chan struct{}, err error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	if err := w.Add(path); err != nil {
		w.Close()
		return nil, err
	}
	c := make(chan struct{}, 1)
	go func() {
		defer w.Close()
		for {
			select {
			case <-ctx.Done():
				return
			case e, open := <-w.Events:
				if !open {
					return
				}
				if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
					w.Add(path) //nolint:errcheck // the file is gone, and callers also poll
				}
			case _, open := <-w.Errors: // events were lost
				if !open {
					return
				}
			}
			select {
			case c <- struct{}{}:
			default:
			}
		}
	}()
	return c, nil
}
