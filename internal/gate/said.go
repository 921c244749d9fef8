package gate

import (
	"fmt"
	"hash/crc32"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/placectl/placectl/internal/launch"
)

// Said is a warden's report on its command, in a line that Sealed has sealed.
type Said struct {
	Warden int // its process number in the warden's first report, otherwise 0
	Begins int // the process number of the command if it is about to be executed, otherwise 0
	Failed error
	Ended  bool // the command has ended
	Empty  bool // and so have all its descendants
	Status syscall.WaitStatus
	User   time.Duration // used so far, by all that have ended
	System time.Duration
	MaxRSS int64 // bytes
}

// NotExecuted says why a process did not become the command: a *launch.Error, or another error.
type NotExecuted struct {
	Err   error
	Begun bool // the warden had reported Begins: setting a limit or executing the program failed
}

func (e *NotExecuted) Error() string { return e.Err.Error() }
func (e *NotExecuted) Unwrap() error { return e.Err }

// DirError says that a directory cannot be entered.
type DirError struct{ *os.PathError }

// CPUsError says that the command cannot be bound to some hardware threads.
type CPUsError struct {
	CPUs []int
	Err  error
}

func (e *CPUsError) Error() string { return fmt.Sprintf("cores %v: %v", e.CPUs, e.Err) }
func (e *CPUsError) Unwrap() error { return e.Err }

// LimitError says that a limit cannot be set.
type LimitError struct {
	Limit
	Err error
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the limit %s of %d: %v", e.Name, e.Cur, e.Err)
}
func (e *LimitError) Unwrap() error { return e.Err }

// JournalError says that a journal cannot be written.
type JournalError struct{ error }

func (e *JournalError) Unwrap() error { return e.error }

// Sealed returns a line for a journal: the text, a blank, its checksum, and a newline.
func Sealed(text []byte) []byte {
	sum := strconv.FormatUint(uint64(crc32.ChecksumIEEE(text))|1<<32, 16)
	return append(append(append(text, ' '), sum[1:]...), '\n')
}

// Unsealed returns the text of a line without its newline. It returns false if the line was not
// written completely.
func Unsealed(line string) (string, bool) {
	at := len(line) - 9
	if at < 0 || line[at] != ' ' {
		return "", false
	}
	sum, err := strconv.ParseUint(line[at+1:], 16, 32)
	return line[:at], err == nil && uint32(sum) == crc32.ChecksumIEEE([]byte(line[:at]))
}

// Heard parses the text of a line from the order's warden. It returns false for any other line.
func (o *Order) Heard(text string) (s Said, ok bool) {
	words := strings.Fields(text)
	if len(words) < 3 || len(words[0]) != 1 || len(words) > 2+maxNumbers {
		return s, false
	}
	var n [1 + maxNumbers]uint64
	for i, word := range words[1:] {
		var err error
		if n[i], err = strconv.ParseUint(word, 10, 64); err != nil {
			return s, false
		}
	}
	if n[0] != o.Tag {
		return s, false
	}
	switch words[0][0] {
	case saysWarden:
		s.Warden = int(n[1])
	case saysBegins:
		s.Begins = int(n[1])
	case saysFailed:
		s.Failed = o.failed(n[1], syscall.Errno(n[2]))
	case saysNoExec:
		name := ""
		if len(o.Words) > 0 {
			name = o.Words[0]
		}
		s.Failed = &NotExecuted{&launch.Error{Name: name, Err: syscall.Errno(n[1])}, true}
	case saysEnded, saysEmpty:
		s.Ended, s.Empty = true, n[1] == 1
		s.Status = syscall.WaitStatus(n[2])
		s.User, s.System, s.MaxRSS = time.Duration(n[3])*time.Microsecond, time.Duration(n[4])*time.Microsecond,
			int64(n[5])<<10
	default:
		return s, false
	}
	return s, true
}

// failed returns the error of a failed step.
func (o *Order) failed(step uint64, errno syscall.Errno) error {
	switch step {
	case stepFork:
		return &NotExecuted{os.NewSyscallError("fork", errno), false}
	case stepDir:
		return &NotExecuted{&DirError{&os.PathError{Op: "chdir", Path: o.Dir, Err: errno}}, false}
	case stepCPUs:
		return &NotExecuted{&CPUsError{o.CPUs, errno}, false}
	case stepJournal:
		return &NotExecuted{&JournalError{errno}, false}
	}
	if i := step - stepLimit; i < uint64(len(o.Limits)) {
		return &NotExecuted{&LimitError{o.Limits[i], errno}, true}
	}
	return &NotExecuted{errno, true}
}
