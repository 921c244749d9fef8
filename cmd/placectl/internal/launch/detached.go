package launch

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Detach starts this program once more, whatever lies under its name by now, in a session of its own:
// it goes on when we end, and has nothing of ours open but files, as its descriptors from 3 on. The
// words are its name, as lists of processes show it, and its arguments. Only the caller waits for
// it, by its pid. It does without package os/exec, which takes longer for more than is needed:
// commands that change something wait for this.
func Detach(words, env []string, files ...*os.File) (pid int, err error) {
	keepOpen()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	has := []uintptr{null.Fd(), null.Fd(), null.Fd()}
	for _, f := range files {
		has = append(has, f.Fd())
	}
	pid, err = syscall.ForkExec("/proc/self/exe", words, &syscall.ProcAttr{Dir: "/", Env: env, Files: has, Sys: &syscall.SysProcAttr{Setsid: true}})
	runtime.KeepAlive(files)
	return pid, err
}

// HasEnded reports whether our child of a pid has ended; then nothing is left of it. It does not
// wait.
func HasEnded(pid int) bool {
	is, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
	return err != unix.EINTR && (err != nil || is != 0)
}

// Inherited is the file that Detach has passed on to this process, as descriptor 3; nil if that is
// none. It may be another one in a process that was started otherwise.
func Inherited() *os.File {
	var is unix.Stat_t
	if unix.Fstat(3, &is) != nil || is.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil
	}
	unix.CloseOnExec(3) // nothing that is started later holds it
	return os.NewFile(3, "inherited")
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
