package gate

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

var (
	gateName   = [...]byte{'p', 'l', 'a', 'c', 'e', 'c', 't', 'l', '-', 'g', 'a', 't', 'e', 0}
	wardenName = [len(WardenName) + 1]byte([]byte(WardenName + "\x00"))
	oomFile    = [...]byte{'/', 'p', 'r', 'o', 'c', '/', 's', 'e', 'l', 'f', '/', 'o', 'o', 'm', '_', 's', 'c', 'o',
		'r', 'e', '_', 'a', 'd', 'j', 0}
	oomScore = [...]byte{'5', '0', '0'} // the command should be killed before other processes
	itself   = [...]byte{'0'}
)

// forkGate forks a gate. After the fork, nothing in this function or in those that it calls may
// allocate memory or grow its stack. A gate, a warden and a command do not return.
//
//go:noinline
//go:norace
//go:nocheckptr
func forkGate(m *gateMemory, socket uintptr, region unsafe.Pointer) (pid uintptr, err syscall.Errno) {
	beforeFork()
	pid, err = rawFork()
	if err != 0 || pid != 0 {
		afterFork()
		return pid, err
	}
	h := (*head)(region)
	var n, command, options, tag uintptr
	var status uint32
	var failed syscall.Errno

	// The gate.
	syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0)
	syscall.RawSyscall6(syscall.SYS_PRCTL, syscall.PR_SET_NAME, uintptr(unsafe.Pointer(&gateName[0])), 0, 0, 0, 0)
	if socket == gateSocket {
		syscall.RawSyscall(syscall.SYS_FCNTL, gateSocket, syscall.F_SETFD, 0)
	} else {
		syscall.RawSyscall(syscall.SYS_DUP3, socket, gateSocket, 0)
	}
	closeFrom(gateOrder, 1<<16)
	for i := uintptr(0); i < m.spares; i++ {
		is := &m.spare[i&255]
		syscall.RawSyscall(syscall.SYS_MUNMAP, is.from, is.to-is.from, 0)
	}
	for i := uintptr(1); i <= 64; i++ { // signals are blocked here, but must not be in the commands
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, i, uintptr(unsafe.Pointer(&m.zero[0])), 0, 8, 0, 0)
	}
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGCHLD), uintptr(unsafe.Pointer(&m.ignore[0])), 0, 8,
		0, 0)
	for {
		m.message.Controllen = uint64(len(m.control))
		n, _, err = syscall.RawSyscall(syscall.SYS_RECVMSG, gateSocket, uintptr(unsafe.Pointer(&m.message)),
			syscall.MSG_CMSG_CLOEXEC)
		if err != 0 || n != 8 {
			exit(0)
		}
		_, _, err = syscall.RawSyscall6(syscall.SYS_MMAP, uintptr(region), uintptr(m.size),
			syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_FIXED, gateOrder, 0)
		if err == 0 {
			if n, err = rawFork(); err == 0 && n == 0 {
				break
			}
		}
		if err != 0 {
			m.numbers[0], m.numbers[1] = stepFork, uint64(err)
			m.say(saysFailed, h.tag, 2, false)
		}
		closeFrom(gateOrder, gateOrder+gateFiles)
	}

	// The warden.
	syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0)
	syscall.RawSyscall6(syscall.SYS_PRCTL, syscall.PR_SET_NAME, uintptr(unsafe.Pointer(&wardenName[0])), 0, 0, 0, 0)
	syscall.RawSyscall6(syscall.SYS_PRCTL, unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0, 0)
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGCHLD), uintptr(unsafe.Pointer(&m.zero[0])), 0, 8,
		0, 0)
	syscall.RawSyscall(syscall.SYS_CLOSE, gateSocket, 0, 0)
	syscall.RawSyscall(syscall.SYS_CLOSE, gateOrder, 0, 0)
	n, _, _ = syscall.RawSyscall(syscall.SYS_GETPID, 0, 0, 0)
	m.numbers[0] = uint64(n)
	m.say(saysWarden, h.tag, 1, true)
	command, err = rawFork()
	if err != 0 {
		m.numbers[0], m.numbers[1] = stepFork, uint64(err)
		m.say(saysFailed, h.tag, 2, false)
		exit(statusHeld)
	}
	if command == 0 {
		goto command
	}
	closeFrom(gateStreams, gateStreams+3)
	tag = h.tag
	syscall.RawSyscall(syscall.SYS_MUNMAP, uintptr(region), maxOrder, 0)
	for i := range m.numbers {
		m.numbers[i] = 0
	}
	for {
		n, _, err = syscall.RawSyscall6(syscall.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&status)), options,
			uintptr(unsafe.Pointer(&m.usage)), 0, 0)
		switch {
		case err == syscall.EINTR:
		case err != 0: // no process is left
			if m.numbers[0] = 1; options == 0 {
				m.say(saysEmpty, tag, 5, true)
			} else {
				m.say(saysEnded, tag, 5, true)
			}
			exit(0)
		case n == 0: // the command has ended, other processes are left
			m.say(saysEnded, tag, 5, true)
			options = 0
		default:
			m.numbers[2] += uint64(m.usage.Utime.Sec)*1e6 + uint64(m.usage.Utime.Usec)
			m.numbers[3] += uint64(m.usage.Stime.Sec)*1e6 + uint64(m.usage.Stime.Usec)
			if rss := uint64(m.usage.Maxrss); rss > m.numbers[4] {
				m.numbers[4] = rss
			}
			if n == command {
				m.numbers[1], options = uint64(status), syscall.WNOHANG
			}
		}
	}

