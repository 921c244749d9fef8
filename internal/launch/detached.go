package launch

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Detach starts this program again, from the file that now has its name, in a session of its own. It
// goes on when we end, and inherits only file, as descriptor 3. words are the name that lists of
// processes show, and the arguments. Only the caller waits for it, by its pid. Detach does not use
// os/exec, which does more and takes longer: commands that change something wait for this.
func Detach(words, env []string, file *os.File) (pid int, err error) {
	KeepOpen()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	has := []uintptr{null.Fd(), null.Fd(), null.Fd(), file.Fd()}
	pid, err = syscall.ForkExec(Itself(), words, &syscall.ProcAttr{Dir: "/", Env: env, Files: has,
		Sys: &syscall.SysProcAttr{Setsid: true}})
	runtime.KeepAlive(file)
	return pid, err
}

// HasEnded reports whether a child of ours has ended. If so, it has been reaped. HasEnded does not
// wait.
func HasEnded(pid int) bool {
	is, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
	return err != unix.EINTR && (err != nil || is != 0)
}

// Inherited returns the file that Detach has passed to this process as descriptor 3, nil if there is
// none. In a process that was started otherwise it may be any file.
func Inherited() *os.File {
	var is unix.Stat_t
	if unix.Fstat(3, &is) != nil || is.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil
	}
	unix.CloseOnExec(3) // no process started later inherits it
	return os.NewFile(3, "inherited")
}

// Replace replaces this process with another program, which gets file as descriptor 3. The program is
// the one now installed under this one's path, or else the one that PATH finds by name. Replace
// returns only if there is none, or if it is this same program.
func Replace(name string, words, env []string, file *os.File) error {
	self := Itself()
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
			err = Dup(fd, 3)
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
