package gate

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A gate is a process that forks commands. It is a copy of this one, made while this one is small:
// starting the program again takes several times as long as most small commands run, and so does
// forking a process with much memory. For each command the gate forks a warden, and the warden forks
// the process that becomes the command. The warden reaps all of the command's descendants and waits
// until none is left. It records when the command began and how it ended. So none of that is lost if
// the process that ordered the command dies.
//
// Gates, wardens, and processes that have yet to become the command only make system calls: the Go
// runtime does not work in a forked child. Everything they read was laid out before, in a memory
// file that is mapped at an address both sides know. Signals stay blocked in gates and wardens: a
// signal to a whole process group or user does not end them, only SIGKILL does.

// forked is a gate that is a process of its own, and forks commands.
type forked struct {
	mu     sync.Mutex
	socket int
	pid    int
	region []byte // the address of orders in the gate; in this process nothing is mapped there
}

// The descriptors of a gate: its socket, and then the files of each order.
const (
	gateSocket  = 3
	gateOrder   = 4
	gateStreams = 5
	gateJournal = 8
	gateTold    = 9
	gateFiles   = 6 // the number of files with an order
)

// head is the beginning of an order. What it points to is in the region, too.
type head struct {
	argv, envv, paths        uintptr
	pathCount                uintptr
	dir, procs, cpus, limits uintptr
	cpuBytes, limitCount     uintptr
	umask, tag, digits       uintptr
}

// laid is a limit within an order.
type laid struct {
	id, _ uint64
	unix.Rlimit
}

//go:linkname beforeFork syscall.runtime_BeforeFork
func beforeFork()

//go:linkname afterFork syscall.runtime_AfterFork
func afterFork()

//go:linkname iscgo runtime.iscgo
var iscgo bool

// hearsWithin is how many seconds a gate may take to make room for an order.
const hearsWithin = 10

// Forked makes a gate that is a process of its own, for programs that have their keeper in a process apart. It ends
// with this process, or by Close. Make it early, while this process is small.
func Forked() (Gate, error) {
	g := new(forked)
	return g, g.fork()
}

// gateMemory is a gate's memory, laid out by its parent.
type gateMemory struct {
	size    uint64 // of the order received
	control [64]byte
	vector  syscall.Iovec
	message syscall.Msghdr
	zero    [8]uint64 // a signal's default action
	ignore  [8]uint64
	usage   syscall.Rusage
	numbers [maxNumbers]uint64
	line    [256]byte
	spare   [256]mapping
	spares  uintptr
}

// mapping is a range of addresses.
type mapping struct{ from, to uintptr }

// reach is how far the data that a gate reads may lie from what it was handed: Go's heap is in one
// piece.
const reach = 1 << 32

// spareMappings notes the mappings that a gate does not need, given the addresses of the memory in
// use. Forks copy the page tables of all mappings, and each warden has its own, so they are all of
// the Go runtime's except its heap. And they are the files that this process shares with others: as
// long as a database is mapped anywhere, the lock on it that bbolt takes stays.
func (m *gateMemory) spareMappings(heap, region uintptr) {
	text, _ := os.ReadFile("/proc/self/maps") //nolint:errcheck // then the gate keeps all mappings
	program := uintptr(0)                     // the end of the program's own memory
	for line := range strings.Lines(string(text)) {
		var is mapping
		var perms, offset, dev, inode, name string
		//nolint:errcheck // most have no name
		fmt.Sscanf(line, "%x-%x %s %s %s %s %s", &is.from, &is.to, &perms, &offset, &dev, &inode, &name)
		named := name != "" || is.from == program
		if named && !strings.HasPrefix(name, "[") {
			program = is.to
		}
		// data of C threads may be anywhere, as with the race detector
		far := max(is.from, heap)-min(is.from, heap) > reach && (region < is.from || region >= is.to) && !iscgo
		if (strings.HasSuffix(perms, "s") || far && !named) && int(m.spares) < len(m.spare) {
			m.spare[m.spares] = is
			m.spares++
		}
	}
}

func (g *forked) fork() error {
	if g.region == nil {
		region, err := unix.Mmap(-1, 0, maxOrder, unix.PROT_READ,
			unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
		if err != nil {
			return os.NewSyscallError("mmap", err)
		}
		g.region = region
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socketpair", err)
	}
	//nolint:errcheck // then Start waits for a stopped gate
	unix.SetsockoptTimeval(pair[0], unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{Sec: hearsWithin})
	m := new(gateMemory)
	m.vector.Base = (*byte)(unsafe.Pointer(&m.size))
	m.vector.SetLen(8)
	m.message.Iov, m.message.Iovlen, m.message.Control = &m.vector, 1, &m.control[0]
	m.ignore[0] = 1 // SIG_IGN
	syscall.ForkLock.Lock()
	m.spareMappings(uintptr(unsafe.Pointer(m)), uintptr(unsafe.Pointer(&g.region[0])))
	pid, errno := forkGate(m, uintptr(pair[1]), unsafe.Pointer(&g.region[0]))
	syscall.ForkLock.Unlock()
	runtime.KeepAlive(m)
	unix.Close(pair[1])
	if errno != 0 {
		unix.Close(pair[0])
		return os.NewSyscallError("fork", errno)
	}
	g.socket, g.pid = pair[0], int(pid)
	return nil
}

// PID returns the gate's process number.
func (g *forked) PID() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pid
}

