package runner

import (
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
	"golang.org/x/sys/unix"
)

// use is what the attempt has used: what the kernel counts of those whom we have reaped,
// or of the control group.
func (a *attendance) use() (u store.ResourceUse) {
	if a.ours {
		a.reaped.Lock()
		u = a.reaped.ResourceUse
		a.reaped.Unlock()
		u.MemPeak = a.group.peak()
	} else {
		a.group.use(&u)
	}
	return u
}

// used is what processes have used that were reaped.
type used struct {
	sync.Mutex
	store.ResourceUse
}

func (u *used) add(r *unix.Rusage) {
	u.Lock()
	defer u.Unlock()
	u.CPUUser += time.Duration(unix.TimevalToNsec(r.Utime))
	u.CPUSystem += time.Duration(unix.TimevalToNsec(r.Stime))
	u.MaxRSS = max(u.MaxRSS, r.Maxrss<<10)
}

// memoryTicks ticks when the memory of the attempt is to be looked at.
func (a *attendance) memoryTicks() *time.Ticker {
	if a.begun.Polled && a.begun.Memory > 0 {
		return time.NewTicker(time.Second)
	}
	never := time.NewTicker(time.Hour)
	never.Stop()
	return never
}

// lookAtMemory ends the attempt where its processes have more memory than it asked for.
func (a *attendance) lookAtMemory() {
	var sum int64
	for _, pid := range a.tasks() {
		if s, err := statOf(pid); err == nil {
			sum += s.rss * int64(os.Getpagesize())
		}
	}
	if sum > a.begun.Memory && a.stopped == store.OutcomeNone && !a.over {
		a.stop(store.OutcomeOOM, exceeding(a.begun.Memory, sum))
		a.killAt = bootClock() // what it asked for is over now
	}
}

// exceeding says what was asked for and what was used.
func exceeding(asked, used int64) string {
	return fmt.Sprintf("it asked for %s of memory and used %s", text.FormatSize(asked), text.FormatSize(used))
}

// trimAfter spares commands that have ended by then the time that this takes.
const trimAfter = 200 * time.Millisecond

// trim gives memory back that is not needed while a command runs: there may be a thousand
// of us.
func trim() { debug.FreeOSMemory() }
