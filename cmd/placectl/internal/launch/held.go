package launch

import (
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A child that is held back has a process number, a session and its descriptors, and waits for one
// byte before it becomes a program. So its parent can note the number before anything is executed.
// If the parent ends first, the child notes in a directory that it has executed nothing, and ends.
//
// The child is forked, not executed anew: starting this program again takes several times as long
// as most small commands. Between fork and exec it makes system calls and nothing else, as the
// runtime of Go does not work in a child. Package syscall does the same, but cannot wait.

// Held is such a child.
type Held struct {
	PID int

	words []string
	goes  *os.File // has it go on
	told  *os.File // how far it has come
}

// HeldSpec is what a child is held back from.
type HeldSpec struct {
	Words, Env []string // PATH in Env finds the program, as Become does
	Dir        string
	Umask      int
	Streams    [3]int   // its input, output and errors
	TaskPID    string   // a variable that has its process number, "" for none
	Inside     *os.File // the directory where it notes that it gives up
	GaveUp     string   // in that file
}

// ErrGone says that a child was killed.
var ErrGone = errors.New("the process that waits to become the command was killed")

// DirError is a directory that cannot be entered.
type DirError struct{ *os.PathError }

// Exit statuses of a child that does not become a program.
const (
	statusHeld     = 125
	statusNotFound = 127
	statusNoExec   = 126
)

// What a child tells, each in front of an errno.
const (
	tellsReady = 'r'
	tellsDir   = 'd'
	tellsExec  = 'x'
)

const saidBytes = 8 // what is told, three bytes of nothing, errno

// firstFree is behind the descriptors that a child has besides its streams: what it waits for, what
// it tells, and the directory. Their copies in its parent are far behind those.
const (
	childGoes, childTold, childInside = 3, 4, 5
	firstFree                         = 6
	farFrom                           = 100
)

// child is what a child needs, laid out before it is forked.
type child struct {
	goes, told, inside int
	streams            [3]int
	dir                *byte
	umask              int
	paths              []*byte // of the program, in the order in which they are tried
	argv, envv         []*byte
	digits             []byte // of its process number in envv, behind its name; nil for none
	gaveUp             *byte
	said               [saidBytes]byte
	zero               [8]uint64 // a signal's default action
	others             int       // the other end of goes, for kernels that cannot close a range
}

//go:linkname beforeFork syscall.runtime_BeforeFork
func beforeFork()

//go:linkname afterFork syscall.runtime_AfterFork
func afterFork()

//go:linkname afterForkInChild syscall.runtime_AfterForkInChild
func afterForkInChild()

// Hold forks a child and returns when it waits. It fails with a DirError, with ErrGone, or with
// what the system says; then the child, unless it is nil, has yet to be reaped.
func Hold(s *HeldSpec) (h *Held, err error) {
	c, err := s.layOut()
	if err != nil {
		return nil, err
	}
	goes, err := pipe()
	if err != nil {
		return nil, err
	}
	told, err := pipe()
	if err != nil {
		goes.close()
		return nil, err
	}
	var far []int
	defer func() {
		for _, fd := range far {
			unix.Close(fd) //nolint:errcheck // it is a copy
		}
	}()
	for _, to := range []*int{&c.streams[0], &c.streams[1], &c.streams[2]} {
		if err == nil {
			*to, err = copyFar(*to, &far)
		}
	}
	for _, x := range []struct {
		to   *int
		from *os.File
	}{{&c.goes, goes.r}, {&c.told, told.w}, {&c.inside, s.Inside}} {
		if err == nil {
			*x.to, err = copyFar(int(x.from.Fd()), &far)
		}
	}
	if err != nil {
		goes.close()
		told.close()
		return nil, os.NewSyscallError("dup", err)
	}
	// What the child reads and writes waits in the kernel: it has no poller.
	if err := errors.Join(unix.SetNonblock(c.goes, false), unix.SetNonblock(c.told, false)); err != nil {
		goes.close()
		told.close()
		return nil, err
	}
	c.others = int(goes.w.Fd())
	syscall.ForkLock.Lock()
	pid, errno := forkHeld(c)
	syscall.ForkLock.Unlock()
	runtime.KeepAlive(c)
	goes.r.Close()
	told.w.Close()
	for _, fd := range far {
		unix.Close(fd) //nolint:errcheck // it is a copy
	}
	far = nil
	if errno != 0 {
		goes.close()
		told.close()
		return nil, os.NewSyscallError("fork", errno)
	}
	h = &Held{PID: int(pid), words: s.Words, goes: goes.w, told: told.r}
	switch what, errno, err := h.hears(); {
	case err == nil && what == tellsReady:
		return h, nil
	case err == nil && what == tellsDir:
		return h, &DirError{&os.PathError{Op: "chdir", Path: s.Dir, Err: errno}}
	case errors.Is(err, io.EOF):
		return h, ErrGone
	default:
		return h, err
	}
}

func copyFar(fd int, far *[]int) (int, error) {
	is, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, farFrom)
	if err == nil {
		*far = append(*far, is)
	}
	return is, err
}

