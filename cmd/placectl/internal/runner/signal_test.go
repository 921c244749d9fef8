package runner

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestSend: a stopped process receives SIGTERM. An unusual signal only goes to processes that handle it, but
// to no placectl. If there are none, it goes to the command.
func TestSend(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	stopped, command, ours := s.sleeper(), s.sleeper(), s.start(nil, "work")
	unix.Kill(stopped.Pid, unix.SIGSTOP)
	s.until("stopped", func() bool { _, is := Look(stopped.Pid, 0); return is })
	send(unix.SIGTERM, []int{stopped.Pid})
	s.until("ended", func() bool { return !living(stopped) })
	s.until("begun", func() bool { return catches(ours.Pid, unix.SIGUSR1) })
	send(unix.SIGUSR1, []int{ours.Pid, command.Pid}, command.Pid)
	s.until("ended, of the command", func() bool { return !living(command) })
	if !living(ours) {
		t.Error("the signal ended a placectl")
	}
}
