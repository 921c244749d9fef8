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
// goes on when we end, and inherits only files, as descriptors from 3 on. words are the name that
// lists of processes show, and the arguments. Only the caller waits for it, by its pid. Detach does
// not use os/exec, which does more and takes longer: commands that change something wait for this.
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

// Waiting is a process that was started early. It waits for Go.
type Waiting struct {
	PID int
	end int // of a pipe
}

// DetachWaiting is Detach for a process that calls MayGo, and inherits file as descriptor 3.
func DetachWaiting(words, env []string, file *os.File) (*Waiting, error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return nil, err
	}
	hears := os.NewFile(uintptr(ends[0]), "pipe")
	defer hears.Close()
	pid, err := Detach(words, env, file, hears)
	if err != nil {
		unix.Close(ends[1]) //nolint:errcheck // nothing was written
		return nil, err
	}
	return &Waiting{pid, ends[1]}, nil
}

// Go lets the process go on.
func (w *Waiting) Go() error {
	_, err := unix.Write(w.end, []byte{1})
	return err
}

// Drop ends the process unless it may go on. The end of this process does, too.
func (w *Waiting) Drop() {
	if w != nil {
		unix.Close(w.end) //nolint:errcheck // nothing is left to write
	}
}

// MayGo reports whether this process may go on. If another one started it with DetachWaiting, MayGo
// waits for Go, or for the end of that one.
func MayGo() bool {
	if !inherits(3, unix.S_IFREG) || !inherits(4, unix.S_IFIFO) {
		return true
	}
	defer unix.Close(4)
	for {
		if n, err := unix.Read(4, make([]byte, 1)); err != unix.EINTR {
			return n == 1
		}
	}
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
	if !inherits(3, unix.S_IFREG) {
		return nil
	}
	unix.CloseOnExec(3) // no process started later inherits it
	return os.NewFile(3, "inherited")
}

// inherits reports whether a descriptor is open, and of a type.
func inherits(fd int, kind uint32) bool {
	var is unix.Stat_t
	return unix.Fstat(fd, &is) == nil && is.Mode&unix.S_IFMT == kind
}

// Replace replaces this process with another program, which gets file as descriptor 3. The program is
// the one now installed under this one's path, or else the one that PATH finds by name. Replace
// returns only if there is none, or if it is this same program.
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

// keepOpen keeps inherited descriptors to this process. Otherwise they would stay open for as long
// as the processes that we start.
func keepOpen() {
	unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) //nolint:errcheck // older kernels cannot
}
