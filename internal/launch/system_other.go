//go:build unix && !linux

package launch

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Itself returns the path that this process was executed from. Another file may have that name by now.
func Itself() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// Dup makes to a copy of fd that a program executed by this process inherits.
func Dup(fd, to int) error { return unix.Dup2(fd, to) }

// mostInherited bounds the descriptors that KeepOpen looks at. Those inherited have low numbers.
const mostInherited = 256

// KeepOpen keeps inherited descriptors to this process. Otherwise they would stay open for as long
// as the processes that we start.
func KeepOpen() {
	for fd := 3; fd < mostInherited; fd++ {
		unix.CloseOnExec(fd)
	}
}

// endsWithUs does nothing: no kernel but Linux's ends a child with its parent.
func endsWithUs() *syscall.SysProcAttr { return nil }

// UseAllCores does nothing: no process is bound to cores.
func UseAllCores() {}
