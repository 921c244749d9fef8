package launch

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Detached is this program, started once more, in a session of its own: it goes on when we
// end, and has nothing of ours open.
type Detached struct{ process *os.Process }

// Detach starts this program once more with other arguments, detached, with files as its
// descriptors from 3 on. The words are its name, as lists of processes show it, and its arguments.
func Detach(words, env []string, files ...*os.File) (*Detached, error) {
	keepOpen()
	cmd := again(words, env)
	cmd.ExtraFiles = files
	cmd.Dir = "/"
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Detached{cmd.Process}, nil
}

// Ended reports whether it has ended; then nothing is left of it. It does not wait.
func (d *Detached) Ended() bool {
	pid, err := unix.Wait4(d.process.Pid, nil, unix.WNOHANG, nil)
	if err == unix.EINTR || err == nil && pid == 0 {
		return false
	}
	d.process.Release() //nolint:errcheck // it never fails
	return true
}

// Fork starts this program once more with other arguments, as our child in a session of its own,
// with files as its descriptors from 3 on. Only the caller waits for it, by its pid. If cgroup is
// not nil, it begins in the control group of that directory.
func Fork(words, env []string, files []*os.File, cgroup *os.File) (pid int, err error) {
	keepOpen()
	cmd := again(words, env)
	cmd.ExtraFiles = files
	if cgroup != nil {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(cgroup.Fd())
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	pid = cmd.Process.Pid
	return pid, cmd.Process.Release()
}

// Forks starts this program once more: Fork, or ForkBeside.
type Forks func(words, env []string, files []*os.File, cgroup *os.File) (pid int, err error)

// ForkBeside is Fork for a process that is our parent's child, and not ours: who ends all that
// descends from us does not end it.
func ForkBeside(words, env []string, files []*os.File, _ *os.File) (pid int, err error) {
	keepOpen()
	cmd := again(words, env)
	cmd.ExtraFiles, cmd.SysProcAttr.Cloneflags = files, unix.CLONE_PARENT
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	pid = cmd.Process.Pid
	return pid, cmd.Process.Release()
}

// Inherited fails unless the descriptors from 3 on are of the kinds, unix.S_IF*, that Fork passes
// on to such a process. A process that is started otherwise may have anything there, the
// database's file for one: nothing may be written to that.
func Inherited(kinds ...uint32) error {
	for i, kind := range kinds {
		var is unix.Stat_t
		if err := unix.Fstat(3+i, &is); err != nil || is.Mode&unix.S_IFMT != kind {
			return fmt.Errorf("descriptor %d is not what placectl passes on to a process that it starts for itself: this is not for the command line", 3+i)
		}
	}
	return nil
}

// again is this program, whatever lies under its name by now.
func again(words, env []string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", words[1:]...)
	cmd.Args[0] = words[0]
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// Replace executes another program in place of this one, with a file as descriptor 3: the one that
// was installed where this one was, else the one that PATH finds by a name. It returns only if
// there is none, or if that is this one.
func Replace(name string, words, env []string, file *os.File) error {
	const self = "/proc/self/exe"
	now, err := os.Stat(self)
	if err != nil {
		return err
	}
	was, _ := os.Readlink(self)
	found, _ := exec.LookPath(name)
	for _, path := range []string{strings.TrimSuffix(was, " (deleted)"), found} {
		if is, err := os.Stat(path); err != nil || os.SameFile(is, now) {
			continue
		}
		if fd := int(file.Fd()); fd != 3 {
			err = unix.Dup3(fd, 3, 0)
		} else {
			_, err = unix.FcntlInt(3, unix.F_SETFD, 0)
		}
		if err != nil {
			return err
		}
		return unix.Exec(path, words, env)
	}
	return nil
}

// keepOpen keeps inherited descriptors to ourselves: otherwise they would stay open as long as the
// processes that we start.
func keepOpen() {
	unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) //nolint:errcheck // older kernels cannot
}
