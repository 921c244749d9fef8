package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/placectl/placectl/store"
)

// settle settles what a supervisor has left behind that is no more, as far as the directory
// tells: it reports a result that lies there, that nothing was executed, or that nobody
// knows. Where the command still runs, adopt is true: somebody is to supervise it.
func (r *Runner) settle(ctx context.Context, d *dir, self store.Process) (adopt bool, err error) {
	j, err := d.journal()
	if err != nil {
		return false, err
	}
	if j == nil { // nobody has claimed
		return false, d.remove()
	}
	if r.ofAnother(j) {
		return false, nil
	}
	result, err := d.spooled()
	if err != nil {
		return false, err
	}
	if result == nil {
		result = d.result(j.Nonce, store.OutcomeUnbegun)
		if j.Boot != "" && j.Boot != self.Boot && j.process == nil { // it may have had a second line
			result.Outcome, result.Why = store.OutcomeLost, rebooted
		}
	}
	if j.process != nil && result.Outcome == store.OutcomeUnbegun && !d.has(gaveUpFile) {
		switch lifeOf(j.process.Process, self) {
		case alive:
			return true, nil
		case unknown:
			return false, nil
		}
		if d.has(gaveUpFile) {
			return false, r.report(ctx, d, result)
		}
		group := j.process.openGroup()
		killed, err := killLeft(group, j.Nonce)
		if err != nil {
			return false, err
		}
		group.use(&result.Use)
		group.remove()
		result.Outcome, result.Log, result.Use.Leftover = store.OutcomeLost, j.process.Log, killed
		result.Why = "its supervisor and its command are gone, and nobody knows how it ended"
		if j.process.Boot != self.Boot {
			result.Why = rebooted
		}
	}
	return false, r.report(ctx, d, result)
}

// rebooted is why an attempt is lost whose host was started anew.
const rebooted = "the host was started anew"

// report reports a result once; the directory goes when the database has said its word.
func (r *Runner) report(ctx context.Context, d *dir, result *store.Result) error {
	r.at("settling")
	if err := r.emptied(ctx, d, 0); err != nil {
		return err
	}
	if err := r.DB.Report(ctx, result); !settled(err) {
		return err
	} else if err != nil {
		r.notef("%s: %v", d.Key, err)
	}
	r.at("settled")
	return d.remove()
}

// ofAnother reports whether a journal is another database's: where its path leads to a
// file with our id that is not ours, that was copied from ours, or ours from that. A file
// that was moved goes on.
func (r *Runner) ofAnother(j *journal) bool {
	if j.Database == r.Database {
		return false
	}
	ours, ok := statFile(r.Database)
	theirs, there := statFile(j.Database)
	if !ok || !there || ours.Dev == theirs.Dev && ours.Ino == theirs.Ino {
		return false
	}
	return r.IdentityOf(j.Database) == r.ID
}

// killLeft kills those whom a command has left behind, and counts them.
func killLeft(group *cgroup, n store.Nonce) (killed int, err error) {
	left := func() func(func(pid int)) {
		tokens := tokensOf(n)
		return func(fn func(pid int)) {
			tokens.each(fn)
			for _, pid := range group.tasks() {
				fn(pid)
			}
		}
	}
	killed = len(listed(left()))
	for end := bootClock() + killFor; some(left()); time.Sleep(5 * time.Millisecond) {
		if bootClock() > end {
			return killed, fmt.Errorf("processes of the attempt with the nonce %s cannot be killed", n)
		}
		group.kill()
		sweep(left())
	}
	return killed, nil
}

// killFor is how long a pass tries to kill what is left of an attempt.
const killFor = 2 * time.Second

// settleLost settles an attempt that was claimed here and has no directory.
func (r *Runner) settleLost(ctx context.Context, h Held, self store.Process) error {
	if lifeOf(h.Process, self) != dead {
		return nil
	}
	result := h.result(h.Nonce, store.OutcomeLost)
	result.Why = "its directory is gone, and nobody knows how it ended"
	if h.Process.Boot != self.Boot {
		result.Why = rebooted
	} else {
		killed, err := killLeft(nil, h.Nonce)
		if err != nil {
			return err
		}
		result.Use.Leftover = killed
	}
	if err := r.DB.Report(ctx, result); !settled(err) {
		return err
	}
	return nil
}

// Adopt supervises a command whose supervisor was killed, under an epoch of the database.
// It returns without an error where there is none: a pass settles the rest.
func (r *Runner) Adopt(ctx context.Context, epoch string, k Key) error {
	s, err := openState(r.StateDir, r.ID, epoch)
	if err != nil {
		return err
	}
	defer s.close()
	d, err := s.lockDir(k, false)
	if errors.Is(err, errHeld) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.close()
	self, err := Self(r.Host)
	if err != nil {
		return err
	}
	if adopt, err := r.settle(ctx, d, self); !adopt {
		return err
	}
	j, err := d.journal()
	if err != nil {
		return err
	}
	r.at("adopting")
	a := &attendance{Runner: r, dir: d, nonce: j.Nonce, begun: j.process, group: j.process.openGroup()}
	if a.bell, err = d.hangBell(); err != nil {
		return err
	}
	defer a.bell.Close()
	order, err := r.claim(ctx, k, j.Nonce)
	switch {
	case err == nil:
		a.begun.End = bootClock() + order.Left
	case settled(err): // the job has gone on without it
		if err := d.write(stopFile, nil, 0o600); err != nil {
			return err
		}
	}
	r.at("adopted")
	go r.keepBeat(ctx, s)
	result := a.attend(ctx)
	a.group.remove()
	_, err = r.deliver(ctx, d, result, a.until, nil)
	return err
}
