package attend

import "github.com/fsnotify/fsnotify"

// Watch returns a channel that receives when a file is written to or replaced. The kernel of this
// host may not see what other hosts write. Watch keeps no file open.
func Watch(path string) (changed <-chan struct{}, err error) {
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
		for {
			select {
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
