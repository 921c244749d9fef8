package fronts

import "io"

// Here is the place where a command was typed, if it starts programs: a login host, or the script of a
// job.
type Here interface {
	// Getenv returns an environment variable; "" for none.
	Getenv(name string) string
	// Step runs tasks in parallel on nodes of the current job, and returns how each ended.
	Step(s *Step) ([]TaskEnd, error)
	// Allocate submits a job, waits for its nodes, and runs a command here while it has them, with env
	// added to the environment. The first word Ourselves means this program. told is called when the job
	// has to wait, and when it begins.
	Allocate(s Submission, told func(*Job), env func(*Job) []string) (status int, err error)
	// Create opens an output file, new or for appending.
	Create(name string, append bool) (io.WriteCloser, error)
	// Occupy takes cpus of the current job, and waits while other steps have them. busy is called once if
	// it has to. free gives them back.
	Occupy(cpus []CPUs, busy func()) (free func(), err error)
	// Counted numbers the steps of the current job, from 0.
	Counted() int
}

// Ourselves is this program as a command.
const Ourselves = "placectl"

// CPUs are those that a step wants of a node of its job.
type CPUs struct {
	Node       int // its place in the job
	Has, Wants int
}

// Step is tasks that run in parallel.
type Step struct {
	Tasks    []Task
	In       io.Reader // for tasks with Feed
	Together bool      // if one fails, the others are ended
}

// Task is a program on a node.
type Task struct {
	Node     string
	Words    []string
	Env      []string               // added to the environment
	Keeps    func(name string) bool // whether it keeps a variable of the environment; nil: all
	In       io.Reader
	Feed     bool // it reads Step.In
	Out, Err io.Writer
}

// TaskEnd is how a task ended.
type TaskEnd struct {
	Status int
	Signal int    // the signal that ended it, 0: none
	Why    string // why it could not be started
}

// Refusal says why a submission was refused. Nothing was changed.
type Refusal struct {
	View View
	Err  error
}

func (e *Refusal) Error() string { return e.Err.Error() }

func (e *Refusal) Unwrap() error { return e.Err }