type ends struct{ r, w *os.File }

func pipe() (ends, error) {
	r, w, err := os.Pipe()
	return ends{r, w}, err
}

func (e ends) close() {
	e.r.Close()
	e.w.Close()
}

// layOut makes all that the child reads, but for descriptors.
func (s *HeldSpec) layOut() (*child, error) {
	c := &child{umask: s.Umask, streams: s.Streams}
	var err error
	if c.dir, err = syscall.BytePtrFromString(s.Dir); err != nil {
		return nil, err
	}
	if c.gaveUp, err = syscall.BytePtrFromString(s.GaveUp); err != nil {
		return nil, err
	}
	if c.argv, err = syscall.SlicePtrFromStrings(s.Words); err != nil {
		return nil, err
	}
	if c.envv, err = syscall.SlicePtrFromStrings(s.Env); err != nil {
		return nil, err
	}
	if s.TaskPID != "" {
		text := append([]byte(s.TaskPID+"="), make([]byte, 21)...)
		c.digits = text[len(s.TaskPID)+1:]
		c.envv = append(c.envv[:len(c.envv)-1], &text[0], nil)
	}
	for _, path := range programPaths(s.Words, s.Env) {
		p, err := syscall.BytePtrFromString(path)
		if err != nil {
			return nil, err
		}
		c.paths = append(c.paths, p)
	}
	return c, nil
}

// programPaths are the files that may be the program of words.
func programPaths(words, env []string) (list []string) {
	switch {
	case len(words) == 0 || words[0] == "":
		return nil
	case strings.Contains(words[0], "/"):
		return words[:1]
	}
	for dir := range strings.SplitSeq(searched(env), ":") {
		if dir == "" {
			dir = "."
		}
		list = append(list, dir+"/"+words[0])
	}
	return list
}

