package file

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// A process that waits for the seat holds the door, and later ones wait for the door, so a
// stream of readers cannot keep a writer out. A process that is stopped while it holds the
// door cannot release it. So a process that has waited doorTime checks for that, and if so
// takes the seat without the door. If the holder of the door is running, it keeps waiting, for
// at most doorLimit, because the information may be out of date.
const (
	doorTime  = 100 * time.Millisecond
	doorLimit = 10 * time.Second
)

// door waits for the door, for a time, and returns the function that releases it. The wait in
// the kernel cannot be cancelled, so the door has its own file description, which is closed
// once the wait is over.
func (l *fileLock) door(ctx context.Context, timeout time.Duration) (leave func()) {
	nothing := func() {}
	if l.readOnly || l.atDoor {
		return nothing
	}
	f, err := openAgain(l.f, os.O_RDWR, 0)
	if err != nil {
		return nothing
	}
	w := l.turns[lockDoor].await(f, forWriting, lockDoor)
	for waited := time.Duration(0); waited < min(timeout, doorLimit); waited += doorTime {
		select {
		case <-w.came:
			l.signDoor()
			return func() { unlockBytes(f); f.Close() } //nolint:errcheck // closing it follows
		case <-time.After(min(doorTime, timeout-waited)):
		case <-ctx.Done():
		}
		if ctx.Err() != nil || !l.doorRuns() {
			break
		}
	}
	w.leave()
	return nothing
}

// awaited reports whether a process may be waiting for the seat, because the door is held.
// Without a lock file it cannot tell.
func (l *fileLock) awaited() bool {
	if l.f == nil {
		return true
	}
	return byteLocked(l.f, lockDoor)
}

// doorLength is the length of the third line of the lock file, in which the process that holds
// the door writes its number.
const doorLength = 12

func (l *fileLock) signDoor() {
	_ = l.writeAt(fmt.Appendf(nil, "%-*d\n", doorLength-1, os.Getpid()), markLine+signLength)
}

// doorRuns reports whether the process that holds the door is running, as far as visible.
func (l *fileLock) doorRuns() bool {
	b := make([]byte, doorLength)
	n, _ := l.f.ReadAt(b, markLine+signLength)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	if err != nil || pid <= 0 {
		return false
	}
	state, _ := processState(fmt.Sprintf("/proc/%d/", pid))
	return state != 0 && state != 'T' && state != 't' && state != 'Z'
}