// Close ends the gate once it has handled its orders. What it has started goes on.
func (g *forked) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.end(false)
	unix.Munmap(g.region) //nolint:errcheck // it was mapped
}

// Renew replaces the gate for later orders. If the old gate has not begun to fork an order, it never
// will.
func (g *forked) Renew() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.end(true)
	return g.fork()
}

func (g *forked) end(kill bool) {
	if kill {
		unix.Kill(g.pid, unix.SIGKILL) //nolint:errcheck // it may have ended
	}
	unix.Close(g.socket)
	for {
		if _, err := unix.Wait4(g.pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// Start orders a command. If Start fails, nothing was executed, and nothing will be. The file Told
// gets reports on the command, and comes to its end when the warden ends.
func (g *forked) Start(o *Order) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	text, err := o.layOut(uintptr(unsafe.Pointer(&g.region[0])))
	if err != nil {
		return err
	}
	fd, err := unix.MemfdCreate("order", unix.MFD_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("memfd_create", err)
	}
	defer unix.Close(fd)
	for rest := text; len(rest) > 0; {
		n, err := unix.Write(fd, rest)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("write", err)
		}
		rest = rest[max(n, 0):]
	}
	size := uint64(len(text))
	files := unix.UnixRights(fd, o.Streams[0], o.Streams[1], o.Streams[2], int(o.Journal.Fd()), int(o.Told.Fd()))
	for again := true; ; again = false {
		err = unix.Sendmsg(g.socket, unsafe.Slice((*byte)(unsafe.Pointer(&size)), 8), files, nil, unix.MSG_NOSIGNAL)
		if !again || !errors.Is(err, unix.EPIPE) && !errors.Is(err, unix.ECONNRESET) && !errors.Is(err, unix.EAGAIN) {
			return os.NewSyscallError("sendmsg", err)
		}
		g.end(true)
		if err := g.fork(); err != nil { // the gate was killed, or is stopped
			return err
		}
	}
}

// layOut encodes an order as the gate reads it at an address.
func (o *Order) layOut(at uintptr) ([]byte, error) {
	var h head
	b := make([]byte, unsafe.Sizeof(h), 1<<14)
	var failed error
	place := func(text string) uintptr {
		if strings.IndexByte(text, 0) >= 0 {
			failed = syscall.EINVAL
		}
		is := at + uintptr(len(b))
		b = append(append(b, text...), 0)
		return is
	}
	words := func(list []uintptr) uintptr {
		for len(b)%8 != 0 {
			b = append(b, 0)
		}
		is := at + uintptr(len(b))
		if len(list) > 0 {
			b = append(b, unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), len(list)*int(unsafe.Sizeof(list[0])))...)
		}
		return is
	}
	texts := func(list []string) (is []uintptr) {
		for _, text := range list {
			is = append(is, place(text))
		}
		return is
	}
	envv := texts(o.Env)
	if o.TaskPID != "" {
		envv = append(envv, place(o.TaskPID+"="))
		b = b[:len(b)-1]
		h.digits = uintptr(len(b))
		b = append(b, make([]byte, 21)...)
	}
	paths := texts(programPaths(o.Words, o.Env))
	h.dir, h.umask, h.tag = place(o.Dir), uintptr(o.Umask), uintptr(o.Tag)
	if o.Procs != "" {
		h.procs = place(o.Procs)
	}
	h.pathCount, h.paths = uintptr(len(paths)), words(paths)-at
	h.argv, h.envv = words(append(texts(o.Words), 0)), words(append(envv, 0))
	if len(o.CPUs) > 0 {
		var set unix.CPUSet
		for _, c := range o.CPUs {
			set.Set(c)
		}
		list := make([]uintptr, len(set))
		for i, word := range set {
			list[i] = uintptr(word)
		}
		h.cpus, h.cpuBytes = words(list), unsafe.Sizeof(set)
	}
	var limits []uintptr
	for _, l := range o.Limits {
		limits = append(limits, uintptr(l.ID), 0, uintptr(l.Cur), uintptr(l.Max))
	}
	h.limits, h.limitCount = words(limits)-at, uintptr(len(o.Limits))
	copy(b, unsafe.Slice((*byte)(unsafe.Pointer(&h)), unsafe.Sizeof(h)))
	if len(b) > maxOrder {
		failed = syscall.E2BIG
	}
	return b, failed
}
