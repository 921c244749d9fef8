package runner

import (
	"context"
	"time"

	"github.com/placectl/placectl/store"
)

// tellFor is for how long a supervisor tries to tell what came of its attempt. After that
// it leaves that to passes.
const tellFor = 10 * time.Minute

// deliver keeps a result until the database has said its word about it; then the directory
// goes.
func (r *Runner) deliver(ctx context.Context, d *dir, result *store.Result) error {
	r.at("ended")
	if err := d.spool(result); err != nil {
		r.notef("%s: the result cannot be kept: %v", d.Key, err)
	}
	r.at("spooled")
	if err := r.tell(ctx, result); err != nil {
		return err
	}
	r.at("told")
	return d.remove()
}

// tell reports a result, and tries again after 1, 2, 4 .. 60 s where nobody knows whether
// it was taken.
func (r *Runner) tell(ctx context.Context, result *store.Result) error {
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
		if !sleep(ctx, wait) {
			return err
		}
	}
}

func (r *Runner) notef(format string, args ...any) {
	if r.Note != nil {
		r.Note(format, args...)
	}
}
