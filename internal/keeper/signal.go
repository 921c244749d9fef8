package keeper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/placectl/placectl/internal/launch"
	"golang.org/x/sys/unix"
)

// forAll are the signals that all processes of a job get. Any other signal only goes to processes with
// a handler for it, because it would end the others. If none has a handler, it goes to the job's
// command.
var forAll = []syscall.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGABRT, unix.SIGKILL,
	unix.SIGSTOP, unix.SIGTSTP, unix.SIGCONT}

// send sends a signal to those processes in list that should get it, or to commands if none has a
// handler.
func (p Program) send(sig syscall.Signal, list []int, commands ...int) {
	if !slices.Contains(forAll, sig) {
		list = slices.DeleteFunc(list, func(pid int) bool { return !catches(pid, sig) || p.isOurs(pid) })
		if len(list) == 0 {
			list = commands
		}
	}
	for _, pid := range list {
		unix.Kill(pid, sig) //nolint:errcheck // it may have ended
		if sig == unix.SIGTERM {
			if _, stopped := Look(pid, 0); stopped { // else it would not hear of it
				unix.Kill(pid, unix.SIGCONT) //nolint:errcheck // it may have ended
			}
		}
	}
}

// signal sends a signal to the processes of the attempt on this host.
func (a *attendance) signal(sig syscall.Signal) { a.Program.send(sig, a.tasks(), a.pid) }

// steps returns the processes of a list that signals of Slurm are for. That excludes srun and the
// command, which is the shell of the batch script. If no others are there, it returns the whole list.
func (p Program) steps(list []int, command int) []int {
	left := slices.DeleteFunc(slices.Clone(list), func(pid int) bool { return pid == command || p.isOurs(pid) })
	if len(left) == 0 {
		return list
	}
	return left
}

// pauses are the signals that a whole job gets, whichever command submitted it.
var pauses = []syscall.Signal{unix.SIGKILL, unix.SIGSTOP, unix.SIGTSTP, unix.SIGCONT}

// asked sends a signal that a user requested, now or at submission.
func (a *attendance) asked(sig syscall.Signal) {
	list := a.tasks()
	if a.begun.Steps && !slices.Contains(pauses, sig) {
		list = a.Program.steps(list, a.pid)
	}
	a.Program.send(sig, list, a.pid)
}

// Program is the file of placectl, as /proc has it: see OwnFile. If it is "", any file of the name placectl counts.
type Program string

// OwnFile returns the Program of a process of placectl.
func OwnFile() Program {
	is, _ := os.Readlink("/proc/self/exe") //nolint:errcheck // then the name counts
	return Program(is)
}

// isOurs reports whether a process runs placectl. Go handles all signals, and unexpected ones end the program.
func (p Program) isOurs(pid int) bool {
	is, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil || p != "" {
		return err == nil && is == string(p)
	}
	return filepath.Base(strings.TrimSuffix(is, " (deleted)")) == "placectl"
}

// catches reports whether a process has a handler for a signal.
func catches(pid int, sig syscall.Signal) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if mask, ok := strings.CutPrefix(line, "SigCgt:"); ok {
			set, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
			return err == nil && set>>(uint(sig)-1)&1 == 1
		}
	}
	return false
}

// sendSignals sends the attempt's signals from the database to all its hosts, and records that. After
// a failure the signals remain, and are sent to the missing hosts at the next look.
func (a *attendance) sendSignals(ctx context.Context, h *Held) {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	for i, number := range h.Signals {
		if nth := h.Sent + i + 1; nth > a.sent {
			a.sent = nth
			a.asked(syscall.Signal(number))
		}
	}
	err := a.signalElsewhere(ctx, h.Signals)
	if err == nil {
		err = a.DB.Signalled(ctx, a.slot.Key, a.slot.nonce, h.Sent+len(h.Signals))
	}
	if err != nil {
		a.notef("%s: signals: %v", a.slot.Key, err)
	}
}

// signalElsewhere sends signals to the attempt's processes on its other hosts.
func (a *attendance) signalElsewhere(ctx context.Context, list []int) error {
	s, err := a.slot.elsewhere()
	if s == nil || err != nil {
		return err
	}
	asked := tagOf(a.slot.nonce.String())
	for _, number := range list {
		asked += "," + strconv.Itoa(number)
	}
	ssh, err := launch.FindSSHIn(s.Env)
	if err != nil {
		return err
	}
	return errors.Join(ssh.Each(ctx, a.begun.Hosts, askFor, func(string) []string {
		return []string{"placectl", "on", "--signal", asked}
	})...)
}

// SignalTree sends a signal to one of our child processes and its descendants.
func (p Program) SignalTree(command, number int) {
	each := func(fn func(pid int)) {
		fn(command)
		eachDescendant(command, fn)
	}
	p.send(syscall.Signal(number), listed(each), command)
}

// SignalHere sends signals to an attempt's processes on this host, which all descend from those that
// watch its commands. asked is the attempt's tag, followed by comma-separated signal numbers.
func (p Program) SignalHere(asked string) error {
	tag, rest, _ := strings.Cut(asked, ",")
	watchers := watching(tag)
	for word := range strings.SplitSeq(rest, ",") {
		number, err := strconv.Atoi(word)
		if err != nil || number < 1 || tag == "" {
			return fmt.Errorf("%q is not TAG,SIGNAL[,SIGNAL]", asked)
		}
		var commands []int
		list := listed(func(fn func(pid int)) {
			for _, pid := range watchers {
				commands = append(commands, children(pid)...)
				eachDescendant(pid, fn)
			}
		})
		p.send(syscall.Signal(number), list, slices.Compact(slices.Sorted(slices.Values(commands)))...)
	}
	return nil
}
