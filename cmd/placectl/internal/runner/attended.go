package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/placectl/placectl/store"
	"golang.org/x/sys/unix"
)

// Whoever waits for a job with run, and executes it himself, has a file in the state
// directory locked from before the job is there until its command has ended: the command
// inherits the descriptor. So a lock that is free says that both are gone.

// inheritedFrom is the least number of the descriptor that a command inherits: scripts use
// small ones themselves.
const inheritedFrom = 200

// Attending is the lock of somebody who attends to a job.
type Attending struct {
	As store.Attendant

	fd   int
	path string
}

// Attend takes a lock for somebody who is about to ask for a job and to execute it. What is
// started from here on inherits it.
func (r *Runner) Attend(nonce store.Nonce) (*Attending, error) {
	self, err := Self(r.Host)
	if err != nil {
		return nil, err
	}
	s, err := openState(r.StateDir, r.ID, r.Epoch)
	if err != nil {
		return nil, err
	}
	defer s.close()
	name := attendName(nonce)
	f, err := s.epoch.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrNotExist) { // the last one to leave has removed the directory
		return r.Attend(nonce)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, fmt.Errorf("%s/%s: %w", s.path, name, err)
	}
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD, inheritedFrom)
	if err != nil {
		return nil, err
	}
	return &Attending{As: store.Attendant{Nonce: nonce, UID: uint32(os.Geteuid()), Process: self}, fd: fd, path: s.path + "/" + name}, nil
}

func attendName(nonce store.Nonce) string { return "run-" + nonce.String() }

// End gives the lock back, and leaves nothing behind.
func (a *Attending) End() {
	os.Remove(a.path)               //nolint:errcheck // who finds it free removes it
	os.Remove(filepath.Dir(a.path)) //nolint:errcheck // others may have something there
	unix.Close(a.fd)                //nolint:errcheck // it is ours
}

// Gone reports whether an attendant and the command that he started are certainly gone, as
// far as this process can tell: of its own user, on the same start of the same host, in the
// same process namespace. One of an earlier start of the host is gone.
func (r *Runner) Gone(a *store.Attendant) bool {
	self, err := Self(r.Host)
	switch {
	case err != nil || a.Host != self.Host || int(a.UID) != os.Geteuid():
		return false
	case a.Boot != self.Boot:
		return true
	case lifeOf(a.Process, self) != dead:
		return false
	}
	s, err := openState(r.StateDir, r.ID, r.Epoch)
	if err != nil {
		return false
	}
	defer s.close()
	name := attendName(a.Nonce)
	f, err := s.epoch.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return false
	}
	s.epoch.Remove(name) //nolint:errcheck // somebody else has
	return true
}

// EndAttended ends the jobs whose attendants are gone: those that wait are cancelled, those
// that run are lost. It returns them.
func (r *Runner) EndAttended(tx *store.Tx) ([]*store.Job, error) {
	list, err := tx.AttendedOn(r.Host)
	if err != nil {
		return nil, err
	}
	var ended []*store.Job
	for _, j := range list {
		if !r.Gone(j.Attendant) {
			continue
		}
		if j.State == store.JobRunning && j.Claimed {
			j, err = tx.Report(store.Result{Job: j.ID, Attempt: j.Attempt, Nonce: j.Attendant.Nonce, Outcome: store.OutcomeLost,
				Why: "its run and its command were killed"})
		} else {
			j, err = tx.Cancel(j.ID, "its run was killed")
		}
		if err != nil {
			return nil, err
		}
		ended = append(ended, j)
	}
	return ended, nil
}
