package keeper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/placectl/placectl/internal/bytejson"
	"github.com/placectl/placectl/internal/engine"
	"golang.org/x/sys/unix"
)

// A placectl run keeps a file in the state directory locked from before its job exists until its
// command has ended. The command inherits the descriptor, but programs such as ssh close it. So the
// file also names the command's process, and the command and its descendants have a token in their
// environment. While the database is unavailable, the file also keeps the command's result.

// inheritedFrom is the smallest number of the descriptor that a command inherits: scripts use small
// ones themselves.
const inheritedFrom = 200

// Attending is the lock of a process that attends to a job.
type Attending struct {
	As engine.Attendant

	runner *Runner
	fd     int
	path   string
	untold bool // a cycle must report the command's result
}

// Attend takes a lock for a process that is about to ask for a job and to execute it. Processes
// started after this inherit the lock.
func (r *Runner) Attend(nonce engine.Nonce) (*Attending, error) {
	if err := Executes(); err != nil {
		return nil, err
	}
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
	f, err := s.epoch.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, 0o600)
	if errors.Is(err, fs.ErrNotExist) { // the last process to leave has removed the directory
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
	if err := (attended{Database: r.Database}).write(fd); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return &Attending{As: engine.Attendant{Nonce: nonce, UID: uint32(os.Geteuid()), Process: self}, runner: r, fd: fd,
		path: s.path + "/" + name}, nil
}

func attendName(nonce engine.Nonce) string { return "run-" + nonce.String() }

// attended is one line of an attendant's file, or all of them merged.
type attended struct {
	Database string          `json:"database,omitempty"` // its path
	Command  *engine.Process `json:"command,omitempty"`
	Result   *engine.Result  `json:"result,omitempty"`
	Told     bool            `json:"told,omitempty"` // to terminate, after its attendant was killed
}

func (line attended) write(fd int) error {
	text, err := bytejson.Marshal(line)
	if err == nil {
		_, err = unix.Write(fd, append(text, '\n'))
	}
	return err
}

// Environ returns the variable that the command needs in its environment.
func (a *Attending) Environ() string { return tokenName + "=" + a.As.Nonce.String() }

// Began records the command's process.
func (a *Attending) Began(pid int) error {
	command := a.As.Process
	s, err := statOf(pid)
	if err != nil {
		return nil // it has ended
	}
	command.PID, command.Born = pid, s.born
	return attended{Command: &command}.write(a.fd)
}

// tellNow bounds how long an attendant tries to report, because a person may wait for it.
const tellNow = 3 * time.Second

// Tell reports the command's result. It first saves the result in the file. So if the database does
// not answer, or this process is killed, a cycle reports it.
func (a *Attending) Tell(ctx context.Context, result *engine.Result) error {
	result.Epoch = a.runner.Epoch
	if err := (attended{Result: result}).write(a.fd); err != nil {
		a.runner.notef("%v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, tellNow)
	defer cancel()
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := a.runner.DB.Report(ctx, result)
		if Settled(err) {
			return err
		}
		if !sleep(ctx, wait) {
			a.untold = true
			return fmt.Errorf("the next cycle on this host does it: %w", err)
		}
	}
}

// End releases the lock. It keeps the file only if a cycle must report the result.
func (a *Attending) End() {
	if !a.untold {
		os.Remove(a.path)               //nolint:errcheck // a cycle removes it
		os.Remove(filepath.Dir(a.path)) //nolint:errcheck // other runs may have files there
	}
	unix.Close(a.fd) //nolint:errcheck // a descriptor of ours
}

// left is what an ended attendant of this user on this host has left behind.
type left struct {
	attended
	path   string // the path of its file, "" for none
	lives  bool   // the command or a descendant lives
	locked bool   // a process holds its lock
	nonce  engine.Nonce
}

// leftBy finds what an attendant has left behind. It returns nil while the attendant lives. It also
// returns nil if this process cannot tell: on another host, for another user, in another process
// namespace, or if the database is a copy of the one that the attendant has.
func (r *Runner) leftBy(a *engine.Attendant) *left {
	self, err := Self(r.Host)
	if err != nil || a.Host != self.Host || int(a.UID) != os.Geteuid() || lifeOf(a.Process, self) != dead {
		return nil
	}
	l := &left{nonce: a.Nonce}
	// a restore may have drawn another epoch
	files, _ := filepath.Glob(r.StateDir + "/" + r.ID + ".*/" + attendName(a.Nonce))
	for _, path := range files {
		f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW, 0)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return nil
		}
		defer f.Close()
		l.path, l.locked = path, unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil
		// the last line may be incomplete
		for lines := json.NewDecoder(f); bytejson.Decode(lines, &l.attended) == nil; {
		}
		if r.ofAnother(l.Database) {
			return nil
		}
	}
	if a.Boot == self.Boot {
		l.lives = l.locked || l.Command != nil && lifeOf(*l.Command, self) != dead || some(tokensOf(a.Nonce).each)
	}
	return l
}

// each calls fn for a command and its descendants.
func (l *left) each(fn func(pid int)) {
	if l.Command != nil && Lives(l.Command.PID, l.Command.Born) {
		fn(l.Command.PID)
		eachDescendant(l.Command.PID, fn)
	}
	tokensOf(l.nonce).each(fn)
}

// terminate sends a command and its descendants SIGTERM, unless it has done so before.
func (l *left) terminate(p Program) {
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|unix.O_NOFOLLOW, 0)
	if err != nil {
		return // they are killed when their time is over
	}
	defer f.Close()
	if (attended{Told: true}).write(int(f.Fd())) == nil {
		p.send(unix.SIGTERM, listed(l.each))
	}
}

// EndAttended ends the jobs whose attendants were killed, and returns them. Waiting jobs are cancelled.
// A running job ends as the attendant has recorded. Without a record it is lost, once nothing of the
// command is left. others counts the attendants of this user that go on. The caller must call
// committed after the commit: it removes the attendants' files, and does for commands of ending jobs
// what their attendants cannot: it tells them to terminate, and kills them when their time is over.
func (r *Runner) EndAttended(tx *engine.Tx) (ended []*engine.Job, others int, committed func(), err error) {
	list, err := tx.Attempts().AttendedOn(r.Host)
	if err != nil {
		return nil, 0, nil, err
	}
	var after []func()
	for _, j := range list {
		l := r.leftBy(j.Attendant)
		if l == nil {
			if int(j.Attendant.UID) == os.Geteuid() {
				others++
			}
			continue
		}
		executed := j.State == engine.JobRunning && j.Claimed
		switch {
		case l.Result != nil && executed:
			j, err = tx.Attempts().Report(*l.Result)
		case l.lives && executed && j.Ending && !j.End.After(tx.Now()):
			after = append(after, func() { sweep(l.each) })
			others++
			continue
		case l.lives:
			if executed && j.Ending && !l.Told {
				after = append(after, func() { l.terminate(r.Program) })
			}
			others++
			continue
		case executed:
			j, err = tx.Attempts().Report(engine.Result{Job: j.ID, Attempt: j.Attempt, Nonce: j.Attendant.Nonce,
				Outcome: engine.OutcomeLost,
				Why:     "its run and its command were killed"})
		default:
			j, err = tx.Jobs().Cancel(j.ID, "its run was killed")
		}
		if errors.Is(err, engine.ErrConflict) {
			continue // the job has gone on without it
		}
		if err != nil {
			return nil, 0, nil, err
		}
		ended = append(ended, j)
		if l.path != "" {
			after = append(after, func() { os.Remove(l.path) })
		}
	}
	return ended, others, func() {
		for _, do := range after {
			do()
		}
	}, nil
}
