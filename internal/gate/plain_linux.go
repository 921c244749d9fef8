package gate

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/placectl/placectl/internal/bytejson"
	"github.com/placectl/placectl/internal/launch"
	"golang.org/x/sys/unix"
)

// plain is a gate without a process of its own. For each command this program executes itself as the warden, and that
// as the process that becomes the command. A variable of the environment tells them so. Each role is read and unset
// before main, and ends the process, so none of them gets as far as the program's own work, whatever that is. A warden
// is told from what becomes the command by the variable's value, so there is never a third generation.
type plain struct {
	mu      sync.Mutex
	wardens []int // our children, to be reaped
}

// role is the variable that tells a process what it is for, and its values.
const (
	role      = "PLACECTL_GATE"
	asWarden  = "warden"
	asCommand = "command"
)

// The files of a warden and of what becomes the command, beyond its streams.
const (
	plainOrder = 3 + iota
	plainJournal
	plainTold
)

// Plain makes a gate that any program may have. The program must not have a role of its own for the variable
// PLACECTL_GATE.
func Plain() Gate { return new(plain) }

func (*plain) Close()       {}
func (*plain) Renew() error { return nil } // an order has its warden from the beginning

func (g *plain) Start(o *Order) error {
	f, err := o.sent()
	if err != nil {
		return err
	}
	defer f.Close()
	o.Warden, err = again(asWarden, []uintptr{uintptr(o.Streams[0]), uintptr(o.Streams[1]), uintptr(o.Streams[2]),
		f.Fd(), o.Journal.Fd(), o.Told.Fd()})
	if err == nil {
		g.reapLater(o.Warden)
	}
	return err
}

// sent returns an open file with the order.
func (o *Order) sent() (*os.File, error) {
	for _, list := range [][]string{o.Words, o.Env, {o.Dir}} {
		for _, s := range list {
			if strings.IndexByte(s, 0) >= 0 {
				return nil, syscall.EINVAL
			}
		}
	}
	text, err := bytejson.Marshal(o)
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxOrder:
		return nil, syscall.E2BIG
	}
	f, err := nameless()
	if err != nil {
		return nil, err
	}
	if _, err := f.WriteAt(text, 0); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// again executes this program in a role, in a session of its own.
func again(as string, files []uintptr) (pid int, err error) {
	env := []string{role + "=" + as, "GOMAXPROCS=1"}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name != role && name != "GOMAXPROCS" {
			env = append(env, v)
		}
	}
	return syscall.ForkExec(program, []string{WardenName},
		&syscall.ProcAttr{Env: env, Files: files, Sys: &syscall.SysProcAttr{Setsid: true}})
}

// mostWait bounds how long a warden that has ended waits to be reaped, but for one millisecond more for each other one.
const mostWait = 20 * time.Millisecond

// reapLater has a warden reaped when it has ended. A thread for each, which waits in the kernel, would be too many, and
// the signal SIGCHLD belongs to the program.
func (g *plain) reapLater(pid int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.wardens = append(g.wardens, pid); len(g.wardens) > 1 {
		return
	}
	go func() {
		for left := 1; left > 0; {
			time.Sleep(mostWait + time.Duration(left)*time.Millisecond)
			g.mu.Lock()
			kept := g.wardens[:0]
			for _, pid := range g.wardens {
				if is, err := wait(pid, nil, unix.WNOHANG, nil); is == 0 && err == nil {
					kept = append(kept, pid)
				}
			}
			g.wardens, left = kept, len(kept)
			g.mu.Unlock()
		}
	}()
}

// init takes the role before main.
func init() {
	as := os.Getenv(role)
	if as == "" {
		return
	}
	os.Unsetenv(role) //nolint:errcheck // no process that this one executes has it
	nameProcess()
	launch.KeepOpen() // what the next process gets, it gets by name
	text, err := io.ReadAll(io.NewSectionReader(os.NewFile(plainOrder, "order"), 0, maxOrder))
	o := new(Order)
	if err == nil {
		err = bytejson.Unmarshal(text, o)
	}
	switch {
	case err != nil: // not of a gate
		os.Exit(statusHeld)
	case as == asWarden:
		os.Exit(o.warden())
	case as == asCommand:
		os.Exit(o.become())
	}
	os.Exit(statusHeld)
}

