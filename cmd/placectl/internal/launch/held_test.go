package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMain lets the test binary be a parent that is killed while its child waits.
func TestMain(m *testing.M) {
	if dir := os.Getenv("HELD_PARENT"); dir != "" {
		h, err := hold(dir, nil, "touch", "executed")
		if err != nil {
			panic(err)
		}
		os.WriteFile(dir+"/pid", fmt.Append(nil, h.PID), 0o600)
		select {}
	}
	os.Exit(m.Run())
}

func hold(dir string, change func(*HeldSpec), words ...string) (*Held, error) {
	inside, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer inside.Close()
	out, err := os.OpenFile(dir+"/out", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	s := &HeldSpec{Words: words, Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: dir, Umask: 0o022, Streams: [3]int{int(null.Fd()), int(out.Fd()), int(out.Fd())}, Inside: inside, GaveUp: "gave-up"}
	if change != nil {
		change(s)
	}
	return Hold(s)
}

func (h *Held) ended(t *testing.T) (status unix.WaitStatus) {
	t.Helper()
	if _, err := unix.Wait4(h.PID, &status, 0, nil); err != nil {
		t.Fatal(err)
	}
	h.Close()
	return status
}

// TestHeld: a child becomes the program when it may, and not before, with what it was given.
func TestHeld(t *testing.T) {
	empty := t.TempDir()
	for _, c := range []struct {
		name   string
		words  []string
		change func(*HeldSpec)
		out    string
		exit   int
		errno  error
	}{
		{name: "words", words: []string{"sh", "-c", `echo "$0:$1"`, "a\xff", "b c"}, out: "a\xff:b c\n"},
		{name: "environment", words: []string{"/usr/bin/env"}, change: func(s *HeldSpec) { s.Env = []string{"A=\xe9", "B%%=x"} }, out: "A=\xe9\nB%%=x\n"},
		{name: "umask, directory", words: []string{"sh", "-c", "umask; pwd | grep -c ."}, change: func(s *HeldSpec) { s.Umask = 0o137 }, out: "0137\n1\n"},
		{name: "its number", words: []string{"sh", "-c", `test $$ = "$TASK" && echo same`}, change: func(s *HeldSpec) { s.TaskPID = "TASK" }, out: "same\n"},
		{name: "descriptors", words: []string{"sh", "-c", "ls /proc/$$/fd | wc -l"}, out: "3\n"},
		{name: "a session of its own", words: []string{"sh", "-c", `set -- $(cat /proc/$$/stat); test $6 = $$ && echo leads`}, out: "leads\n"},
		{name: "signals", words: []string{"sh", "-c", "grep -E 'SigIgn|SigBlk' /proc/$$/status | tr -d '\\n\\t'"}, out: "SigBlk:0000000000000000SigIgn:0000000000000000"},
		{name: "status", words: []string{"sh", "-c", "exit 7"}, exit: 7},
		{name: "first on PATH that can be executed", words: []string{"sh", "-c", "echo found"}, change: func(s *HeldSpec) { s.Env[0] = "PATH=" + empty + ":/dev/null/x:" + os.Getenv("PATH") }, out: "found\n"},
		{name: "no program", words: []string{"none-such"}, exit: 127, errno: syscall.ENOENT},
		{name: "no words", exit: 127, errno: syscall.ENOENT},
		{name: "a directory", words: []string{"/"}, exit: 126, errno: syscall.EACCES},
		{name: "below a file", words: []string{"/dev/null/x"}, exit: 126, errno: syscall.ENOTDIR},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			h, err := hold(dir, c.change, c.words...)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Millisecond)
			if text, _ := os.ReadFile(dir + "/out"); len(text) > 0 {
				t.Fatalf("before it may it says %q", text)
			}
			if err := h.Go(); err != nil {
				t.Fatal(err)
			}
			if err := h.Became(); !errors.Is(err, c.errno) || (err == nil) != (c.errno == nil) {
				t.Errorf("it became a program: %v, want %v", err, c.errno)
			}
			if s := h.ended(t); s.ExitStatus() != c.exit {
				t.Errorf("status %d, want %d", s.ExitStatus(), c.exit)
			}
			if text, _ := os.ReadFile(dir + "/out"); string(text) != c.out {
				t.Errorf("it says %q, want %q", text, c.out)
			}
		})
	}
}

// TestHeldNowhere: a directory that cannot be entered is told before anything is executed.
func TestHeldNowhere(t *testing.T) {
	dir := t.TempDir()
	h, err := hold(dir, func(s *HeldSpec) { s.Dir = dir + "/none" }, "touch", dir+"/executed")
	var is *DirError
	if !errors.As(err, &is) || !errors.Is(err, os.ErrNotExist) || h == nil {
		t.Fatal(h, err)
	}
	h.Go() //nolint:errcheck // it may have ended
	h.ended(t)
	if _, err := os.Stat(dir + "/executed"); err == nil {
		t.Error("it was executed")
	}
}

// TestOpenFiles: the limit of open files is that of before the runtime has raised it.
func TestOpenFiles(t *testing.T) {
	if want := os.Getenv("HELD_OPEN_FILES"); want != "" {
		if is, err := OpenFiles(); err != nil || fmt.Sprint(is) != want {
			t.Errorf("%d, %v, want %s", is, err, want)
		}
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("/bin/sh", "-c", `ulimit -Sn 77; HELD_OPEN_FILES=77 exec "$0" -test.run TestOpenFiles`, self).CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestHeldAlone: a child whose parent is killed notes that it has executed nothing, and ends.
func TestHeldAlone(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent, err := os.StartProcess(self, []string{"parent"}, &os.ProcAttr{Env: append(os.Environ(), "HELD_PARENT="+dir), Files: []*os.File{nil, os.Stdout, os.Stderr}})
	if err != nil {
		t.Fatal(err)
	}
	until := func(name string) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("there is no %s", name)
			}
		}
	}
	until("pid")
	parent.Kill()
	parent.Wait()
	until("gave-up")
	if _, err := os.Stat(dir + "/executed"); err == nil {
		t.Error("it was executed")
	}
}

// TestHeldWhileOthersWork: children are forked while other goroutines allocate, sleep and make
// descriptors of their own, and none hangs.
func TestHeldWhileOthersWork(t *testing.T) {
	dir := t.TempDir()
	stop := make(chan struct{})
	for range 4 {
		go func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				r, w, err := os.Pipe()
				if err != nil {
					continue
				}
				text := strings.Repeat("x", 1<<16)
				go func() { io.WriteString(w, text[:100]); w.Close() }()
				io.ReadAll(r)
				r.Close()
			}
		}()
	}
	defer close(stop)
	for i := range 300 {
		h, err := hold(dir, nil, "/bin/true")
		if err != nil {
			t.Fatal(i, err)
		}
		if err := errors.Join(h.Go(), h.Became()); err != nil {
			t.Fatal(i, err)
		}
		if s := h.ended(t); s.ExitStatus() != 0 {
			t.Fatal(i, s)
		}
	}
}
