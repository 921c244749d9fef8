package keeper

import (
	"os/exec"
	"testing"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/gate"
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
	OwnFile().send(unix.SIGTERM, []int{stopped.Pid})
	s.until("ended", func() bool { return !living(stopped) })
	s.until("begun", func() bool { return catches(ours.Pid, unix.SIGUSR1) })
	OwnFile().send(unix.SIGUSR1, []int{ours.Pid, command.Pid}, command.Pid)
	s.until("ended, of the command", func() bool { return !living(command) })
	if !living(ours) {
		t.Error("the signal ended a placectl")
	}
}

// TestCommandBeforeItIsExecuted: a warden reports its command before that is executed. If the warden is killed
// in between, its command is still known.
func TestCommandBeforeItIsExecuted(t *testing.T) {
	t.Parallel()
	nonce := engine.Nonce{1}
	for _, c := range []struct {
		name, token string
		want        bool
	}{
		{gate.WardenName, nonce.String(), true},
		{gate.WardenName, engine.Nonce{2}.String(), false},
		{"another", nonce.String(), false}, // it is some other process when it is looked at
	} {
		begin := exec.Command("sh", "-c", "printf %s "+c.name+" >/proc/$$/comm; read go; export "+tokenName+"="+c.token+
			"; exec sleep 100")
		in, err := begin.StdinPipe()
		if err == nil {
			err = begin.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		pid := begin.Process.Pid
		newSite(t).until("named", func() bool { return nameOf(pid) == c.name })
		got := make(chan bool)
		go func() { got <- tokensOf(nonce).hasCommand(pid) }()
		if c.name == gate.WardenName {
			in.Write([]byte("\n")) //nolint:errcheck // then it is not executed
		}
		if is := <-got; is != c.want {
			t.Errorf("%+v: hasCommand = %v", c, is)
		}
		begin.Process.Kill() //nolint:errcheck // it may have ended
		begin.Wait()         //nolint:errcheck // it was killed
	}
}
