package keeper

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"golang.org/x/sys/unix"
)

// A keeper that is stopped, as by a debugger or a frozen control group, or that hangs, keeps its lock. Its bell tells
// it from one that has much to do: a running keeper hears that at once. A keeper whose database was moved cannot
// report anything, and is replaced by a pass that has the database under its new name. What a replaced keeper executes
// lives on without it, as when a keeper is killed.

const (
	// answerWithin is how long a keeper may leave its bell unheard before it is replaced.
	answerWithin = time.Minute
	// wakeWithin is how long a keeper that has just been woken, perhaps with its host, takes to hear its bell.
	wakeWithin = 2 * time.Second
	// killWithin is how long a killed keeper takes to end.
	killWithin = 5 * time.Second
)

// noteKeeper writes into a keeper's lock which process holds it, and the path of its database.
func noteKeeper(lock *os.File, self engine.Process, database string) {
	//nolint:errcheck // then it is not replaced
	lock.WriteAt(fmt.Appendf(nil, "%-10d %-20d %q\n", self.PID, self.Born, database), 0)
}

// keeperIn returns the process that a lock file of keepers names, pid 0 for none, and the path of its database, ""
// if an older version wrote the file.
func keeperIn(text []byte) (pid int, born uint64, database string) {
	if n, _ := fmt.Sscanf(string(text), "%d %d %q", &pid, &born, &database); n < 2 {
		return 0, 0, ""
	}
	return pid, born, database
}

// StoppedKeeper returns the pid of the process that executes a user's jobs on a host if it is stopped,
// otherwise 0. kept
// is the directory that KeptIn names.
func StoppedKeeper(stateDir, kept, host string) int {
	text, _ := os.ReadFile(filepath.Join(stateDir, kept, keeperName(host))) // without it there is none
	pid, born, _ := keeperIn(text)
	if _, stopped := Look(pid, born); pid == 0 || !stopped {
		return 0
	}
	return pid
}

// KeptIn returns the name of a database's directory in the state directory.
func KeptIn(id, epoch string) string { return id + "." + epoch }

// answering rings the bell of a keeper that has something to do, or is stopped. If it does not answer, or its database
// was moved, answering kills it and returns its lock, otherwise nil.
func (p *Passes) answering(s *state, wanted bool) (*os.File, error) {
	pid, born, database := p.keeperOf(s)
	lives, stopped := Look(pid, born)
	moved, why := lives && p.isMoved(pid, database), "has not answered for a minute"
	if moved {
		why = "has lost the database, which was moved"
	}
	if !wanted && !moved && (pid == 0 || !stopped) {
		return nil, nil
	}
	for end := time.Now().Add(wakeWithin); !moved; time.Sleep(wakeWithin / 20) {
		_, unheard := ringBell(s.epoch, bellName(p.Host))
		if unheard <= answerWithin {
			return nil, nil
		}
		if time.Now().After(end) {
			break
		}
	}
	if is, of, _ := p.keeperOf(s); is == 0 || is != pid || of != born { // of another process namespace, or another now
		return nil, nil
	}
	if lives, _ := Look(pid, born); !lives {
		return nil, nil
	}
	p.notef("process %d, which executes jobs, %s: another one takes its place", pid, why)
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		return nil, err
	}
	for end := time.Now().Add(killWithin); time.Now().Before(end); time.Sleep(wakeWithin / 100) {
		if lock, err := s.tryLock(keeperName(p.Host)); lock != nil || err != nil {
			return lock, err
		}
	}
	return nil, nil
}

// keeperOf returns the process that holds the lock of keepers, and the path of its database.
func (p *Passes) keeperOf(s *state) (pid int, born uint64, database string) {
	text, _ := s.epoch.ReadFile(keeperName(p.Host)) // without it there is none
	return keeperIn(text)
}

// isMoved reports whether the database that a keeper has under another path than this pass is no longer there, as the
// keeper's own mounts show it. The same file may have another device number there, but not another inode.
func (p *Passes) isMoved(pid int, database string) bool {
	ours, ok := statFile(p.Database)
	if !ok || database == p.Database || !filepath.IsAbs(database) {
		return false
	}
	theirs, there := statFile(fmt.Sprintf("/proc/%d/root%s", pid, database))
	return !there || theirs.Ino != ours.Ino
}
