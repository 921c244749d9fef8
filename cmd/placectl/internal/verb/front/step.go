package front

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"github.com/placectl/placectl/internal/launch"
	"golang.org/x/sys/unix"
)

// stepHost starts the tasks of a job's step side by side on its nodes: those on this host as
// children, the others through placectl on.
type stepHost struct {
	Environ  []string
	Database string
	Terminal bool // Ctrl-C at the terminal interrupts tasks
}

// Getenv returns a variable of the environment, "" if it is not set.
func (h *stepHost) Getenv(name string) string {
	value := ""
	for _, kv := range h.Environ {
		if is, ok := strings.CutPrefix(kv, name+"="); ok {
			value = is
		}
	}
	return value
}

// Create opens a file for output.
func (h *stepHost) Create(name string, add bool) (io.WriteCloser, error) {
	how := os.O_TRUNC
	if add {
		how = os.O_APPEND
	}
	return os.OpenFile(name, os.O_CREATE|os.O_WRONLY|how, 0o666)
}

// Counted returns the number of this step within its job. Each step adds a byte to a file in the
// attempt's directory. Without that directory, as outside of a script, every step is the first.
func (h *stepHost) Counted() int {
	nodes := h.Getenv("PLACECTL_NODEFILE")
	if nodes == "" || h.Getenv("SLURM_JOB_ID") == "" {
		return 0
	}
	f, err := os.OpenFile(filepath.Join(filepath.Dir(nodes), "steps-"+h.Getenv("SLURM_JOB_ID")),
		os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return 0
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return 0
	}
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	if _, err := f.Write([]byte{'\n'}); err != nil {
		return 0
	}
	return int(info.Size())
}

// Occupy takes cpus by locks on bytes of a file in the attempt's directory: a process that ends gives its
// own back. Without that directory there is one step.
func (h *stepHost) Occupy(cpus []fronts.CPUs, busy func()) (free func(), err error) {
	nodes := h.Getenv("PLACECTL_NODEFILE")
	if nodes == "" || len(cpus) == 0 {
		return func() {}, nil
	}
	name := filepath.Join(filepath.Dir(nodes), "cpus-"+h.Getenv("SLURM_JOB_ID"))
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		taken, err := takeCPUs(f, cpus)
		if taken {
			return func() { f.Close() }, nil
		}
		f.Close()
		if err != nil {
			return nil, err
		}
		busy()
		busy = func() {}
		time.Sleep(100 * time.Millisecond)
	}
}

// kept returns the variables of the environment that a task keeps.
func (h *stepHost) kept(keeps func(name string) bool) []string {
	if keeps == nil {
		return h.Environ
	}
	return slices.DeleteFunc(slices.Clone(h.Environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !keeps(name)
	})
}

// Step runs the tasks of a step.
func (h *stepHost) Step(s *fronts.Step) ([]fronts.TaskEnd, error) {
	run := &launch.Tasks{In: s.In, Together: s.Together, Terminal: h.Terminal}
	for _, t := range s.Tasks {
		env := slices.Concat(h.kept(t.Keeps), t.Env)
		task := &launch.Task{Words: t.Words, Env: env, In: t.In, Feed: t.Feed, Out: t.Out, Err: t.Err}
		if here := h.Getenv("SLURMD_NODENAME"); here == "" || here != t.Node {
			words := t.Words
			if t.Keeps != nil { // the way there needs an environment that the task has not
				words = slices.Concat([]string{"/usr/bin/env", "-i"}, env, words)
			}
			task.Env = slices.Concat(h.Environ, t.Env)
			task.Own, task.Words = true, slices.Concat([]string{"placectl", "--db", h.Database, "on", t.Node, "--"},
				words)
		}
		run.List = append(run.List, task)
	}
	out := make([]fronts.TaskEnd, len(run.List))
	for i, e := range run.Run() {
		out[i] = fronts.TaskEnd{Status: e.Status, Signal: int(e.Signal)}
		var failed *launch.Error
		if e.Err != nil {
			out[i].Why, out[i].Status = e.Err.Error(), 1
		}
		if errors.As(e.Err, &failed) { // srun's errors end in the words of execve
			out[i].Why, out[i].Status = failed.Name+": "+because(failed.Err), 2
			if errors.Is(failed.Err, fs.ErrPermission) {
				out[i].Status = 13
			}
		}
	}
	return out, nil
}

// because returns an error in the words of the C library.
func because(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "No such file or directory"
	case errors.Is(err, fs.ErrPermission):
		return "Permission denied"
	}
	return err.Error()
}
