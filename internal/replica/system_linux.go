package replica

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot returns the time since the machine was booted, including sleep.
func sinceBoot() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return -1
	}
	return time.Duration(t.Nano())
}

func threadID() int { return unix.Gettid() }

// time returns the processor time that the thread has used. On Linux, a thread's clock id is
// made from its id: the complement in the upper 29 bits, then 4 for a thread and 2 for the
// scheduler's clock.
func (p *pulse) time() (int64, error) {
	var t unix.Timespec
	err := unix.ClockGettime(int32(^p.thread<<3|6), &t)
	return t.Nano(), err
}