command:
	syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0)
	for i := uintptr(0); i < 3; i++ {
		syscall.RawSyscall(syscall.SYS_DUP3, gateStreams+i, i, 0)
	}
	syscall.RawSyscall(syscall.SYS_UMASK, h.umask, 0, 0)
	if h.procs != 0 {
		writeTo(h.procs, uintptr(unsafe.Pointer(&itself[0])), uintptr(len(itself)))
	}
	writeTo(uintptr(unsafe.Pointer(&oomFile[0])), uintptr(unsafe.Pointer(&oomScore[0])), uintptr(len(oomScore)))
	m.numbers[0] = stepCPUs
	if h.cpus != 0 {
		_, _, failed = syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, h.cpuBytes, h.cpus)
	}
	if failed == 0 {
		m.numbers[0] = stepDir
		_, _, failed = syscall.RawSyscall(syscall.SYS_CHDIR, h.dir, 0, 0)
	}
	n, _, _ = syscall.RawSyscall(syscall.SYS_GETPID, 0, 0, 0)
	if failed == 0 {
		m.numbers[0] = uint64(n)
		failed = m.say(saysBegins, h.tag, 1, true)
		m.numbers[0] = stepJournal
	}
	for i := uintptr(0); failed == 0 && i < h.limitCount; i++ {
		l := (*laid)(unsafe.Add(region, h.limits+i*unsafe.Sizeof(laid{})))
		m.numbers[0] = stepLimit + uint64(i)
		_, _, failed = syscall.RawSyscall6(syscall.SYS_PRLIMIT64, 0, uintptr(l.id), uintptr(unsafe.Pointer(&l.Rlimit)),
			0, 0, 0)
	}
	if failed != 0 {
		m.numbers[1] = uint64(failed)
		m.say(saysFailed, h.tag, 2, false)
		exit(statusHeld)
	}
	if h.digits != 0 {
		length := uintptr(1)
		for x := n; x >= 10; x /= 10 {
			length++
		}
		for i := length; i > 0; i-- {
			*(*byte)(unsafe.Add(region, h.digits+i-1)) = byte('0' + n%10)
			n /= 10
		}
	}
	// Writing to a killed keeper may have left a signal pending: it is dropped.
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGPIPE), uintptr(unsafe.Pointer(&m.ignore[0])), 0, 8,
		0, 0)
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGPIPE), uintptr(unsafe.Pointer(&m.zero[0])), 0, 8,
		0, 0)
	syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, 2 /* SIG_SETMASK */, uintptr(unsafe.Pointer(&m.zero[0])), 0, 8,
		0, 0)
	failed = syscall.ENOENT
	for i := uintptr(0); i < h.pathCount; i++ {
		_, _, err = syscall.RawSyscall(syscall.SYS_EXECVE, *(*uintptr)(unsafe.Add(region, h.paths+i*unsafe.Sizeof(i))),
			h.argv, h.envv)
		if err == syscall.ENOENT || err == syscall.ENOTDIR {
			if h.pathCount == 1 {
				failed = err
			}
			continue
		}
		failed = err
		if err != syscall.EACCES || h.pathCount == 1 { // another directory may have an executable one
			break
		}
	}
	m.numbers[0] = uint64(failed)
	m.say(saysNoExec, h.tag, 1, false)
	if failed == syscall.ENOENT {
		exit(statusNotFound)
	}
	exit(statusNoExec)
	return 0, 0
}

