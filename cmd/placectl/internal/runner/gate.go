package runner

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	"github.com/placectl/placectl/store"
	"golang.org/x/sys/unix"
)

// plan is what a gate is to become, and in what.
type plan struct {
	Words  []string
	Env    []string
	Dir    string
	Umask  uint32
	Limits []store.ResourceLimit
	CPUs   []int
	Out    output
	Task   bool   // the command is to know its pid, as a task of Slurm
	Err    output // its path is "" where errors go with the output
}

// The exit statuses of a command that was not executed, as shells have them, and of a gate
// that failed.
const (
	statusGate          = 125
	statusNotExecutable = 126
	statusNoProgram     = 127
)

// streams are the input, the output and the errors of the command.
type streams struct {
	files [3]int
	log   string // where the output lies, if that is elsewhere
}

func (o *streams) close() {
	for _, fd := range slices.Compact(o.files[:]) {
		unix.Close(fd) //nolint:errcheck // the gate has it
	}
}

// errHangs says that a file system does not answer.
var errHangs = errors.New("the directory or the output cannot be opened: a file system has not answered for a minute")

// opened opens the streams. It gives up after a while: a file system may hang.
func (p *plan) opened() (*streams, error) {
	type answer struct {
		*streams
		error
	}
	done := make(chan answer, 1)
	go func() {
		if err := unix.Access(p.Dir, unix.X_OK); err != nil {
			done <- answer{nil, &launch.DirError{PathError: &os.PathError{Op: "chdir", Path: p.Dir, Err: err}}}
			return
		}
		o, err := p.open()
		done <- answer{o, err}
	}()
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	select {
	case a := <-done:
		return a.streams, a.error
	case <-late.C:
		return nil, errHangs
	}
}

func (p *plan) open() (*streams, error) {
	// The mask is the process's. It may only take rights away from what else is made meanwhile.
	was := unix.Umask(int(p.Umask))
	defer unix.Umask(was)
	o := new(streams)
	in, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	out, log, err := p.Out.open()
	if err != nil {
		unix.Close(in) //nolint:errcheck // nothing was read
		return nil, err
	}
	o.files, o.log = [3]int{in, out, out}, log
	if p.Err.Path != "" {
		if o.files[2], _, err = p.Err.open(); err != nil {
			o.files[2] = out
			o.close()
			return nil, err
		}
	}
	return o, nil
}

// confine keeps a gate, before it becomes the command, to what the job may use.
func (p *plan) confine(pid int) error {
	// The command is more dispensable than the process that supervises it.
	os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("500"), 0) //nolint:errcheck // not everywhere
	if len(p.CPUs) > 0 {
		var set unix.CPUSet
		for _, c := range p.CPUs {
			set.Set(c)
		}
		if err := unix.SchedSetaffinity(pid, &set); err != nil {
			return fmt.Errorf("cores %v: %w", p.CPUs, err)
		}
	}
	return p.limit(pid)
}

// limitIDs are the limits that jobs carry.
var limitIDs = map[string]int{
	"as": unix.RLIMIT_AS, "core": unix.RLIMIT_CORE, "cpu": unix.RLIMIT_CPU, "data": unix.RLIMIT_DATA, "fsize": unix.RLIMIT_FSIZE,
	"memlock": unix.RLIMIT_MEMLOCK, "nofile": unix.RLIMIT_NOFILE, "nproc": unix.RLIMIT_NPROC, "rss": unix.RLIMIT_RSS, "stack": unix.RLIMIT_STACK,
}

// limit sets the limits of the kernel. What this host does not allow is as much as it does.
func (p *plan) limit(pid int) error {
	if !slices.ContainsFunc(p.Limits, func(l store.ResourceLimit) bool { return l.Name == "nofile" }) {
		if err := lower(pid); err != nil {
			return err
		}
	}
	for _, l := range p.Limits {
		id, ok := limitIDs[l.Name]
		if !ok {
			continue
		}
		var is unix.Rlimit
		if err := unix.Prlimit(pid, id, nil, &is); err != nil {
			return fmt.Errorf("the limit %s: %w", l.Name, err)
		}
		want := unix.Rlimit{Cur: kernelLimit(l.Soft), Max: kernelLimit(l.Hard)}
		if os.Geteuid() != 0 {
			want.Max = min(want.Max, is.Max)
		}
		want.Cur = min(want.Cur, want.Max)
		if err := unix.Prlimit(pid, id, &want, nil); err != nil {
			return fmt.Errorf("the limit %s of %s: %w", l.Name, strconv.FormatUint(want.Cur, 10), err)
		}
	}
	return nil
}

// lower gives a process the soft limit of open files that this one was started with.
func lower(pid int) error {
	soft, err := launch.OpenFiles()
	if err != nil {
		return nil //nolint:nilerr // it has more than others have
	}
	var is unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &is); err != nil {
		return fmt.Errorf("the limit nofile: %w", err)
	}
	is.Cur = min(soft, is.Max)
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &is, nil); err != nil {
		return fmt.Errorf("the limit nofile of %d: %w", soft, err)
	}
	return nil
}

// kernelLimit is a limit as the kernel has it.
func kernelLimit(n uint64) uint64 {
	if n == store.NoLimit {
		return unix.RLIM_INFINITY
	}
	return n
}
