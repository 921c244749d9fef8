package runner

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/placectl/placectl/store"
)

// tellFor is for how long a supervisor tries to tell what came of its attempt. After that
// it leaves that to passes.
const tellFor = 10 * time.Minute

// deliver keeps a result until the database has said its word about it; then the directory
// goes. It is told once nothing of the attempt is left on its other nodes, where that may use
// its time until an instant. If there is a turn the result is reported in it, and the attempt that
// it gives to this process is returned.
func (r *Runner) deliver(ctx context.Context, d *dir, result *store.Result, until time.Duration, turn func(context.Context) (*execution, error)) (next *execution, err error) {
	r.at("ended")
	if err := d.spool(result); err != nil {
		r.notef("%s: the result cannot be kept: %v", d.Key, err)
	}
	r.at("spooled")
	r.emptyAll(ctx, d, result.Nonce, until)
	told := false
	if turn != nil {
		next, err = turn(ctx)
		told = err == nil
	}
	if !told {
		if err := r.tell(ctx, result, d); err != nil {
			return nil, err
		}
	}
	r.at("told")
	return next, d.remove()
}

// goneAfter is the pause between two reports from which on nobody waits for a database that
// was removed together with the attempt's directory.
const goneAfter = 8 * time.Second

// tell reports a result, and tries again after 1, 2, 4 .. 60 s where nobody knows whether
// it was taken. d is the attempt's directory, nil where it has none.
func (r *Runner) tell(ctx context.Context, result *store.Result, d *dir) error {
	ctx, cancel := context.WithTimeout(ctx, tellFor)
	defer cancel()
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		err := r.DB.Report(ctx, result)
		if settled(err) {
			if err != nil {
				r.notef("%d.%d: %v", result.Job, result.Attempt, err)
			}
			return nil
		}
		if wait == time.Second && d != nil {
			d.syncResult() //nolint:errcheck // it is as safe as it can be
		}
		if wait >= goneAfter && r.gone(d) || !sleep(ctx, wait) {
			return err
		}
	}
}

// gone reports whether the database was removed, and what lies of an attempt on this host,
// too: then neither this process nor a pass has anybody to report to. A file that was moved
// leaves the directory, and the pass there reports what lies in it.
func (r *Runner) gone(d *dir) bool {
	if d != nil && !d.removed() || !filepath.IsAbs(r.Database) {
		return false
	}
	_, err := os.Stat(r.Database)
	return errors.Is(err, fs.ErrNotExist)
}

func (r *Runner) notef(format string, args ...any) {
	if r.Note != nil {
		r.Note(format, args...)
	}
}
