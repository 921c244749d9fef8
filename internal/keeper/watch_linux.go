package keeper

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/placectl/placectl/internal/bytejson"
	"github.com/placectl/placectl/internal/launch"
	"golang.org/x/sys/unix"
)

// Watch runs the command that it receives over a connection, with our own output. It returns the exit
// status as in a shell, once none of the command's processes is left.
func Watch(from *os.File) (status int, err error) {
	in := bufio.NewReaderSize(from, maxPiece)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return 0, fmt.Errorf("the command did not arrive: %w", err)
	}
	var e Elsewhere
	if err := bytejson.Unmarshal(line, &e); err != nil || len(e.Words) == 0 {
		return 0, errors.New("the data received is not a command")
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGTERM, unix.SIGHUP, unix.SIGINT)
	notes, err := os.MkdirTemp("", "placectl-on-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(notes)
	token := ""
	for _, kv := range e.Env {
		if is, ok := strings.CutPrefix(kv, tokenName+"="); ok {
			token = is
		}
	}
	if token != "" {
		e.Env = append(
			slices.DeleteFunc(e.Env, func(kv string) bool { return strings.HasPrefix(kv, ElsewhereName+"=") }),
			ElsewhereName+"="+notes)
		if err := os.WriteFile("/proc/self/comm", []byte(comm(tagOf(token))), 0); err != nil {
			return 0, err
		}
	}
	if len(signals) > 0 || isHungUp(from) {
		return 0, errors.New("the connection was lost")
	}
	read, write, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	w := &watcher{grace: e.Grace, broken: make(chan struct{})}
	w.pid, err = launch.Child(e.Words, e.Env, e.Dir, read)
	read.Close()
	if err != nil {
		return 0, err
	}
	var once sync.Once
	for _, lasts := range []func(){func() { feed(in, write) }, func() { hungUp(from) }, func() { <-signals }} {
		go func() {
			lasts()
			once.Do(func() { close(w.broken) })
		}()
	}
	status = w.watch()
	if left, err := os.ReadDir(notes); err != nil || len(left) > 0 {
		return launch.SSHLost, nil // processes that the command has left there may go on
	}
	return status, nil
}

// feed passes the input on until the connection breaks. It drops what the command does not read.
func feed(in io.Reader, to io.WriteCloser) {
	defer to.Close()
	piece := make([]byte, maxPiece)
	for wanted := true; ; {
		var length [4]byte
		if _, err := io.ReadFull(in, length[:]); err != nil {
			return
		}
		n := binary.BigEndian.Uint32(length[:])
		if n > maxPiece {
			return
		}
		if _, err := io.ReadFull(in, piece[:n]); err != nil {
			return
		}
		if wanted && n > 0 {
			_, err := to.Write(piece[:n])
			wanted = err == nil
		}
		if n == 0 || !wanted {
			wanted = false
			to.Close()
		}
	}
}

// hungUp waits until the other end of a connection is closed, even if there is still data to read.
func hungUp(f *os.File) {
	poll := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLRDHUP}}
	for {
		if _, err := unix.Poll(poll, -1); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// isHungUp reports whether the other end is closed.
func isHungUp(f *os.File) bool {
	poll := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(poll, 0)
	return err == nil && n > 0
}

// watcher watches a command and its descendants.
type watcher struct {
	pid    int
	grace  time.Duration
	broken chan struct{}
}

// watch returns the command's exit status as in a shell.
func (w *watcher) watch() int {
	var end ending
	ended := make(chan ending, 1)
	go reap(w.pid, ended)
	kill := time.NewTimer(time.Hour)
	kill.Stop()
	pause := time.Duration(0)
	broken, all := w.broken, func(fn func(pid int)) { eachDescendant(os.Getpid(), fn) }
	terminate := func() {
		for _, pid := range listed(all) {
			unix.Kill(pid, unix.SIGTERM) //nolint:errcheck // it may have ended
		}
		kill.Reset(w.grace)
	}
	for {
		select {
		case e, more := <-ended:
			if more {
				end = e
			}
			if !more || end.last {
				return end.shell()
			}
			terminate()
		case <-broken:
			broken = nil
			terminate()
		case <-kill.C:
			pause = pauseAfter(sweep(all), pause)
			kill.Reset(pause)
		}
	}
}