// warden executes the command, and reaps it and all of its descendants. It returns the exit status.
func (o *Order) warden() int {
	signal.Notify(make(chan os.Signal, 1)) // only SIGKILL ends it
	subreap()
	o.say(saysWarden, true, uint64(os.Getpid())) //nolint:errcheck // as the other gate
	command, err := again(asCommand, []uintptr{0, 1, 2, plainOrder, plainJournal, plainTold})
	if err != nil {
		return o.fail(stepFork, err)
	}
	for fd := range plainJournal {
		unix.Close(fd) //nolint:errcheck // the command has them
	}
	var n [5]uint64
	var status syscall.WaitStatus
	var use syscall.Rusage
	for options := 0; ; {
		pid, err := wait(-1, &status, options, &use)
		switch {
		case err != nil: // no process is left
			n[0] = 1
			what := byte(saysEnded)
			if options == 0 {
				what = saysEmpty
			}
			o.say(what, true, n[:]...) //nolint:errcheck // nothing can be done about it
			return 0
		case pid == 0: // the command has ended, other processes are left
			o.say(saysEnded, true, n[:]...) //nolint:errcheck // as before
			options = 0
			continue
		}
		n[2] += uint64(use.Utime.Nano() / 1e3)
		n[3] += uint64(use.Stime.Nano() / 1e3)
		n[4] = max(n[4], maxRSS(&use))
		if pid == command {
			n[1], options = uint64(status), syscall.WNOHANG
		}
	}
}

// become turns this process into the command. It returns the exit status if it cannot.
func (o *Order) become() int {
	unix.Umask(int(o.Umask))
	if err := o.confine(); err != nil {
		return o.fail(stepCPUs, err)
	}
	if err := unix.Chdir(o.Dir); err != nil {
		return o.fail(stepDir, err)
	}
	if err := o.say(saysBegins, true, uint64(os.Getpid())); err != nil {
		return o.fail(stepJournal, err)
	}
	env := o.Env
	if o.TaskPID != "" {
		env = append(env, o.TaskPID+"="+strconv.Itoa(os.Getpid()))
	}
	for i, l := range o.Limits {
		if err := syscall.Setrlimit(l.ID, &syscall.Rlimit{Cur: l.Cur, Max: l.Max}); err != nil {
			return o.fail(stepLimit+i, err)
		}
	}
	errno := errnoOf(launch.Become(o.Words, env))
	o.say(saysNoExec, false, uint64(errno)) //nolint:errcheck // nothing can be done about it
	if errno == syscall.ENOENT {
		return statusNotFound
	}
	return statusNoExec
}

func errnoOf(err error) (errno syscall.Errno) {
	errors.As(err, &errno)
	return errno
}

// fail reports a failed step, and returns the exit status.
func (o *Order) fail(step int, err error) int {
	o.say(saysFailed, false, uint64(step), uint64(errnoOf(err))) //nolint:errcheck // nothing can be done about it
	return statusHeld
}

// say writes a line to Told. If the line must be kept, say also writes it to the journal, and returns the error of
// that.
func (o *Order) say(what byte, kept bool, numbers ...uint64) (err error) {
	text := strconv.AppendUint([]byte{what, ' '}, o.Tag, 10)
	for _, n := range numbers {
		text = strconv.AppendUint(append(text, ' '), n, 10)
	}
	line := Sealed(text)
	if kept {
		var n int
		if n, err = unix.Write(plainJournal, line); err == nil && n != len(line) {
			err = syscall.ENOSPC
		}
		if err != nil && what == saysBegins { // nothing begins that is not written down
			return err
		}
	}
	unix.Write(plainTold, line) //nolint:errcheck // the keeper may be gone
	return err
}

// wait is wait4 without its interruptions.
func wait(pid int, status *syscall.WaitStatus, options int, use *syscall.Rusage) (int, error) {
	for {
		if is, err := syscall.Wait4(pid, status, options, use); err != syscall.EINTR {
			return is, err
		}
	}
}
