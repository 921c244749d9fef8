package gate

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// program is the file that this process was executed from, whatever has its name by now.
const program = "/proc/self/exe"

// nameless returns a file without a name.
func nameless() (*os.File, error) {
	fd, err := unix.MemfdCreate("order", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "order"), nil
}

// nameProcess gives this process the name of wardens. It is for the main thread, and so for init.
func nameProcess() {
	unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&wardenName[0])), 0, 0, 0) //nolint:errcheck // it cannot fail
}

// subreap makes this process the parent of its descendants whose own parents end.
func subreap() {
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) //nolint:errcheck // it cannot fail
}

// confine puts this process into the command's control group and onto its cores.
func (o *Order) confine() error {
	if o.Procs != "" {
		os.WriteFile(o.Procs, itself[:], 0) //nolint:errcheck // as the other gate
	}
	os.WriteFile("/proc/self/oom_score_adj", oomScore[:], 0) //nolint:errcheck // if it can
	if len(o.CPUs) == 0 {
		return nil
	}
	var set unix.CPUSet
	for _, c := range o.CPUs {
		set.Set(c)
	}
	return unix.SchedSetaffinity(0, &set) // of this thread, which executes the command
}

// maxRSS returns the most memory used, in KiB.
func maxRSS(use *syscall.Rusage) uint64 { return uint64(use.Maxrss) }