// forkHeld forks. The child does not return.
//
//go:noinline
//go:norace
//go:nocheckptr
func forkHeld(c *child) (pid uintptr, err syscall.Errno) {
	beforeFork()
	if runtime.GOARCH == "s390x" {
		pid, _, err = syscall.RawSyscall6(syscall.SYS_CLONE, 0, uintptr(syscall.SIGCHLD), 0, 0, 0, 0)
	} else {
		pid, _, err = syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	}
	if err != 0 || pid != 0 {
		afterFork()
		return pid, err
	}

	// The child. Nothing here may allocate, or call what may have its stack grow.
	afterForkInChild()
	var n uintptr
	var failed syscall.Errno
	syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0)
	for i := 0; i < 3; i++ {
		if _, _, err = syscall.RawSyscall(syscall.SYS_DUP3, uintptr(c.streams[i]), uintptr(i), 0); err != 0 {
			goto ends
		}
	}
	syscall.RawSyscall(syscall.SYS_DUP3, uintptr(c.goes), childGoes, syscall.O_CLOEXEC)
	syscall.RawSyscall(syscall.SYS_DUP3, uintptr(c.told), childTold, syscall.O_CLOEXEC)
	syscall.RawSyscall(syscall.SYS_DUP3, uintptr(c.inside), childInside, syscall.O_CLOEXEC)
	if _, _, err = syscall.RawSyscall(unix.SYS_CLOSE_RANGE, firstFree, uintptr(^uint32(0)), 0); err != 0 && c.others >= firstFree {
		syscall.RawSyscall(syscall.SYS_CLOSE, uintptr(c.others), 0, 0)
	}
	for i := uintptr(1); i <= 64; i++ {
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, i, uintptr(unsafe.Pointer(&c.zero[0])), 0, 8, 0, 0)
	}
	syscall.RawSyscall(syscall.SYS_UMASK, uintptr(c.umask), 0, 0)
	c.said[0] = tellsReady
	if _, _, err = syscall.RawSyscall(syscall.SYS_CHDIR, uintptr(unsafe.Pointer(c.dir)), 0, 0); err != 0 {
		c.said[0], c.said[4], c.said[5] = tellsDir, byte(err), byte(err>>8)
	}
	syscall.RawSyscall(syscall.SYS_WRITE, childTold, uintptr(unsafe.Pointer(&c.said[0])), saidBytes)
	for {
		n, _, err = syscall.RawSyscall(syscall.SYS_READ, childGoes, uintptr(unsafe.Pointer(&c.said[7])), 1)
		if err != syscall.EINTR {
			break
		}
	}
	if err != 0 || n != 1 || c.said[0] != tellsReady {
		if c.said[0] == tellsReady {
			syscall.RawSyscall6(syscall.SYS_OPENAT, childInside, uintptr(unsafe.Pointer(c.gaveUp)), syscall.O_WRONLY|syscall.O_CREAT|syscall.O_CLOEXEC, 0o600, 0, 0)
		}
		goto ends
	}
	if len(c.digits) > 0 {
		n, _, _ = syscall.RawSyscall(syscall.SYS_GETPID, 0, 0, 0)
		length := 1
		for x := n; x >= 10; x /= 10 {
			length++
		}
		for i := length - 1; i >= 0; i-- {
			c.digits[i] = byte('0' + n%10)
			n /= 10
		}
	}
	failed = syscall.ENOENT
	for i := 0; i < len(c.paths); i++ {
		_, _, err = syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(c.paths[i])), uintptr(unsafe.Pointer(&c.argv[0])), uintptr(unsafe.Pointer(&c.envv[0])))
		if err == syscall.ENOENT || err == syscall.ENOTDIR {
			if len(c.paths) == 1 {
				failed = err
			}
			continue
		}
		failed = err
		if err != syscall.EACCES || len(c.paths) == 1 { // another directory may have one that can be executed
			break
		}
	}
	c.said[0], c.said[4], c.said[5] = tellsExec, byte(failed), byte(failed>>8)
	syscall.RawSyscall(syscall.SYS_WRITE, childTold, uintptr(unsafe.Pointer(&c.said[0])), saidBytes)
	n = statusNoExec
	if failed == syscall.ENOENT {
		n = statusNotFound
	}
	for {
		syscall.RawSyscall(syscall.SYS_EXIT_GROUP, n, 0, 0)
	}
ends:
	for {
		syscall.RawSyscall(syscall.SYS_EXIT_GROUP, statusHeld, 0, 0)
	}
}

// holdFor bounds how long a child may take to enter its directory, which may hang.
const holdFor = time.Minute

// hears reads what a child tells.
func (h *Held) hears() (what byte, errno syscall.Errno, err error) {
	h.told.SetReadDeadline(time.Now().Add(holdFor)) //nolint:errcheck // it is a pipe
	defer h.told.SetReadDeadline(time.Time{})       //nolint:errcheck // as before
	return h.read()
}

func (h *Held) read() (what byte, errno syscall.Errno, err error) {
	var said [saidBytes]byte
	if _, err := io.ReadFull(h.told, said[:]); err != nil {
		return 0, 0, err
	}
	return said[0], syscall.Errno(said[4]) | syscall.Errno(said[5])<<8, nil
}

// Go lets the child become the program. It fails if the child was killed.
func (h *Held) Go() error {
	_, err := h.goes.Write([]byte{1})
	return errors.Join(err, h.goes.Close())
}

// Became waits until the child is the program. It fails with an *Error if it could not become that.
func (h *Held) Became() error {
	what, errno, err := h.read()
	if err != nil || what != tellsExec {
		return nil // the end: executing has closed it
	}
	name := ""
	if len(h.words) > 0 {
		name = h.words[0]
	}
	return &Error{name, errno}
}

// Close gives back what is open of a child.
func (h *Held) Close() {
	h.goes.Close()
	h.told.Close()
}
