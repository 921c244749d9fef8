package keeper

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/bytejson"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/gate"
	"golang.org/x/sys/unix"
)

// The journal of a slot records what was done for its attempt. Each line is written before the step
// that it makes safe. Lines are not synced: killing a process loses none. After a power failure lines
// may be missing, but no command survives that. So the first line names the boot in which it was
// written. The keeper's lines are JSON, the warden's are gate.Said, and each has a checksum. A journal
// lives on disk for as long as its attempt, even through upgrades: fields are added, never changed.

// line is a line of the keeper. One of its fields is set.
type line struct {
	Intent   *intent        `json:"intent,omitempty"`   // the attempt is about to be claimed
	Go       *begun         `json:"go,omitempty"`       // it is claimed, and the gate about to be told
	Stopping *stopping      `json:"stopping,omitempty"` // it was told to terminate
	Result   *engine.Result `json:"result,omitempty"`   // the result to report
}

// intent is the first line.
type intent struct {
	Attempt  string       `json:"attempt,omitempty"`
	Nonce    engine.Nonce `json:"nonce"`
	Database string       `json:"database"` // its path, or a URL
	Device   uint64       `json:"device"`   // of the file
	Inode    uint64       `json:"inode"`
	Boot     string       `json:"boot,omitempty"`
}

// begun is what a keeper must know to take over an attempt.
type begun struct {
	Cgroup string        `json:"cgroup,omitempty"`
	Signal int           `json:"signal,omitempty"`
	Before time.Duration `json:"before,omitempty"`
	First  bool          `json:"first,omitempty"` // the signal is only for the command
	Steps  bool          `json:"steps,omitempty"` // signals are for the script's steps, as in Slurm
	Grace  time.Duration `json:"grace"`
	End    time.Duration `json:"end"`              // by the boot clock, as known then
	Polled bool          `json:"polled,omitempty"` // the memory of share must be polled
	Hosts  []string      `json:"hosts,omitempty"`  // its other nodes
	share
}

// stopping says why an attempt was told to terminate, and how long it may take.
type stopping struct {
	Outcome engine.Outcome `json:"outcome"`
	Why     string         `json:"why,omitempty"`
	KillAt  time.Duration  `json:"kill_at"` // by the boot clock
}

// journal is the content of a journal.
type journal struct {
	intent
	begun    *begun // nil: certainly nothing was executed
	stopping *stopping
	result   *engine.Result
	said     []gate.Said
}

// add adds a line.
func (sl *slot) add(l *line) error {
	text, err := bytejson.Marshal(l)
	if err != nil {
		return err
	}
	_, err = sl.lines.Write(gate.Sealed(text))
	return err
}

// tag marks the warden's lines of an attempt.
func tag(n engine.Nonce) (is uint64) {
	for _, b := range n[:8] {
		is = is<<8 | uint64(b)
	}
	return is
}

// journal reads the journal. It returns nil if no attempt has the slot, or if the first line is
// incomplete: then nothing has been claimed yet.
func (sl *slot) journal() (*journal, error) {
	f, err := sl.root.Open(journalFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	j := new(journal)
	for text := range strings.Lines(string(text)) {
		text, whole := gate.Unsealed(strings.TrimSuffix(text, "\n"))
		if !whole {
			continue
		}
		if s, ok := (&gate.Order{Tag: tag(j.Nonce)}).Heard(text); ok {
			j.said = append(j.said, s)
			continue
		}
		var l line
		if bytejson.Unmarshal([]byte(text), &l) != nil {
			continue
		}
		switch {
		case l.Intent != nil:
			j.intent = *l.Intent
		case l.Go != nil:
			j.begun = l.Go
		case l.Stopping != nil:
			j.stopping = l.Stopping
		case l.Result != nil:
			j.result = l.Result
		}
	}
	k, err := ParseKey(j.Attempt)
	if err != nil || j.Nonce == (engine.Nonce{}) {
		return nil, nil //nolint:nilerr // nothing was claimed
	}
	if sl.Key, sl.nonce = k, j.Nonce; j.result != nil && (j.result.Job != k.Job || j.result.Attempt != k.Number) {
		j.result = nil
	}
	return j, nil
}

// isHeld reports whether a warden lives, or a process that has yet to become the command. They keep
// the journal locked.
func (sl *slot) isHeld() (bool, error) {
	f, err := sl.root.Open(journalFile)
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// lock opens the journal for a warden, and locks it. It stays locked until the warden, and the process
// that becomes the command, have closed it.
func (sl *slot) lock() (*os.File, error) {
	f, err := sl.root.OpenFile(journalFile, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	for wait := 50 * time.Microsecond; ; wait *= 2 {
		switch err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case err == nil:
			return f, nil
		// otherwise the previous warden has yet to release it
		case !errors.Is(err, unix.EWOULDBLOCK) || wait > time.Second:
			f.Close()
			return nil, &os.PathError{Op: "flock", Path: sl.path + "/" + journalFile, Err: err}
		}
		time.Sleep(wait)
	}
}
