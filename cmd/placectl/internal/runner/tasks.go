package runner

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/placectl/placectl/store"
	"golang.org/x/sys/unix"
)

// tasks lists the processes of the attempt that live. Those of a command that we have
// started descend from us, whatever they do: we are their reaper. Those of an adopted one
// are found below its process, and by the token in their environment.
func (a *attendance) tasks() []int {
	if a.ours {
		return union(a.group.tasks(), descendants(os.Getpid()))
	}
	var list []int
	if s, err := statOf(a.begun.PID); err == nil && s.born == a.begun.Born && s.state != 'Z' {
		list = append(descendants(a.begun.PID), a.begun.PID)
	}
	if a.over {
		list = union(list, withToken(a.nonce))
	}
	return union(list, a.group.tasks())
}

func union(a, b []int) []int {
	for _, pid := range b {
		if !slices.Contains(a, pid) {
			a = append(a, pid)
		}
	}
	return a
}

// signal sends a signal to those who are to have it: TERM and KILL to all, another one to
// those that have a handler for it, for it would end the others; where nobody has, to the
// command.
func (a *attendance) signal(sig syscall.Signal) {
	tasks := a.tasks()
	if sig != syscall.SIGTERM && sig != syscall.SIGKILL {
		tasks = slices.DeleteFunc(tasks, func(pid int) bool { return !catches(pid, sig) })
		if len(tasks) == 0 {
			tasks = []int{a.begun.PID}
		}
	}
	for _, pid := range tasks {
		unix.Kill(pid, sig) //nolint:errcheck // it may have ended
	}
}

// kill kills all who are left, also those who have left the control group.
func (a *attendance) kill() {
	a.group.kill()
	a.signal(syscall.SIGKILL)
}

// descendants lists the processes that descend from one and live.
func descendants(pid int) (list []int) {
	for next := children(pid); len(next) > 0; {
		pid, next = next[0], next[1:]
		if s, err := statOf(pid); err == nil && s.state != 'Z' && s.state != 'X' {
			list = append(list, pid)
		}
		next = append(next, children(pid)...)
	}
	return list
}

// children lists the children of all threads of a process.
func children(pid int) (list []int) {
	threads := "/proc/" + strconv.Itoa(pid) + "/task"
	names, err := readNames(threads)
	if err != nil {
		return nil
	}
	for _, thread := range names {
		text, err := os.ReadFile(threads + "/" + thread + "/children")
		if err != nil {
			return childrenByParent(pid)
		}
		for _, word := range bytes.Fields(text) {
			if child, err := strconv.Atoi(string(word)); err == nil {
				list = append(list, child)
			}
		}
	}
	return list
}

// childrenByParent finds the children on kernels that do not list them.
func childrenByParent(pid int) (list []int) {
	for _, p := range processes() {
		if s, err := statOf(p); err == nil && s.parent == pid {
			list = append(list, p)
		}
	}
	return list
}

func readNames(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// processes lists all processes.
func processes() (list []int) {
	names, _ := readNames("/proc")
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			list = append(list, pid)
		}
	}
	return list
}

// tokenName is the variable that all processes of an attempt have in their environment.
const tokenName = "PLACECTL_TOKEN"

// withToken lists the processes that have the token of an attempt in their environment,
// as they were started with.
func withToken(n store.Nonce) (list []int) {
	token := []byte(tokenName + "=" + n.String())
	for _, pid := range processes() {
		env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err != nil || !slices.ContainsFunc(bytes.Split(env, []byte{0}), func(v []byte) bool { return bytes.Equal(v, token) }) {
			continue
		}
		if s, err := statOf(pid); err == nil && s.state != 'Z' && s.state != 'X' && pid != os.Getpid() {
			list = append(list, pid)
		}
	}
	return list
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
