package runner

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// bootClock is the time since the host was started, with that in which it slept. Nobody
// sets it.
func bootClock() time.Duration {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) //nolint:errcheck // Linux has it
	return time.Duration(t.Nano())
}

// alarm rings at an instant of the boot clock. Go's own timers stand still while the host
// sleeps.
type alarm struct {
	file  *os.File
	rings chan struct{}
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_BOOTTIME, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	a := &alarm{os.NewFile(uintptr(fd), "alarm"), make(chan struct{}, 1)}
	go func() {
		b := make([]byte, 8)
		for {
			if _, err := a.file.Read(b); err != nil {
				return
			}
			select {
			case a.rings <- struct{}{}:
			default:
			}
		}
	}()
	return a, nil
}

// set lets it ring at an instant, at once where that has passed.
func (a *alarm) set(at time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(at, 1)))}
	control, err := a.file.SyscallConn()
	if err == nil {
		control.Control(func(fd uintptr) { //nolint:errcheck // it is open
			unix.TimerfdSettime(int(fd), unix.TFD_TIMER_ABSTIME, &spec, nil) //nolint:errcheck // the instant is a valid one
		})
	}
}

func (a *alarm) close() { a.file.Close() }
