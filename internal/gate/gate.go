// Package gate executes the commands of jobs. For each it makes a warden, and the warden makes the process that
// becomes the command. The warden reaps all of the command's descendants and waits until none is left. It records
// when the command began and how it ended. So none of that is lost if the process that ordered the command dies.
//
// There are two gates. The forked one is a process apart, a copy of this one; its wardens cost little. It is for
// programs that are a keeper and nothing else. The plain one executes this program again, as warden and as what becomes
// the command. It is for keepers inside other programs, whose memory may be large. Both are for Linux alone.
package gate

import (
	"os"
	"strings"

	"github.com/placectl/placectl/internal/launch"
	"golang.org/x/sys/unix"
)

// Gate makes the processes of commands.
type Gate interface {
	// Start orders a command. If Start fails, nothing was executed, and nothing will be. The file Told
	// gets reports on the command, and comes to its end when the warden ends.
	Start(o *Order) error
	// Renew replaces what a file system holds up. What was ordered and has no warden yet never gets one.
	Renew() error
	// Close ends the gate once it has handled its orders. What it has started goes on.
	Close()
}

// Order is a command for a gate to execute.
type Order struct {
	Words, Env []string // the program is found on the PATH of Env, as in launch.Become
	Dir        string
	Umask      uint32
	CPUs       []int    // the hardware threads for the command; nil: all
	Limits     []Limit  // resource limits, set last
	Procs      string   // the file cgroup.procs of its control group, "" for none
	TaskPID    string   // a variable for its process number, "" for none
	Streams    [3]int   // input, output and errors
	Journal    *os.File `json:"-"`
	Told       *os.File `json:"-"` // gets the warden's reports
	Tag        uint64   // the first field of its journal lines

	Warden int // set by Start if the order has its warden from the beginning
}

// Limit is a resource limit of the kernel.
type Limit struct {
	Name string
	ID   int
	unix.Rlimit
}

// maxOrder bounds an order in bytes. The kernel takes less than 6 MiB of arguments and environment.
const maxOrder = 8 << 20

// What a warden reports of its command. A report is a line: a letter, the order's tag, numbers and
// a checksum.
const (
	saysWarden = 'w' // its own process number
	saysBegins = 'p' // the process number of the command, before that is executed
	saysFailed = 'f' // a failed step, and errno: to Told alone
	saysNoExec = 'x' // errno of the failed execve: to Told alone
	saysEnded  = 'e' // the command has ended: whether others are left, its status, and the use of all so far
	saysEmpty  = 'z' // the same, once no other process is left
)

// The steps that can fail.
const (
	stepFork = iota
	stepDir
	stepCPUs
	stepJournal
	stepLimit // with its index behind errno
)

const maxNumbers = 6

// WardenName is the name of the process of a warden, and of a command that is not executed yet.
const WardenName = "placectl-job"

// Exit statuses of a process that fails to become the command.
const (
	statusHeld     = 125
	statusNoExec   = 126
	statusNotFound = 127
)

// programPaths returns the files that may be the program of words.
func programPaths(words, env []string) (list []string) {
	switch {
	case len(words) == 0 || words[0] == "":
		return nil
	case strings.Contains(words[0], "/"):
		return words[:1]
	}
	for dir := range strings.SplitSeq(launch.SearchPath(env), ":") {
		if dir == "" {
			dir = "."
		}
		list = append(list, dir+"/"+words[0])
	}
	return list
}
