package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/daily"
	"github.com/placectl/placectl/store"
	"golang.org/x/sys/unix"
)

// topOnTerminal runs top on a pseudo terminal of its own.
type topOnTerminal struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	mu     sync.Mutex
	shown  bytes.Buffer
}

func startTop(t *testing.T, db string, args ...string) *topOnTerminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no pseudo terminals here:", err)
	}
	t.Cleanup(func() { master.Close() })
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 20, Col: 80})
	}
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	top := &topOnTerminal{t: t, master: master, cmd: exec.Command(commandPath(t), append([]string{"--db", db, "top", "-d", "1"}, args...)...)}
	top.cmd.Stdin, top.cmd.Stdout, top.cmd.Stderr = tty, tty, tty
	top.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := top.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { top.cmd.Process.Kill() }) //nolint:errcheck // as a rule it has ended
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			top.mu.Lock()
			top.shown.Write(buf[:max(n, 0)])
			top.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return top
}

// waitFor waits until the last screen that was drawn has a text.
func (top *topOnTerminal) waitFor(text string) {
	top.t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		top.mu.Lock()
		all := top.shown.String()
		top.mu.Unlock()
		if strings.Contains(all[strings.LastIndex(all, "\x1b[H")+1:], text) {
			return
		}
		if time.Now().After(end) {
			top.t.Fatalf("%q is not shown:\n%s", text, all)
		}
	}
}

// top shows what is there and what comes, takes keys and sizes, and gives the terminal back
// when it is left or told to end; what steers terminals is shown as text.
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
	for _, key := range []struct{ press, shows string }{{"?", "this, and away"}, {"?", "first"}, {"f", "submitted"}, {"f", "second"}, {"s", "by newest"}, {"/sec\r", "/sec"}} {
		if _, err := top.master.WriteString(key.press); err != nil {
			t.Fatal(err)
		}
		top.waitFor(key.shows)
	}
	if err := unix.IoctlSetWinsize(int(top.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 9, Col: 30}); err != nil {
		t.Fatal(err)
	}
	top.waitFor("/ filt+")      // of a line that is longer
	top.master.WriteString("q") //nolint:errcheck // it would not end
	if err := top.cmd.Wait(); err != nil {
		t.Error("q: ", err)
	}
	top.waitFor("\x1b[?1049l")

	top = startTop(t, db)
	top.waitFor("second")
	top.cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // it would not end
	top.cmd.Wait()                          //nolint:errcheck // looked at next
	if status := top.cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGTERM {
		t.Error("ended by", status)
	}
	top.waitFor("\x1b[?1049l")
}

// BenchmarkTopTick is a tick without a change.
func BenchmarkTopTick(b *testing.B) {
	c := newCapture("top")
	r := c.runner()
	r.DB = filepath.Join(b.TempDir(), "x.db")
	if err := os.WriteFile(r.DB, nil, 0o600); err != nil {
		b.Fatal(err)
	}
	v := &topView{runner: r, Top: daily.Top{Live: &daily.Live{Stats: &store.Stats{}}}, seen: r.fileStamp()}
	for b.Loop() {
		if v.hasChanged() {
			b.Fatal("nothing has changed")
		}
	}
}
