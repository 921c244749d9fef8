package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/ptytest"
)

// topOnTerminal runs top on a pseudo terminal of its own.
type topOnTerminal struct {
	*ptytest.Terminal
	t   *testing.T
	cmd *exec.Cmd
}

func startTop(t *testing.T, db string, args ...string) *topOnTerminal {
	t.Helper()
	term := ptytest.Open(t)
	term.Resize(t, 20, 80)
	top := &topOnTerminal{Terminal: term, t: t,
		cmd: exec.Command(commandPath(t), append([]string{"--db", db, "top", "-d", "1"}, args...)...)}
	top.cmd.Stdin, top.cmd.Stdout, top.cmd.Stderr = term.TTY, term.TTY, term.TTY
	top.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := top.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { top.cmd.Process.Kill() }) //nolint:errcheck // usually it has ended
	return top
}

// waitFor waits until the last drawn screen contains a text.
func (top *topOnTerminal) waitFor(text string) {
	top.t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		all := top.Shown()
		if strings.Contains(all[strings.LastIndex(all, "\x1b[H")+1:], text) {
			return
		}
		if time.Now().After(end) {
			top.t.Fatalf("%q is not shown:\n%s", text, all)
		}
	}
}

// TestTop: top shows present and new jobs, and handles keys and sizes. It restores the terminal when the
// user leaves it or it is told to end. Control characters are shown as text.
func TestTop(t *testing.T) {
	db := filepath.Join(t.TempDir(), "x.db")
	s := &shell{t: t, program: commandPath(t), db: db}
	s.must("", strings.Fields("init")...)
	s.must("", strings.Fields("node add n[1-3] ncpus=4 mem=8gb")...)
	s.must("", strings.Fields("submit 1:ncpus=4 -t 1h --name first")...)
	s.must("", "submit", "1:ncpus=4", "-t", "1h", "--hold", "--name", "\x1b[2Jevil")
	s.must("", strings.Fields("cycle")...)
	top := startTop(t, db)
	top.waitFor("jobs  1 running, 1 waiting")
	top.waitFor(`\x1b[2Jevil`)
	s.must("", strings.Fields("submit 1:ncpus=2 --name second")...)
	top.waitFor("second")
	for _, key := range []struct{ press, shows string }{{"?", "this, and away"}, {"?", "first"}, {"f", "submitted"},
		{"f", "second"}, {"s", "by newest"}, {"/sec\r", "/sec"}} {
		if _, err := top.Master.WriteString(key.press); err != nil {
			t.Fatal(err)
		}
		top.waitFor(key.shows)
	}
	for _, key := range []struct{ press, shows string }{{"\x1b", "s order"}, {"s", "by state"},
		{"s", "by what happens next"}, {"h", "choose a job"}, {"\x1b[B", "e explain"}, {"\x1b[B", "\x1b[7m"},
		{"\x1b[F", "k cancel"}, {"k", "? y cancels"}, {"n", "k cancel"}, {"e", "Esc back"}, {"\x1b", "k cancel"},
		{"h", "hold 3: done"}, {"h", "cannot be held"}, {"u", "unhold 3: done"}, {"\x1b[H", "k cancel"},
		{"\x1b[A\x1b[A\x1b[A", "\x1b[7m1 "}, {"k", "cancel job 1?"}, {"y", "cancel 1: done"}} {
		if _, err := top.Master.WriteString(key.press); err != nil {
			t.Fatal(err)
		}
		top.waitFor(key.shows)
	}
	top.waitFor("0 running")
	top.Master.WriteString("\x1b") //nolint:errcheck // waitFor would notice
	top.Resize(t, 9, 30)
	top.waitFor("f +")          // from a longer line
	top.Master.WriteString("q") //nolint:errcheck // it would not end
	if err := top.cmd.Wait(); err != nil {
		t.Error("top fails after q:", err)
	}
	top.waitFor("\x1b[?1049l")

	top = startTop(t, db)
	top.waitFor("second")
	top.cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // it would not end
	top.cmd.Wait()                          //nolint:errcheck // checked next
	if status := top.cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() ||
		status.Signal() != syscall.SIGTERM {
		t.Error("top ended with", status)
	}
	top.waitFor("\x1b[?1049l")
}
