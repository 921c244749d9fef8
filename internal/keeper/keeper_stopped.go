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
// it from one that has much to do: a running keeper hears that at once. What it executes lives on without it, as when a
// keeper is killed.

const (
	// answerWithin is how long a keeper may leave its bell unheard before it is replaced.
	answerWithin = time.Minute
	// wakeWithin is how long a keeper that has just been woken, perhaps with its host, takes to hear its bell.
	wakeWithin = 2 * time.Second
	// killWithin is how long a killed keeper takes to end.
	killWithin = 5 * time.Second
)

// noteKeeper writes into a keeper's lock which process holds it.
func noteKeeper(lock *os.File, self engine.Process) {
	lock.WriteAt(fmt.Appendf(nil, "%-10d %-20d\n", self.PID, self.Born), 0) //nolint:errcheck // then it is not replaced
}

// keeperIn returns the process that a lock file of keepers names, pid 0 for none.
func keeperIn(text []byte) (pid int, born uint64) {
	if n, _ := fmt.Sscan(string(text), &pid, &born); n < 2 {
		return 0, 0
	}
	return pid, born
}

// StoppedKeeper returns the pid of the process that executes a user's jobs on a host if it is stopped,
// otherwise 0. kept
// is the directory that KeptIn names.
func StoppedKeeper(stateDir, kept, host string) int {
	text, err := os.ReadFile(filepath.Join(stateDir, kept, keeperName(host)))
	if err != nil {
		return 0
	}
	pid, born := keeperIn(text)
	if _, stopped := Look(pid, born); pid == 0 || !stopped {
		return 0
	}
	return pid
}

// KeptIn returns the name of a database's directory in the state directory.
func KeptIn(id, epoch string) string { return id + "." + epoch }

// answering rings the bell of a keeper that has something to do, or is stopped. If it does not answer, answering kills
// it and returns its lock, otherwise nil.
func (p *Passes) answering(s *state, wanted bool) (*os.File, error) {
	pid, born := p.keeperOf(s)
	if _, stopped := Look(pid, born); !wanted && (pid == 0 || !stopped) {
		return nil, nil
	}
	for end := time.Now().Add(wakeWithin); ; time.Sleep(wakeWithin / 20) {
		_, unheard := ringBell(s.epoch, bellName(p.Host))
		if unheard <= answerWithin {
			return nil, nil
		}
		if time.Now().After(end) {
			break
		}
	}
	if is, of := p.keeperOf(s); is == 0 || is != pid || of != born { // of another process namespace, or another by now
		return nil, nil
	}
	if lives, _ := Look(pid, born); !lives {
		return nil, nil
	}
	p.notef("process %d, which executes jobs, has not answered for a minute: another one takes its place", pid)
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

// keeperOf returns the process that holds the lock of keepers.
func (p *Passes) keeperOf(s *state) (pid int, born uint64) {
	text, err := s.epoch.ReadFile(keeperName(p.Host))
	if err != nil {
		return 0, 0
	}
	return keeperIn(text)
}