//go:nosplit
//go:norace
func rawFork() (pid uintptr, err syscall.Errno) {
	if runtime.GOARCH == "s390x" {
		pid, _, err = syscall.RawSyscall6(syscall.SYS_CLONE, 0, uintptr(syscall.SIGCHLD), 0, 0, 0, 0)
	} else {
		pid, _, err = syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	}
	return pid, err
}

//go:nosplit
//go:norace
func exit(status uintptr) {
	for {
		syscall.RawSyscall(syscall.SYS_EXIT_GROUP, status, 0, 0)
	}
}

// closeFrom closes the descriptors from from to below to.
//
//go:nosplit
//go:norace
func closeFrom(from, to uintptr) {
	if _, _, err := syscall.RawSyscall(unix.SYS_CLOSE_RANGE, from, to-1, 0); err == 0 {
		return
	}
	for ; from < to; from++ { // an older kernel
		syscall.RawSyscall(syscall.SYS_CLOSE, from, 0, 0)
	}
}

// writeTo writes to a file if it can. The file's name and the text lie at addresses.
//
//go:nosplit
//go:norace
func writeTo(name, text, length uintptr) {
	at := unix.AT_FDCWD
	fd, _, err := syscall.RawSyscall6(syscall.SYS_OPENAT, uintptr(at), name, syscall.O_WRONLY|syscall.O_CLOEXEC, 0, 0,
		0)
	if err == 0 {
		syscall.RawSyscall(syscall.SYS_WRITE, fd, text, length)
		syscall.RawSyscall(syscall.SYS_CLOSE, fd, 0, 0)
	}
}

// say writes a line with the first few numbers to Told. If the line must be kept, say also writes it
// to the journal, and returns the error of that.
//
//go:nosplit
//go:norace
func (m *gateMemory) say(what byte, tag uintptr, count int, kept bool) (err syscall.Errno) {
	m.line[0] = what
	n := 1
	for i := -1; i < count; i++ {
		x := uint64(tag)
		if i >= 0 {
			x = m.numbers[i&7%maxNumbers]
		}
		m.line[n&255] = ' '
		n++
		length := 1
		for y := x; y >= 10; y /= 10 {
			length++
		}
		for at := n + length - 1; at >= n; at-- {
			m.line[at&255] = byte('0' + x%10)
			x /= 10
		}
		n += length
	}
	sum := ^uint32(0)
	for i := 0; i < n; i++ {
		sum ^= uint32(m.line[i&255])
		for range 8 {
			sum = sum>>1 ^ 0xedb88320&-(sum&1) // the IEEE polynomial
		}
	}
	sum = ^sum
	m.line[n&255] = ' '
	n++
	for i := range 8 {
		digit := byte(sum >> (28 - 4*i) & 15)
		if digit += '0'; digit > '9' {
			digit += 'a' - '0' - 10
		}
		m.line[n&255] = digit
		n++
	}
	m.line[n&255] = '\n'
	n++
	if kept {
		var wrote uintptr
		if wrote, _, err = syscall.RawSyscall(syscall.SYS_WRITE, gateJournal, uintptr(unsafe.Pointer(&m.line[0])),
			uintptr(n)); err == 0 && wrote != uintptr(n) {
			err = syscall.ENOSPC
		}
		if err != 0 && what == saysBegins { // nothing begins that is not written down
			return err
		}
	}
	syscall.RawSyscall(syscall.SYS_WRITE, gateTold, uintptr(unsafe.Pointer(&m.line[0])), uintptr(n))
	return err
}
