package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"github.com/placectl/placectl/cmd/placectl/internal/bytejson"
	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	"github.com/placectl/placectl/store"
	"golang.org/x/sys/unix"
)

// GateVerb is the first argument of a gate's process.
const GateVerb = "gate"

// The descriptors of a gate.
const (
	orderFD  = 3 // what is to be done, and then a byte when it may be
	toldFD   = 4 // how far it has come; closed by executing
	insideFD = 5 // the attempt's directory
)

// plan is what a gate is told to do.
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

// word is a line that a gate tells its supervisor.
type word struct {
	Ready bool      `json:"ready,omitempty"`
	Log   string    `json:"log,omitempty"` // where the output lies, where that is elsewhere
	Stage gateStage `json:"stage,omitempty"`
	Errno int       `json:"errno,omitempty"`
	Text  string    `json:"text,omitempty"`
}

// gateStage is what a gate was at when it failed.
type gateStage string

const (
	stageSetUp gateStage = "setup"
	stageDir   gateStage = "dir"
	stageExec  gateStage = "exec"
)

// Gate is the process that becomes the command. It returns the exit status of one that did
// not.
func Gate() int { return gate(func(string) {}) }

func gate(step func(string)) int {
	if err := launch.Inherited(unix.S_IFIFO, unix.S_IFIFO, unix.S_IFDIR); err != nil {
		fmt.Fprintln(os.Stderr, "placectl: "+GateVerb+":", err)
		return statusGate
	}
	runtime.LockOSThread() // cores and oom_score are of the thread that executes
	order, told := os.NewFile(orderFD, "order"), os.NewFile(toldFD, "told")
	for fd := orderFD; fd <= insideFD; fd++ {
		unix.CloseOnExec(fd)
	}
	fail := func(stage gateStage, err error) int {
		w := word{Stage: stage, Text: err.Error()}
		var errno syscall.Errno
		if errors.As(err, &errno) {
			w.Errno = int(errno)
		}
		bytejson.Write(told, w) //nolint:errcheck // nobody is left to be told
		if stage == stageExec && errors.Is(err, syscall.ENOENT) {
			return statusNoProgram
		}
		if stage == stageExec {
			return statusNotExecutable
		}
		return statusGate
	}
	var p plan
	in := json.NewDecoder(order)
	if err := bytejson.Decode(in, &p); err != nil {
		return fail(stageSetUp, err)
	}
	ready, stage, err := p.prepare()
	if err != nil {
		return fail(stage, err)
	}
	if err := bytejson.Write(told, ready); err != nil {
		return statusGate
	}
	step("gate waits")
	if !allowed(io.MultiReader(in.Buffered(), order)) {
		giveUp()
		return statusGate
	}
	step("gate may")
	if p.Task {
		p.Env = append(p.Env, "SLURM_TASK_PID="+strconv.Itoa(os.Getpid()))
	}
	if err := p.limit(); err != nil {
		return fail(stageSetUp, err)
	}
	return fail(stageExec, launch.Become(p.Words, p.Env))
}

// The exit statuses of a command that was not executed, as shells have them, and of a gate
// that failed.
const (
	statusGate          = 125
	statusNotExecutable = 126
	statusNoProgram     = 127
)

// allowed waits for the byte that allows to execute. The end of the pipe says that the
// supervisor has died.
func allowed(order io.Reader) bool {
	b := make([]byte, 1)
	for {
		switch _, err := io.ReadFull(order, b); {
		case err != nil:
			return false
		case b[0] == goByte:
			return true
		} // the end of the line that the plan stood in
	}
}

// goByte is what a gate waits for.
const goByte = 'g'

// giveUp notes that this gate ends without having executed anything.
func giveUp() {
	fd, err := unix.Openat(insideFD, gaveUpFile, unix.O_WRONLY|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
	if err == nil {
		unix.Close(fd)
	}
}

// prepare sets up everything that the command is to find, but for limits that could be in
// our own way.
func (p *plan) prepare() (ready word, stage gateStage, err error) {
	inherited := make(chan os.Signal, 1)
	signal.Notify(inherited) // what was ignored is not any more once this process is another program
	if err := os.Chdir(p.Dir); err != nil {
		return ready, stageDir, err
	}
	unix.Umask(int(p.Umask))
	// The command is more dispensable than who supervises it.
	os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0) //nolint:errcheck // not everywhere
	if len(p.CPUs) > 0 {
		var set unix.CPUSet
		for _, c := range p.CPUs {
			set.Set(c)
		}
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			return ready, stageSetUp, fmt.Errorf("cores %v: %w", p.CPUs, err)
		}
	}
	null, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		err = unix.Dup2(null, 0)
	}
	if err != nil {
		return ready, stageSetUp, err
	}
	log, err := p.Out.redirect(1)
	if err == nil && p.Err.Path != "" {
		_, err = p.Err.redirect(2)
	} else if err == nil {
		err = unix.Dup2(1, 2)
	}
	return word{Ready: true, Log: log}, stageSetUp, err
}

// limitIDs are the limits that jobs carry.
var limitIDs = map[string]int{
	"as": unix.RLIMIT_AS, "core": unix.RLIMIT_CORE, "cpu": unix.RLIMIT_CPU, "data": unix.RLIMIT_DATA, "fsize": unix.RLIMIT_FSIZE,
	"memlock": unix.RLIMIT_MEMLOCK, "nofile": unix.RLIMIT_NOFILE, "nproc": unix.RLIMIT_NPROC, "rss": unix.RLIMIT_RSS, "stack": unix.RLIMIT_STACK,
}

// limit sets the limits of the kernel. What this host does not allow is as much as it does.
func (p *plan) limit() error {
	for _, l := range p.Limits {
		id, ok := limitIDs[l.Name]
		if !ok {
			continue
		}
		var is unix.Rlimit
		if err := unix.Getrlimit(id, &is); err != nil {
			return fmt.Errorf("the limit %s: %w", l.Name, err)
		}
		want := unix.Rlimit{Cur: kernelLimit(l.Soft), Max: kernelLimit(l.Hard)}
		if os.Geteuid() != 0 {
			want.Max = min(want.Max, is.Max)
		}
		want.Cur = min(want.Cur, want.Max)
		if err := unix.Setrlimit(id, &want); err != nil {
			return fmt.Errorf("the limit %s of %s: %w", l.Name, strconv.FormatUint(want.Cur, 10), err)
		}
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
