package keeper

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/bytejson"
	"github.com/placectl/placectl/internal/launch"
	"golang.org/x/sys/unix"
)

// An attempt has ended when none of its processes is left on any of its nodes. Before placectl on
// starts a command on another node, it leaves a file in a directory of the attempt. It removes the
// file when the other side has said that nothing is left there. If files remain when the attempt ends
// here, its keeper asks all the other hosts to end its processes, until a round has found none on any
// of them.

// ElsewhereName is the variable with the path of that directory.
const ElsewhereName = "PLACECTL_ELSEWHERE"

// sent is the content of such a file: the environment of its ssh.
type sent struct{ Env []string }

// ofSSH are the variables that ssh needs.
var ofSSH = []string{"PATH", "HOME", "USER", "LOGNAME", "SSH_AUTH_SOCK"}

// NoteSent records that something is sent to another node. back removes the record. In jobs without
// such records, as those of launchers, NoteSent does nothing.
func NoteSent(getenv func(string) string) (back func(), err error) {
	dir := getenv(ElsewhereName)
	if dir == "" || getenv(tokenName) == "" {
		return func() {}, nil
	}
	var s sent
	for _, name := range ofSSH {
		if value := getenv(name); value != "" {
			s.Env = append(s.Env, name+"="+value)
		}
	}
	text, err := bytejson.Marshal(s)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, rand.Text())
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return nil, fmt.Errorf("nothing is sent to other nodes while that cannot be recorded: %w", err)
	}
	return func() { os.Remove(path) }, os.Rename(path+".new", path)
}

// elsewhere returns what was recorded of an attempt, nil if nothing was.
func (sl *slot) elsewhere() (*sent, error) {
	list, err := fs.ReadDir(sl.root.FS(), elsewhereDir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(list) == 0 {
		return nil, nil
	}
	s := new(sent)
	for _, e := range list {
		if text, failed := sl.root.ReadFile(elsewhereDir + "/" + e.Name()); failed == nil && bytejson.Unmarshal(text,
			s) == nil {
			break
		}
	}
	return s, err
}

// sweepTime is how long a host may take to end the processes of an attempt that must be killed.
const sweepTime = 30 * time.Second

// emptied ends an attempt's processes on other hosts. They may go on there until the given time.
func (a *attendance) emptied(ctx context.Context, until time.Duration) error {
	s, err := a.slot.elsewhere()
	if s == nil || err != nil || a.begun == nil {
		return err
	}
	ssh, err := launch.FindSSHIn(s.Env)
	if err != nil {
		return err
	}
	for found := true; found; {
		found = false
		within := max(until-bootClock(), 0)
		words := []string{"placectl", "on", "--sweep", tagOf(a.slot.nonce.String()) + "," + within.Round(
			time.Millisecond).String()}
		var failed []error
		for _, err := range ssh.Each(ctx, a.begun.Hosts, within+sweepTime, func(string) []string { return words }) {
			var status *launch.Refused
			if errors.As(err, &status) && status.Status == SweepFound {
				found = true
			} else if err != nil {
				failed = append(failed, err)
			}
		}
		if err := errors.Join(failed...); err != nil {
			return fmt.Errorf("processes may be left elsewhere: %w", err)
		}
	}
	return emptyDir(a.slot.root, a.slot.path, elsewhereDir)
}

// saidAfter is how long emptyAll takes before the job's reason says so.
const saidAfter = time.Second

// emptyAll repeats emptied until it succeeds, or until the job has gone on without the attempt.
func (a *attendance) emptyAll(until time.Duration) {
	ctx := a.keeper.left
	says := func(why string) {
		if err := a.DB.LeftOver(ctx, a.slot.Key, a.slot.nonce, "its command has ended; "+why); err != nil &&
			!Settled(err) {
			a.notef("%s: %v", a.slot.Key, err)
		}
	}
	slow := time.AfterFunc(saidAfter, func() { says("processes that it left on other nodes are being ended") })
	defer slow.Stop()
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		err := a.emptied(ctx, until)
		if err == nil || ctx.Err() != nil {
			return
		}
		a.notef("%s: %v", a.slot.Key, err)
		slow.Stop()
		says(err.Error())
		if _, gone := a.DB.Held(ctx, a.slot.Key, a.slot.nonce, a.slot.epoch()); gone != nil && Settled(gone) ||
			a.slot.isRemoved() || !sleep(ctx, wait) {
			return
		}
	}
}

// SweepFound is the exit status of a sweep that has found and ended processes.
const SweepFound = 75

// Sweep ends an attempt's processes on this host: those that watch its commands, the commands, and
// those with its token. asked is a tag, a comma, and how long they may still run. Sweep reports
// whether it found any.
func Sweep(asked string) (found bool, err error) {
	tag, text, _ := strings.Cut(asked, ",")
	within, err := time.ParseDuration(text)
	if err != nil || tag == "" {
		return false, fmt.Errorf("%q is not TAG,DURATION", asked)
	}
	end := bootClock() + within
	told := make(map[int]bool)
	for {
		watchers := watching(tag)
		tokens := tokensWith(tag)
		below := func(fn func(pid int)) {
			for _, pid := range watchers {
				eachDescendant(pid, fn)
			}
			tokens.each(fn)
		}
		left := listed(below)
		if len(watchers)+len(left) == 0 {
			return found, nil
		}
		found = true
		switch now := bootClock(); {
		case now > end+sweepTime/2:
			return found, fmt.Errorf("processes %v cannot be killed", append(watchers, left...))
		case now >= end:
			sweep(below)
		default:
			for _, pid := range append(left, watchers...) {
				if !told[pid] {
					unix.Kill(pid, unix.SIGTERM) //nolint:errcheck // it may have ended
				}
				told[pid] = true
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// comm returns the name of processes that watch commands of an attempt.
func comm(tag string) string { return "on-" + tag }

// watching lists the processes that watch commands of an attempt.
func watching(tag string) (list []int) {
	for _, pid := range processes() {
		if nameOf(pid) == comm(tag) && Lives(pid, 0) {
			list = append(list, pid)
		}
	}
	return list
}

// Elsewhere is a command of a job to run on another of its nodes. A process there watches it, and
// receives the command and then its input over a connection. If the connection breaks, the command
// and all its descendants are ended.
type Elsewhere struct {
	Words []string // the command's name and arguments
	Env   []string
	Dir   string
	Grace time.Duration // time from SIGTERM to SIGKILL
}

// A connection carries the command as a line of JSON, and then pieces of its input, each preceded by
// its length in four bytes, big-endian. An empty piece is the end of the input. The end of the
// connection means that it has broken.

// maxPiece bounds a piece of input in bytes.
const maxPiece = 1 << 16

// Send sends the command and then its input up to its end. The connection stays open.
func (e *Elsewhere) Send(to io.Writer, in io.Reader) error {
	if err := bytejson.Write(to, e); err != nil {
		return err
	}
	piece := make([]byte, 4+maxPiece)
	for {
		n, err := in.Read(piece[4:])
		if n == 0 && err == nil {
			continue
		}
		binary.BigEndian.PutUint32(piece, uint32(n))
		if _, err := to.Write(piece[:4+n]); err != nil || n == 0 {
			return err
		}
		if err != nil {
			_, err := to.Write(make([]byte, 4))
			return err
		}
	}
}
