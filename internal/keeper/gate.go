package keeper

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/gate"
	"golang.org/x/sys/unix"
)

// plan is the command for a gate, with its environment and files.
type plan struct {
	Words  []string
	Env    []string
	Dir    string
	Umask  uint32
	Limits []engine.ResourceLimit
	CPUs   []int
	In     string // path of the input, "" for none
	Out    output
	Task   bool   // the command gets its pid in a variable, like a task of Slurm
	Err    output // without a path, errors go to the output
}

// The exit statuses of a command that was not executed, as in shells, and of a gate that failed.
const (
	statusGate          = 125
	statusNotExecutable = 126
	statusNoProgram     = 127
)

// streams are the input, the output and the errors of the command.
type streams struct {
	files [3]int
}

func (o *streams) close() {
	for _, fd := range slices.Compact(o.files[:]) {
		unix.Close(fd) //nolint:errcheck // the gate has its own copy
	}
	o.files = [3]int{-1, -1, -1}
}

// errHangs says that a file system does not answer.
var errHangs = errors.New("the directory or the output cannot be opened: a file system has not answered for a minute")

// opening is a request for the streams of a command.
type opening struct {
	*plan
	done chan<- opened
}

type opened struct {
	*streams
	error
}

// opened opens the streams. It gives up after a while, because a file system may hang. The blocked
// goroutine stays behind, and others open the next files.
func (k *keeper) opened(p *plan) (*streams, error) {
	done := make(chan opened, 1)
	select {
	case k.opens <- opening{p, done}:
	default:
		go k.openAll(opening{p, done})
	}
	late := time.NewTimer(openFor)
	defer late.Stop()
	select {
	case o := <-done:
		return o.streams, o.error
	case <-late.C:
		return nil, errHangs
	}
}

// openAll opens streams one after the other, on a thread with its own umask. If unshare fails, the
// thread shares the umask of the process.
func (k *keeper) openAll(o opening) {
	runtime.LockOSThread() // the thread ends with this goroutine
	ownUmask()
	for more := true; more; {
		var is opened
		if err := unix.Access(o.Dir, unix.X_OK); err != nil {
			is.error = &gate.DirError{PathError: &os.PathError{Op: "chdir", Path: o.Dir, Err: err}}
		} else {
			is.streams, is.error = o.open()
		}
		o.done <- is
		select {
		case o, more = <-k.opens:
		case <-time.After(idleFor):
			return
		}
	}
}

func (p *plan) open() (*streams, error) {
	unix.Umask(int(p.Umask))
	o := new(streams)
	in, err := openInput(p.In)
	if err != nil {
		return nil, err
	}
	out, err := p.Out.open()
	if err != nil {
		unix.Close(in) //nolint:errcheck // nothing was read
		return nil, err
	}
	o.files = [3]int{in, out, out}
	if p.Err.Path != "" {
		if o.files[2], err = p.Err.open(); err != nil {
			o.files[2] = out
			o.close()
			return nil, err
		}
	}
	return o, nil
}
